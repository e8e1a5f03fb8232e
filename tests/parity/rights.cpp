// Who may do what: each mode, each kind of user, each call.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

struct Row {
    const char* name;
    std::function<void(Scene&)> act;
};

std::function<void(Scene&)> opens(int flags) {
    return [flags](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", flags));
        if (fd < 0) return;
        char byte = 0;
        scene.told("read", ::read(fd, &byte, 1));
        scene.told("write", ::write(fd, "y", 1));
    };
}

std::function<void(Scene&)> tells(const std::function<long()>& call) {
    return [call](Scene& scene) { scene.told("call", call()); };
}

long faccessat_x(int mode, int flags) {
    return ::faccessat(AT_FDCWD, "x", mode, flags);
}

long set_times(long atime_ns, long mtime_ns) {
    const struct timespec times[2] = {{1000000000, atime_ns}, {1000000001, mtime_ns}};
    return ::utimensat(AT_FDCWD, "x", times, 0);
}

std::vector<Row> on_a_file() {
    static char value[16];
    return {
        {"open for reading", opens(O_RDONLY)},
        {"open for writing", opens(O_WRONLY)},
        {"open for both", opens(O_RDWR)},
        {"open truncating", opens(O_WRONLY | O_TRUNC)},
        {"open read-only truncating", opens(O_RDONLY | O_TRUNC)},
        {"access read", tells([] { return faccessat_x(R_OK, 0); })},
        {"access write", tells([] { return faccessat_x(W_OK, 0); })},
        {"access execute", tells([] { return faccessat_x(X_OK, 0); })},
        {"access all, effective",
         tells([] { return faccessat_x(R_OK | W_OK | X_OK, AT_EACCESS); })},
        {"truncate", tells([] { return ::truncate("x", 5); })},
        {"chmod", tells([] { return ::chmod("x", 0606); })},
        {"chmod with set-id", tells([] { return ::chmod("x", 06711); })},
        {"chown to other", tells([] { return ::chown("x", 3005, static_cast<gid_t>(-1)); })},
        {"chown to same", tells([] { return ::chown("x", kOwner, static_cast<gid_t>(-1)); })},
        {"chgrp to own group", tells([] { return ::chown("x", static_cast<uid_t>(-1), kGroup); })},
        {"chgrp to other", tells([] { return ::chown("x", static_cast<uid_t>(-1), 3106); })},
        {"chown to none",
         tells([] { return ::chown("x", static_cast<uid_t>(-1), static_cast<gid_t>(-1)); })},
        {"times now", tells([] { return ::utimensat(AT_FDCWD, "x", nullptr, 0); })},
        {"times both now", tells([] { return set_times(UTIME_NOW, UTIME_NOW); })},
        {"times exact", tells([] { return set_times(11, 22); })},
        {"times omitted", tells([] { return set_times(UTIME_OMIT, UTIME_OMIT); })},
        {"times mixed", tells([] { return set_times(UTIME_OMIT, UTIME_NOW); })},
        {"setxattr", tells([] { return ::setxattr("x", "user.a", "v", 1, 0); })},
        {"getxattr", tells([] { return ::getxattr("x", "user.old", value, sizeof value); })},
        {"removexattr", tells([] { return ::removexattr("x", "user.old"); })},
        {"listxattr", tells([] { return ::listxattr("x", value, sizeof value); })},
        {"rename", tells([] { return ::rename("x", "moved"); })},
        {"unlink", tells([] { return ::unlink("x"); })},
    };
}

