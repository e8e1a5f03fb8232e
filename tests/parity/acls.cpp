// POSIX ACLs: what they allow, what chmod does to them, what is inherited.
#include <fcntl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

constexpr std::uint16_t kUserOwner = 1;
constexpr std::uint16_t kUser = 2;
constexpr std::uint16_t kGroupOwner = 4;
constexpr std::uint16_t kNamedGroup = 8;
constexpr std::uint16_t kMask = 16;
constexpr std::uint16_t kOthers = 32;
constexpr std::uint32_t kNobody = 0xffffffff;

constexpr const char* kAccess = "system.posix_acl_access";
constexpr const char* kDefault = "system.posix_acl_default";

struct Line {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id = kNobody;
};

/// As the kernel has it, little-endian.
std::string acl(const std::vector<Line>& lines) {
    std::string value = {2, 0, 0, 0};
    const auto put = [&](std::uint32_t number, int bytes) {
        for (int i = 0; i < bytes; ++i)
            value += static_cast<char>(number >> (8 * i) & 0xffU);
    };
    for (const Line& line : lines) {
        put(line.tag, 2);
        put(line.rights, 2);
        put(line.id, 4);
    }
    return value;
}

struct Named {
    const char* name;
    std::string value;
};

const std::vector<Named>& lists() {
    static const std::vector<Named> all = {
        {"minimal", acl({{kUserOwner, 7}, {kGroupOwner, 5}, {kOthers, 0}})},
        {"a user may",
         acl({{kUserOwner, 6}, {kUser, 7, 3005}, {kGroupOwner, 0}, {kMask, 7}, {kOthers, 0}})},
        {"a user may not",
         acl({{kUserOwner, 6}, {kUser, 0, 3005}, {kGroupOwner, 6}, {kMask, 7}, {kOthers, 7}})},
        {"a group may", acl({{kUserOwner, 6},
                             {kGroupOwner, 0},
                             {kNamedGroup, 7, 3106},
                             {kMask, 7},
                             {kOthers, 0}})},
        {"masked", acl({{kUserOwner, 7},
                        {kUser, 7, 3005},
                        {kGroupOwner, 7},
                        {kNamedGroup, 7, 3106},
                        {kMask, 4},
                        {kOthers, 0}})},
        {"nothing masked in",
         acl({{kUserOwner, 7}, {kUser, 7, 3005}, {kGroupOwner, 7}, {kMask, 0}, {kOthers, 7}})},
    };
    return all;
}

const std::vector<Named>& wrong_lists() {
    static const std::vector<Named> all = {
        {"no mask", acl({{kUserOwner, 7}, {kUser, 7, 3005}, {kGroupOwner, 7}, {kOthers, 0}})},
        {"no others", acl({{kUserOwner, 7}, {kGroupOwner, 7}})},
        {"twice", acl({{kUserOwner, 7}, {kUserOwner, 7}, {kGroupOwner, 7}, {kOthers, 0}})},
        {"other order", acl({{kOthers, 0}, {kUserOwner, 7}, {kGroupOwner, 7}})},
        {"unknown tag", acl({{kUserOwner, 7}, {kGroupOwner, 7}, {64, 1}, {kOthers, 0}})},
        {"too many rights", acl({{kUserOwner, 15}, {kGroupOwner, 7}, {kOthers, 0}})},
        {"empty", acl({})},
        {"version", std::string("\3\0\0\0", 4)},
        {"cut", acl({{kUserOwner, 7}}).substr(0, 9)},
        {"nothing", ""},
    };
    return all;
}

void tell(Scene& scene, const char* path) {
    for (const char* which : {kAccess, kDefault}) {
        char value[256];
        const long length = ::getxattr(path, which, value, sizeof value);
        scene.told(std::string(path) + " " + which, length);
        if (length > 0) scene.say("value", brief({value, static_cast<std::size_t>(length)}));
    }
    scene.look_at(path);
}

/// Who is not of the group cannot give its set-id bit away.
void add_setting_in_a_foreign_group(Group& group) {
    for (const Named& list : lists()) {
        for (const Kind kind : {Kind::kFile, Kind::kDirectory}) {
            group.add(
                std::string("set ") + list.name + " of " + name_of(kind) + " of a foreign group",
                {{{"x", kind, 02775, owner().uid, 3199}}}, owner(), [list](Scene& scene) {
                    scene.told("set",
                               ::setxattr("x", kAccess, list.value.data(), list.value.size(), 0));
                    tell(scene, "x");
                });
        }
    }
}

