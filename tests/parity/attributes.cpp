// chmod, chown, utimensat on every kind, by name and by descriptor; what clears set-id bits and
// capabilities.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

constexpr uid_t kSameUser = static_cast<uid_t>(-1);
constexpr gid_t kSameGroup = static_cast<gid_t>(-1);

struct Row {
    std::string name;
    std::function<void(Scene&)> act;
};

void add_chmod(Group& group) {
    for (const Kind kind : kinds()) {
        for (const mode_t mode : {0000U, 0604U, 01755U, 02750U, 04711U, 07777U, 0170777U}) {
            for (const Actor* actor : {&root(), &owner(), &member()}) {
                group.add(std::string("chmod ") + octal(mode) + (mode > 07777U ? "+type" : "") +
                              " of " + name_of(kind) + " by " + actor->name,
                          {{{"x", kind}}}, *actor, [mode](Scene& scene) {
                              scene.told("chmod", ::chmod("x", mode));
                              scene.told("lchmod", ::fchmodat(AT_FDCWD, "x", mode & 0777U,
                                                              AT_SYMLINK_NOFOLLOW));
                          });
            }
        }
    }
    // A group that one is not in: the set-group-id bit is dropped.
    for (const Actor& actor : actors()) {
        const Item item = {"x", Kind::kFile, 0755, actor.uid, 3199};
        const Item directory = {"d", Kind::kDirectory, 0755, actor.uid, 3199};
        group.add(std::string("chmod set-group-id of a foreign group by ") + actor.name,
                  {{item, directory}}, actor, [](Scene& scene) {
                      scene.told("file", ::chmod("x", 06755));
                      scene.told("directory", ::chmod("d", 06755));
                  });
    }
}

void add_chown(Group& group) {
    struct Target {
        const char* name;
        uid_t uid;
        gid_t gid;
    };
    const std::vector<Target> targets = {
        {"user", 3005, kSameGroup},        {"group", kSameUser, kGroup},
        {"other group", kSameUser, 3106},  {"both", 3005, 3108},
        {"same user", kOwner, kSameGroup}, {"none", kSameUser, kSameGroup}};
    for (const Kind kind : kinds()) {
        for (const Target& target : targets) {
            for (const Actor* actor : {&root(), &owner(), &other()}) {
                group.add(std::string("chown ") + target.name + " of " + name_of(kind) + " by " +
                              actor->name,
                          {{{"x", kind, 06755}}}, *actor, [target](Scene& scene) {
                              scene.told("lchown", ::lchown("x", target.uid, target.gid));
                              scene.look_at("x");
                              scene.told("chown", ::chown("x", target.uid, target.gid));
                          });
            }
        }
    }
    for (const mode_t mode : {04755U, 02755U, 02745U, 06644U, 06777U}) {
        for (const Actor& actor : actors()) {
            group.add("chown of " + octal(mode) + " by " + actor.name,
                      {{{"x", Kind::kFile, mode}, {"d", Kind::kDirectory, mode}}}, actor,
                      [](Scene& scene) {
                          scene.told("file", ::chown("x", kSameUser, kGroup));
                          scene.told("directory", ::chown("d", kSameUser, kGroup));
                          const int fd = scene.opened("open", ::open("x", O_RDONLY));
                          scene.told("fchown", ::fchown(fd, kOwner, kGroup));
                      });
        }
    }
}

void add_times(Group& group) {
    struct Times {
        const char* name;
        struct timespec at[2];
    };
    const std::vector<Times> all = {
        {"exact", {{1234567890, 987654321}, {1234567891, 123456789}}},
        {"now", {{0, UTIME_NOW}, {0, UTIME_NOW}}},
        {"omit", {{0, UTIME_OMIT}, {0, UTIME_OMIT}}},
        {"access only", {{1234567890, 1}, {0, UTIME_OMIT}}},
        {"modification only", {{0, UTIME_OMIT}, {1234567890, 1}}},
        {"now and exact", {{0, UTIME_NOW}, {1234567890, 999999999}}},
        {"before 1970", {{-5, 5}, {-1000000000, 7}}},
        {"beyond 2038", {{5000000000, 5}, {9000000000, 7}}},
        {"beyond what is stored", {{99999999999, 5}, {-99999999999, 7}}},
        {"wrong", {{1, 1000000000}, {1, 1}}},
    };
    for (const Kind kind : kinds()) {
        for (const Times& times : all) {
            group.add(std::string("times ") + times.name + " of " + name_of(kind), {{{"x", kind}}},
                      owner(), [times](Scene& scene) {
                          scene.told("utimensat",
                                     ::utimensat(AT_FDCWD, "x", times.at, AT_SYMLINK_NOFOLLOW));
                      });
        }
    }
    for (const Actor& actor : actors()) {
        for (const Times& times : all) {
            group.add(std::string("times ") + times.name + " by descriptor by " + actor.name,
                      {{{"x", Kind::kFile, 0664}}}, actor, [times](Scene& scene) {
                          const int fd = scene.opened("open", ::open("x", O_RDONLY));
                          scene.told("futimens", ::futimens(fd, times.at));
                          scene.look("fstat", fd);
                      });
        }
    }
}

