// open(2): every flag on every kind of object, and what the descriptor can do then.
#include <fcntl.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

struct Flags {
    const char* name;
    int value;
};

const std::vector<Flags> kAccess = {{"r", O_RDONLY}, {"w", O_WRONLY}, {"rw", O_RDWR}};

const std::vector<Flags> kMore = {
    {"", 0},
    {"+creat", O_CREAT},
    {"+excl", O_EXCL},
    {"+creat+excl", O_CREAT | O_EXCL},
    {"+trunc", O_TRUNC},
    {"+creat+trunc", O_CREAT | O_TRUNC},
    {"+creat+excl+trunc", O_CREAT | O_EXCL | O_TRUNC},
    {"+append", O_APPEND},
    {"+append+trunc", O_APPEND | O_TRUNC},
    {"+directory", O_DIRECTORY},
    {"+creat+directory", O_CREAT | O_DIRECTORY},
    {"+nofollow", O_NOFOLLOW},
    {"+creat+nofollow", O_CREAT | O_NOFOLLOW},
    {"+path", O_PATH},
    {"+path+nofollow", O_PATH | O_NOFOLLOW},
    {"+path+directory", O_PATH | O_DIRECTORY},
    {"+sync", O_SYNC},
    {"+dsync", O_DSYNC},
    {"+direct", O_DIRECT},
    {"+tmpfile", O_TMPFILE},
};

/// What an open descriptor is and does.
void use(Scene& scene, int fd) {
    scene.look("fstat", fd);
    constexpr int kLasting = O_ACCMODE | O_APPEND | O_SYNC | O_DIRECT | O_PATH | O_NOFOLLOW;
    const int flags = ::fcntl(fd, F_GETFL);
    scene.told("F_GETFL", flags == -1 ? -1 : flags & kLasting);
    char byte = 0;
    scene.told("read", ::read(fd, &byte, 1));
    if (byte != 0) scene.say("byte", std::string(1, byte));
    scene.told("write", ::write(fd, "Z", 1));
    scene.told("lseek", ::lseek(fd, 0, SEEK_CUR));
    scene.told("fchmod", ::fchmod(fd, 0604));
    scene.told("ftruncate", ::ftruncate(fd, 77));
    scene.look("fstat after", fd);
    scene.told("close", ::close(fd));
}

void add_open(Group& group, const Flags& access, const Flags& more, Kind kind) {
    const int flags = access.value | more.value | O_NONBLOCK;
    group.add(std::string(name_of(kind)) + "/" + access.name + more.name, {{{"x", kind}}}, owner(),
              [flags](Scene& scene) {
                  const int fd = scene.opened("open", ::open("x", flags, 0640));
                  if (fd >= 0) use(scene, fd);
              });
}

void add_special(Group& group) {
    for (const char* path : {".", "..", "x/", "x/.", "x/..", "./x", "x//in", "x/in/", "y/in", ""}) {
        for (const int flags :
             {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_PATH, O_RDONLY | O_DIRECTORY}) {
            group.add("spelled " + std::string(path) + "/" + std::to_string(flags),
                      {{{"x", Kind::kFull, 0755}, {"y", Kind::kFile}}}, owner(),
                      [path = std::string(path), flags](Scene& scene) {
                          const int fd = scene.opened("open", ::open(path.c_str(), flags, 0640));
                          if (fd >= 0 && path != "..") scene.look("fstat", fd);
                      });
        }
    }
    for (const Actor& actor : actors()) {
        group.add(std::string("noatime by ") + actor.name, {{{"x", Kind::kFile, 0666}}}, actor,
                  [](Scene& scene) { scene.opened("open", ::open("x", O_RDONLY | O_NOATIME)); });
    }
}

}  // namespace

Group opening() {
    Group group("open");
    std::vector<Kind> all = kinds();
    all.push_back(Kind::kAbsent);
    for (const Kind kind : all) {
        for (const Flags& access : kAccess) {
            for (const Flags& more : kMore)
                add_open(group, access, more, kind);
        }
    }
    add_special(group);
    return group;
}

}  // namespace unwrite::tests::parity