void add_setting(Group& group) {
    std::vector<Named> all = lists();
    all.insert(all.end(), wrong_lists().begin(), wrong_lists().end());
    for (const char* which : {kAccess, kDefault}) {
        for (const Named& list : all) {
            for (const Kind kind : {Kind::kFile, Kind::kDirectory, Kind::kLink, Kind::kFifo}) {
                for (const Actor* actor : {&root(), &owner(), &member()}) {
                    group.add(std::string("set ") + which + " " + list.name + " of " +
                                  name_of(kind) + " by " + actor->name,
                              {{{"x", kind, 02775}}}, *actor, [which, list](Scene& scene) {
                                  scene.told("set", ::setxattr("x", which, list.value.data(),
                                                               list.value.size(), 0));
                                  tell(scene, "x");
                                  scene.told("chmod", ::chmod("x", 0751));
                                  tell(scene, "x");
                              });
                }
            }
        }
    }
    for (const Named& list : lists()) {
        group.add(std::string("remove ") + list.name, {{{"x", Kind::kDirectory, 0755}}}, owner(),
                  [list](Scene& scene) {
                      for (const char* which : {kAccess, kDefault}) {
                          scene.told("none", ::removexattr("x", which));
                          scene.told("set", ::setxattr("x", which, list.value.data(),
                                                       list.value.size(), 0));
                          scene.told("remove", ::removexattr("x", which));
                          tell(scene, "x");
                      }
                  });
    }
}

void add_rights(Group& group) {
    for (const Named& list : lists()) {
        for (const Actor& actor : actors()) {
            const Fixture fixture = {
                {{"x", Kind::kFile, 0644, kOwner, kGroup, {{kAccess, list.value}}},
                 {"d", Kind::kFull, 0755, kOwner, kGroup, {{kAccess, list.value}}}}};
            group.add(std::string("rights ") + list.name + " by " + actor.name, fixture, actor,
                      [](Scene& scene) {
                          scene.opened("read", ::open("x", O_RDONLY));
                          scene.opened("write", ::open("x", O_WRONLY));
                          scene.told("execute", ::access("x", X_OK));
                          scene.opened("list", ::open("d", O_RDONLY));
                          scene.told("enter", ::access("d/in", F_OK));
                          scene.told("make", ::mkdir("d/new", 0777));
                          scene.told("remove", ::unlink("d/in"));
                          scene.told("chmod", ::chmod("x", 0640));
                          tell(scene, "x");
                      });
        }
    }
}

void add_inheritance(Group& group) {
    for (const Named& list : lists()) {
        for (const mode_t umask : {0U, 022U, 077U}) {
            for (const mode_t mode : {0777U, 0666U, 0640U, 0U}) {
                group.add(std::string("inherit ") + list.name + " mode " + octal(mode) + " umask " +
                              octal(umask),
                          {{}, 0777, kOwner, kGroup, {{kDefault, list.value}}},
                          with_umask(owner(), umask), [mode](Scene& scene) {
                              const int fd = ::open("f", O_CREAT | O_EXCL | O_RDWR, mode);
                              scene.opened("create", fd);
                              scene.told("write", ::write(fd, "a", 1));
                              scene.told("mkdir", ::mkdir("d", mode));
                              scene.told("below", ::mkdir("d/e", mode));
                              scene.told("mkfifo", ::mkfifo("p", mode));
                              scene.told("symlink", ::symlink("f", "l"));
                              const int temporary = ::open(".", O_TMPFILE | O_RDWR, mode);
                              scene.opened("temporary", temporary);
                              scene.look("temporary", temporary);
                              for (const char* name : {"f", "d", "p"})
                                  tell(scene, name);
                          });
            }
        }
    }
}

}  // namespace

Group acls() {
    Group group("acl");
    add_setting_in_a_foreign_group(group);
    add_setting(group);
    add_rights(group);
    add_inheritance(group);
    return group;
}

}  // namespace unwrite::tests::parity
