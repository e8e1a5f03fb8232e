// New objects: mode and umask, owner and the directory's set-group-id, O_TMPFILE with linkat.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

using Make = std::function<long(const char* name, mode_t mode)>;

const std::vector<std::pair<const char*, Make>>& makers() {
    static const std::vector<std::pair<const char*, Make>> all = {
        {"open",
         [](const char* name, mode_t mode) -> long {
             const int fd = ::open(name, O_WRONLY | O_CREAT | O_EXCL, mode);
             return fd < 0 ? fd : ::close(fd);
         }},
        {"mkdir", [](const char* name, mode_t mode) -> long { return ::mkdir(name, mode); }},
        {"mknod",
         [](const char* name, mode_t mode) -> long { return ::mknod(name, S_IFREG | mode, 0); }},
        {"mkfifo", [](const char* name, mode_t mode) -> long { return ::mkfifo(name, mode); }},
        {"mksocket",
         [](const char* name, mode_t mode) -> long { return ::mknod(name, S_IFSOCK | mode, 0); }},
        {"mkdevice",
         [](const char* name, mode_t mode) -> long {
             return ::mknod(name, S_IFCHR | mode, (1U << 8U) | 3U);
         }},
        {"symlink", [](const char* name, mode_t) -> long { return ::symlink("target", name); }},
    };
    return all;
}

void add_modes(Group& group) {
    for (const auto& [call, make] : makers()) {
        for (const mode_t mode : {0777U, 0666U, 0000U, 04755U, 02775U, 01777U, 0400U}) {
            for (const mode_t umask : {0U, 022U, 027U, 0777U}) {
                group.add(std::string(call) + " " + octal(mode) + " umask " + octal(umask), {},
                          with_umask(owner(), umask), [make = make, mode](Scene& scene) {
                              scene.told("make", make("x", mode));
                              scene.look_at("x");
                          });
            }
        }
    }
}

void add_actors(Group& group) {
    for (const auto& [call, make] : makers()) {
        for (const mode_t directory : {0777U, 02777U, 02755U, 01777U}) {
            for (const Actor& actor : actors()) {
                group.add(std::string(call) + " in " + octal(directory) + " by " + actor.name,
                          {{}, directory}, actor, [make = make](Scene& scene) {
                              scene.told("make", make("x", 02775));
                              scene.look_at("x");
                          });
            }
        }
    }
}

void link_temporary(Scene& scene, int flags) {
    const int fd = scene.opened("open", ::open(".", O_TMPFILE | O_RDWR | flags, 0666));
    if (fd < 0) return;
    scene.told("write", ::write(fd, "temporary", 9));
    scene.look("fstat", fd);
    const std::string self = "/proc/self/fd/" + std::to_string(fd);
    scene.told("linkat", ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, "x", AT_SYMLINK_FOLLOW));
    scene.look("linked", fd);
    scene.told("again", ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, "y", AT_SYMLINK_FOLLOW));
    scene.told("taken", ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, "y", AT_SYMLINK_FOLLOW));
    scene.told("unlink", ::unlink("x"));
    scene.look("one name", fd);
    scene.told("more", ::write(fd, "!", 1));
}

void add_temporary(Group& group) {
    for (const Actor& actor : actors()) {
        for (const mode_t directory : {0777U, 02777U, 0755U, 0333U}) {
            group.add(std::string("temporary in ") + octal(directory) + " by " + actor.name,
                      {{}, directory}, actor, [](Scene& scene) { link_temporary(scene, 0); });
        }
        group.add(std::string("temporary exclusive by ") + actor.name, {}, actor,
                  [](Scene& scene) { link_temporary(scene, O_EXCL); });
    }
    group.add("temporary dropped", {}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open(".", O_TMPFILE | O_WRONLY, 0600));
        scene.told("write", ::write(fd, "gone", 4));
        char byte = 0;
        scene.told("read", ::read(fd, &byte, 1));
        scene.told("close", ::close(fd));
    });
}

}  // namespace

Group creating() {
    Group group("create");
    add_modes(group);
    add_actors(group);
    add_temporary(group);
    return group;
}

}  // namespace unwrite::tests::parity
