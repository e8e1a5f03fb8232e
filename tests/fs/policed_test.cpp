// What the default rules protect, against each system call that could change it, through a real
// mount: as root and as another user, as the user and as an agent. A cell of the table is a system
// call on a kind of protected name; that each call does change something where nothing is protected
// is tested too.
#include "tests/fs/policed.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>

namespace unwrite::tests {
namespace {

using Call = std::function<int(const char* path)>;  ///< 0 or the errno
using Calls = std::map<std::string, Call>;

int store_mapped(int fd) {
    void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return errno;
    std::memcpy(at, "M", 1);
    const int number = ended(::msync(at, 4096, MS_SYNC));
    ::munmap(at, 4096);
    return number;
}

int copy_into(int fd) {
    return with_open("free", O_RDONLY, [fd](int from) {
        return ended(::copy_file_range(from, nullptr, fd, nullptr, 4, 0));
    });
}

int bind_socket(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ended(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
}

int swap_with(const char* a, const char* b) {
    return ended(::renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE));
}

/// An access control list that gives everybody everything.
int set_acl(const char* path) {
    static constexpr unsigned char kAcl[] = {2,    0,    0, 0, 1,    0,    7,    0,    0xff, 0xff,
                                             0xff, 0xff, 4, 0, 7,    0,    0xff, 0xff, 0xff, 0xff,
                                             0x20, 0,    7, 0, 0xff, 0xff, 0xff, 0xff};
    return ended(::setxattr(path, "system.posix_acl_access", kAcl, sizeof(kAcl), 0));
}

/// What changes the content or the attributes of a file.
Calls changes() {
    return {
        {"write",
         [](const char* p) {
             return with_open(p, O_WRONLY, [](int fd) { return ended(::write(fd, "x", 1)); });
         }},
        {"append",
         [](const char* p) {
             return with_open(p, O_WRONLY | O_APPEND,
                              [](int fd) { return ended(::write(fd, "x", 1)); });
         }},
        {"open O_TRUNC",
         [](const char* p) { return with_open(p, O_WRONLY | O_TRUNC, [](int) { return 0; }); }},
        {"truncate", [](const char* p) { return ended(::truncate(p, 1)); }},
        {"ftruncate",
         [](const char* p) {
             return with_open(p, O_RDWR, [](int fd) { return ended(::ftruncate(fd, 1)); });
         }},
        {"fallocate",
         [](const char* p) {
             return with_open(p, O_RDWR, [](int fd) { return ended(::fallocate(fd, 0, 0, 9000)); });
         }},
        {"punch",
         [](const char* p) {
             return with_open(p, O_RDWR, [](int fd) {
                 return ended(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4));
             });
         }},
        {"copy_file_range", [](const char* p) { return with_open(p, O_WRONLY, copy_into); }},
        {"sendfile",
         [](const char* p) {
             return with_open(p, O_WRONLY, [](int fd) {
                 return with_open("free", O_RDONLY, [fd](int from) {
                     return ended(::sendfile(fd, from, nullptr, 4));
                 });
             });
         }},
        {"mmap", [](const char* p) { return with_open(p, O_RDWR, store_mapped); }},
        {"reopen /proc/self/fd",
         [](const char* p) {
             return with_open(p, O_PATH, [](int fd) {
                 const std::string again = "/proc/self/fd/" + std::to_string(fd);
                 return with_open(again.c_str(), O_WRONLY,
                                  [](int to) { return ended(::write(to, "x", 1)); });
             });
         }},
        {"chmod", [](const char* p) { return ended(::chmod(p, 0600)); }},
        {"chown", [](const char* p) { return ended(::chown(p, 1, 1)); }},
        {"utimens", [](const char* p) { return ended(::utimensat(AT_FDCWD, p, nullptr, 0)); }},
        {"setxattr", [](const char* p) { return ended(::setxattr(p, "user.n", "v", 1, 0)); }},
        {"removexattr", [](const char* p) { return ended(::removexattr(p, "user.was")); }},
        {"ACL", set_acl},
        {"link from",
         [](const char* p) {
             return ended(::linkat(AT_FDCWD, p, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
         }},
    };
}

/// What takes a name away, or puts something else there.
Calls takings() {
    return {
        {"unlink", [](const char* p) { return ended(::unlink(p)); }},
        {"rename away", [](const char* p) { return ended(::rename(p, "away")); }},
        {"rename over", [](const char* p) { return ended(::rename("free", p)); }},
        {"exchange", [](const char* p) { return swap_with(p, "free"); }},
        {"exchange back", [](const char* p) { return swap_with("free", p); }},
    };
}

/// What makes a name.
Calls makings() {
    return {
        {"create",
         [](const char* p) {
             return with_open(p, O_WRONLY | O_CREAT | O_EXCL, [](int) { return 0; });
         }},
        {"mkdir", [](const char* p) { return ended(::mkdir(p, 0755)); }},
        {"mknod", [](const char* p) { return ended(::mknod(p, S_IFREG | 0644, 0)); }},
        {"mkfifo", [](const char* p) { return ended(::mkfifo(p, 0644)); }},
        {"socket", bind_socket},
        {"symlink", [](const char* p) { return ended(::symlink("free", p)); }},
        {"link to", [](const char* p) { return ended(::link("free", p)); }},
        {"rename to", [](const char* p) { return ended(::rename("free", p)); }},
        {"rename a directory to", [](const char* p) { return ended(::rename("tree", p)); }},
        {"tmpfile and linkat",
         [](const char* p) {
             return with_open(".", O_TMPFILE | O_WRONLY, [p](int fd) {
                 const std::string from = "/proc/self/fd/" + std::to_string(fd);
                 return ended(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, p, AT_SYMLINK_FOLLOW));
             });
         }},
    };
}

/// An agent may make an empty directory under the name of a secret (decision 0051).
Calls makings_but_mkdir() {
    Calls calls = makings();
    calls.erase("mkdir");
    return calls;
}

/// What changes a directory, or its name.
Calls on_directories() {
    return {
        {"rmdir", [](const char* p) { return ended(::rmdir(p)); }},
        {"rename away", [](const char* p) { return ended(::rename(p, "away")); }},
        {"rename a directory over", [](const char* p) { return ended(::rename("tree", p)); }},
        {"exchange", [](const char* p) { return swap_with(p, "tree"); }},
        {"exchange back", [](const char* p) { return swap_with("tree", p); }},
        {"chmod", [](const char* p) { return ended(::chmod(p, 0700)); }},
        {"chown", [](const char* p) { return ended(::chown(p, 1, 1)); }},
        {"utimens", [](const char* p) { return ended(::utimensat(AT_FDCWD, p, nullptr, 0)); }},
        {"setxattr", [](const char* p) { return ended(::setxattr(p, "user.n", "v", 1, 0)); }},
    };
}

/// What takes an ancestor of a protected name somewhere else.
Calls on_ancestors() {
    Calls calls = on_directories();
    for (const char* free : {"chmod", "chown", "utimens", "setxattr"})
        calls.erase(free);
    return calls;
}

// ---- the table

struct Case {
    std::string name;
    std::vector<std::string> paths;
    std::vector<Calls> calls;
    std::vector<std::string> free;  ///< where the same calls succeed, each on a fresh one
};

std::vector<Case> cases() {
    const std::vector<std::string> secrets{".env", ".ssh/config", ".git/hooks/pre-commit",
                                           ".config/gcloud/token"};
    return {
        {"existing", secrets, {changes(), takings()}, {"other"}},
        {"spelled", {"./.env", "tree/../.env", ".//.env", "tolink"}, {changes()}, {"other"}},
        {"alias", {"alias"}, {changes()}, {"other"}},
        {"absent", {".ssh/new", ".git/hooks/post-merge"}, {makings()}, {"fresh"}},
        {"absent_secret",
         {".env.local", "dir/id_rsa", ".ENV.x", "a.PEM"},
         {makings_but_mkdir()},
         {"fresh"}},
        {"occupied", secrets, {makings()}, {}},
        {"directory", {".ssh", ".config/gcloud"}, {on_directories()}, {"empty"}},
        {"ancestor", {".config", ".git", ".git/hooks"}, {on_ancestors()}, {"empty"}},
        {"planted",
         {"dir/.git"},
         {{{"rename to", [](const char* p) { return ended(::rename("plant", p)); }}}},
         {"dir/plain"}},
    };
}

/// How many cells of the case were not refused; each with its line.
int try_all(const Case& one) {
    // In the way of a name that is made, the kernel itself may answer first.
    const auto refused = [&](int number) {
        const bool known = number == EACCES || number == EPERM;
        if (one.name == "occupied")
            return known || number == EEXIST || number == ENOTDIR || number == EADDRINUSE;
        if (one.name == "directory" || one.name == "ancestor") return known || number == ENOTEMPTY;
        return known;
    };
    int wrong = 0;
    for (const std::string& path : one.paths) {
        for (const Calls& calls : one.calls) {
            for (const auto& [name, call] : calls) {
                const int number = call(path.c_str());
                // The write-back of a mapping is refused without a caller: msync tells EIO.
                if (refused(number) || (name == "mmap" && number == EIO)) continue;
                std::fprintf(stderr, "%s %s: %s\n", name.c_str(), path.c_str(),
                             number == 0 ? "done" : std::strerror(number));
                ++wrong;
            }
        }
    }
    return wrong;
}

class PolicedTable : public PolicedMount,
                     public ::testing::WithParamInterface<std::tuple<Subject, Case>> {
 protected:
    // The user is bound where somebody wants that.
    PolicedTable()
        : PolicedMount(std::get<0>(GetParam()).agent ? overlay::Subjects::kAgents
                                                     : overlay::Subjects::kEveryone) {}
};
class PolicedReading : public PolicedMount, public ::testing::WithParamInterface<Subject> {};
class PolicedNowhere : public PolicedMount, public ::testing::WithParamInterface<Case> {};

TEST_P(PolicedTable, S44_S82_RefusesEachCallOnEachName) {
    const Subject subject = std::get<0>(GetParam());
    if (!can_be(subject)) GTEST_SKIP() << "needs root to become another user";
    const Case one = std::get<1>(GetParam());
    const std::string before = look();
    EXPECT_EQ(as(subject, [&] { return try_all(one); }), 0);
    EXPECT_EQ(look(), before);
    EXPECT_EQ(served_.order("records"), "0");
}

TEST_P(PolicedReading, S45_AnAgentDoesNotReadAndTheUserDoes) {
    const Subject subject = GetParam();
    if (!can_be(subject)) GTEST_SKIP() << "needs root to become another user";
    const int wanted = subject.agent ? EACCES : 0;
    EXPECT_EQ(as(subject,
                 [&] {
                     int wrong = 0;
                     for (const char* path : {".env", ".ssh/config", "alias", "tolink"}) {
                         const int number = with_open(path, O_RDONLY, [](int fd) {
                             char c = 0;
                             return ended(::read(fd, &c, 1));
                         });
                         if (number != wanted) std::fprintf(stderr, "%s: %d\n", path, number);
                         wrong += number == wanted ? 0 : 1;
                     }
                     return wrong;
                 }),
              0);
}

// What the rules do not bind the user to goes through, by each call, and is seen by agents as what
// it is now: also names that the kernel moved.
TEST_F(PolicedMount, S42_S44_S45_TheUserIsFreeAndAgentsAreBoundByWhatHeDid) {
    const Subject user = kSubjects[0];
    const Subject agent = kSubjects[1];
    const auto read_one = [](const char* path) {
        return with_open(path, O_RDONLY, [](int fd) {
            char c = 0;
            return ended(::read(fd, &c, 1));
        });
    };
    for (const auto& [name, call] : changes()) {
        if (name == "link from" || (name == "chown" && ::geteuid() != 0)) continue;
        const Call* const made = &call;
        EXPECT_EQ(as(user, [&] { return (*made)(".env"); }), 0) << name;
        EXPECT_EQ(as(user,
                     [&] {
                         ::setxattr(".env", "user.was", "v", 1, 0);
                         return (*made)(".git/hooks/pre-commit");
                     }),
                  0)
            << name;
    }
    EXPECT_EQ(
        as(agent, [&] { return read_one("free") + read_one("plant/hooks/x") + read_one("other"); }),
        0)
        << "the kernel remembers these names";
    EXPECT_EQ(as(user, [] { return ended(::rename("free", ".env.local")); }), 0);
    EXPECT_EQ(as(agent, [&] { return read_one(".env.local"); }), EACCES);
    EXPECT_EQ(as(user, [] { return ended(::rename("plant", ".aws")); }), 0);
    EXPECT_EQ(as(agent, [&] { return read_one(".aws/hooks/x"); }), EACCES);
    EXPECT_EQ(as(user, [] { return swap_with("other", ".ssh/config"); }), 0);
    EXPECT_EQ(as(agent, [&] { return read_one(".ssh/config"); }), EACCES);
    EXPECT_EQ(as(user, [] { return ended(::rename(".config", "config")); }), 0);
    EXPECT_EQ(as(user, [] { return ended(::mkdir("core", 0755)); }), 0);
    EXPECT_EQ(
        as(user, [] { return with_open("core/core", O_WRONLY | O_CREAT, [](int) { return 0; }); }),
        0);
    EXPECT_EQ(as(agent, [] { return ended(::unlink("core/core")); }), EACCES);
}

constexpr const char* kAsItWas =
    "rm -rf fresh linked away dir/plain empty tree && mkdir -p empty tree/below plant/hooks && "
    ": >plant/hooks/x && for f in free other; do "
    "test -f $f || rm -rf $f; echo bytes >$f; setfattr -n user.was -v v $f; done";

// A call that does nothing anywhere would be refused nowhere and prove nothing.
TEST_P(PolicedNowhere, S44_EachCallSucceedsWhereNothingIsProtected) {
    const Case one = GetParam();
    for (const std::string& path : one.free) {
        for (const Calls& calls : one.calls) {
            for (const auto& [name, call] : calls) {
                if (name == "chown" && ::geteuid() != 0) continue;
                const Call* const made = &call;
                EXPECT_EQ(as(kSubjects[0], [&] { return (*made)(path.c_str()); }), 0)
                    << name << ' ' << path;
                // As it was.
                EXPECT_EQ(as(kSubjects[0], [] { return std::system(kAsItWas) == 0 ? 0 : 1; }), 0);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Each, PolicedTable,
                         ::testing::Combine(::testing::ValuesIn(kSubjects),
                                            ::testing::ValuesIn(cases())),
                         [](const auto& cell) {
                             return std::string(std::get<0>(cell.param).name) + "_" +
                                    std::get<1>(cell.param).name;
                         });
INSTANTIATE_TEST_SUITE_P(Each, PolicedReading, ::testing::ValuesIn(kSubjects),
                         [](const auto& cell) { return std::string(cell.param.name); });
INSTANTIATE_TEST_SUITE_P(Each, PolicedNowhere, ::testing::ValuesIn(cases()),
                         [](const auto& cell) { return cell.param.name; });

}  // namespace
}  // namespace unwrite::tests