void add_by_descriptor(Group& group) {
    for (const int flags : {O_RDONLY, O_WRONLY, O_PATH}) {
        for (const Actor& actor : actors()) {
            group.add("descriptor " + std::to_string(flags) + " by " + actor.name,
                      {{{"x", Kind::kFile, 0666}}}, actor, [flags](Scene& scene) {
                          const int fd = scene.opened("open", ::open("x", flags));
                          scene.told("fchmod", ::fchmod(fd, 0751));
                          scene.told("fchown", ::fchown(fd, kSameUser, kGroup));
                          scene.told("fchownat",
                                     ::fchownat(fd, "", kSameUser, kGroup, AT_EMPTY_PATH));
                          scene.told("futimens", ::futimens(fd, nullptr));
                          scene.told("fsetxattr", ::fsetxattr(fd, "user.a", "b", 1, 0));
                          scene.told("fgetxattr", ::fgetxattr(fd, "user.a", nullptr, 0));
                          scene.told("ftruncate", ::ftruncate(fd, 9));
                          scene.look("fstat", fd);
                      });
        }
    }
    group.add("changed after the name went", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        scene.told("unlink", ::unlink("x"));
        scene.told("fchmod", ::fchmod(fd, 0712));
        scene.told("ftruncate", ::ftruncate(fd, 4));
        scene.told("fsetxattr", ::fsetxattr(fd, "user.a", "b", 1, 0));
        scene.look("fstat", fd);
    });
}

// A capability set as the kernel stores it: CAP_NET_RAW, permitted and effective.
std::string capability() {
    const vfs_cap_data data = {VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                               {{1U << 13U, 0}, {0, 0}}};
    return {reinterpret_cast<const char*>(&data), sizeof data};
}

std::vector<Row> clearing() {
    const auto with_fd = [](std::function<long(int)> call) {
        return [call = std::move(call)](Scene& scene) {
            const int fd = scene.opened("open", ::open("x", O_RDWR));
            scene.told("call", call(fd));
            scene.look("fstat", fd);
        };
    };
    return {
        {"write", with_fd([](int fd) -> long { return ::pwrite(fd, "abc", 3, 0); })},
        {"write of nothing", with_fd([](int fd) -> long { return ::pwrite(fd, "abc", 0, 0); })},
        {"append", with_fd([](int fd) -> long { return ::pwrite(fd, "abc", 3, 10000); })},
        {"ftruncate", with_fd([](int fd) -> long { return ::ftruncate(fd, 5); })},
        {"ftruncate to the same", with_fd([](int fd) -> long { return ::ftruncate(fd, 10000); })},
        {"truncate", [](Scene& scene) { scene.told("call", ::truncate("x", 5)); }},
        {"open truncating",
         [](Scene& scene) { scene.opened("open", ::open("x", O_WRONLY | O_TRUNC)); }},
        {"fallocate", with_fd([](int fd) -> long { return ::fallocate(fd, 0, 0, 20000); })},
        {"fallocate within", with_fd([](int fd) -> long { return ::fallocate(fd, 0, 0, 100); })},
        {"punch hole", with_fd([](int fd) -> long {
             return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
         })},
        {"zero range",
         with_fd([](int fd) -> long { return ::fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4096); })},
        {"copy_file_range", with_fd([](int fd) -> long {
             off64_t from = 5000;
             off64_t to = 0;
             return ::copy_file_range(fd, &from, fd, &to, 100, 0);
         })},
        {"direct write",
         [](Scene& scene) {
             alignas(4096) static char block[4096] = {};
             const int fd = scene.opened("open", ::open("x", O_RDWR | O_DIRECT));
             scene.told("call", ::pwrite(fd, block, sizeof block, 0));
             scene.look("fstat", fd);
         }},
        {"mapped store",
         [](Scene& scene) {
             const int fd = scene.opened("open", ::open("x", O_RDWR));
             void* map = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
             static_cast<char*>(map)[7] = '7';
             scene.told("msync", ::msync(map, 4096, MS_SYNC));
             scene.look("fstat", fd);
         }},
        {"chown", [](Scene& scene) { scene.told("call", ::chown("x", kSameUser, kGroup)); }},
        {"chown of nothing",
         [](Scene& scene) { scene.told("call", ::chown("x", kSameUser, kSameGroup)); }},
        {"setxattr",
         [](Scene& scene) { scene.told("call", ::setxattr("x", "user.a", "b", 1, 0)); }},
        {"link", [](Scene& scene) { scene.told("call", ::link("x", "y")); }},
        {"rename", [](Scene& scene) { scene.told("call", ::rename("x", "y")); }},
    };
}

}  // namespace

Group attributes() {
    Group group("attributes");
    add_chmod(group);
    add_chown(group);
    add_times(group);
    add_by_descriptor(group);
    return group;
}

Group privileges() {
    Group group("privileges");
    for (const Row& row : clearing()) {
        for (const mode_t mode : {06777U, 04666U, 02767U, 0777U}) {
            for (const Actor& actor : actors()) {
                Item item = {"x", Kind::kFile, mode};
                if (mode == 0777U) item.xattrs = {{"security.capability", capability()}};
                group.add(row.name + "/" + octal(mode) + "/" + actor.name, {{item}}, actor,
                          row.act);
            }
        }
    }
    return group;
}

}  // namespace unwrite::tests::parity