std::vector<Row> in_a_directory() {
    return {
        {"list",
         [](Scene& scene) {
             DIR* stream = ::opendir("d");
             scene.told("opendir", stream != nullptr ? 0 : -1);
             int count = 0;
             while (stream != nullptr && ::readdir(stream) != nullptr)
                 ++count;
             scene.told("entries", count);
         }},
        {"enter", tells([] { return ::chdir("d"); })},
        {"stat", [](Scene& scene) { scene.look_at("d/in"); }},
        {"stat nothing", [](Scene& scene) { scene.look_at("d/nothing"); }},
        {"access", tells([] { return ::access("d/in", F_OK); })},
        {"read", [](Scene& scene) { scene.opened("open", ::open("d/in", O_RDONLY)); }},
        {"create",
         [](Scene& scene) {
             scene.opened("open", ::open("d/new", O_CREAT | O_WRONLY | O_EXCL, 0666));
         }},
        {"create what is there",
         [](Scene& scene) { scene.opened("open", ::open("d/in", O_CREAT | O_RDONLY, 0666)); }},
        {"temporary",
         [](Scene& scene) { scene.opened("open", ::open("d", O_TMPFILE | O_RDWR, 0666)); }},
        {"mkdir", tells([] { return ::mkdir("d/new", 0777); })},
        {"symlink", tells([] { return ::symlink("a", "d/new"); })},
        {"mknod", tells([] { return ::mknod("d/new", S_IFIFO | 0666, 0); })},
        {"link", tells([] { return ::link("mine", "d/new"); })},
        {"unlink", tells([] { return ::unlink("d/in"); })},
        {"rmdir", tells([] { return ::rmdir("d/below"); })},
        {"rmdir of itself", tells([] { return ::rmdir("d"); })},
        {"rename inside", tells([] { return ::rename("d/in", "d/out"); })},
        {"rename out", tells([] { return ::rename("d/in", "out"); })},
        {"rename in", tells([] { return ::rename("mine", "d/mine"); })},
        {"rename over", tells([] { return ::rename("mine", "d/in"); })},
        {"through dotdot", [](Scene& scene) { scene.look_at("d/../mine"); }},
        {"through below", [](Scene& scene) { scene.look_at("d/below/.."); }},
    };
}

/// A sticky directory with a file of each: who may remove or replace whose.
void add_sticky(Group& group) {
    struct Victim {
        const char* name;
        uid_t uid;
        gid_t gid;
    };
    const std::vector<Victim> victims = {
        {"of owner", kOwner, kGroup}, {"of member", 3002, kGroup}, {"of root", 0, 0}};
    for (const Victim& victim : victims) {
        for (const uid_t directory : {uid_t{0}, uid_t{kOwner}, uid_t{3005}}) {
            for (const Actor& actor : actors()) {
                const Fixture fixture = {{{"x", Kind::kFile, 0666, victim.uid, victim.gid},
                                          {"d", Kind::kDirectory, 0777, victim.uid, victim.gid},
                                          {"y", Kind::kFile, 0666, actor.uid, actor.gid}},
                                         01777,
                                         directory,
                                         kGroup};
                group.add("sticky directory of " + std::to_string(directory) + ", file " +
                              victim.name + ", by " + actor.name,
                          fixture, actor, [](Scene& scene) {
                              scene.told("replace", ::rename("y", "x"));
                              scene.told("rename", ::rename("x", "z"));
                              scene.told("unlink", ::unlink("x"));
                              scene.told("rmdir", ::rmdir("d"));
                              scene.told("link", ::link("x", "linked"));
                          });
            }
        }
    }
}

}  // namespace

Group object_rights() {
    Group group("rights");
    for (const Row& row : on_a_file()) {
        for (const mode_t mode : {0700U, 0070U, 0007U, 0000U, 0444U, 0640U}) {
            for (const Actor& actor : actors()) {
                const Item item = {"x", Kind::kFile, mode, kOwner, kGroup, {{"user.old", "value"}}};
                group.add(std::string(row.name) + "/" + octal(mode) + "/" + actor.name, {{item}},
                          actor, row.act);
            }
        }
    }
    return group;
}

Group directory_rights() {
    Group group("directory");
    for (const Row& row : in_a_directory()) {
        for (const mode_t mode : {0777U, 0555U, 0333U, 0666U, 0750U, 0007U}) {
            for (const Actor& actor : actors()) {
                const Fixture fixture = {
                    {{"d", Kind::kFull, mode}, {"mine", Kind::kFile, 0644, actor.uid, actor.gid}}};
                group.add(std::string(row.name) + "/" + octal(mode) + "/" + actor.name, fixture,
                          actor, row.act);
            }
        }
    }
    add_sticky(group);
    return group;
}

}  // namespace unwrite::tests::parity
