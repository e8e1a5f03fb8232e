// Ways round a policy that worked elsewhere, each tried on a real mount. A02 is the second line of
// the list of attacks; those that the table of policed_test.cpp covers whole are not repeated.
#include <dirent.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

#include "tests/fs/policed.h"

namespace unwrite::tests {
namespace {

constexpr Subject kUser = kSubjects[0];
constexpr Subject kAgent = kSubjects[1];

int read_one(const char* path) {
    return with_open(path, O_RDONLY, [](int fd) {
        char c = 0;
        return ended(::read(fd, &c, 1));
    });
}
int write_one(const char* path) {
    return with_open(path, O_WRONLY, [](int fd) { return ended(::write(fd, "x", 1)); });
}
int create_one(const char* path) {
    return with_open(path, O_WRONLY | O_CREAT | O_EXCL, [](int) { return 0; });
}
std::set<std::string> listed(const char* path) {
    std::set<std::string> names;
    DIR* const directory = ::opendir(path);
    if (directory == nullptr) return names;
    while (const dirent* entry = ::readdir(directory))
        names.insert(entry->d_name);
    ::closedir(directory);
    return names;
}

/// The rules bind agents alone, or everyone.
class Attacks : public PolicedMount, public ::testing::WithParamInterface<overlay::Subjects> {
 protected:
    Attacks() : PolicedMount(GetParam()) {}
    /// Somebody whom they bind, and the user where they do.
    static Subject bound() { return GetParam() == overlay::Subjects::kEveryone ? kUser : kAgent; }
    void refused(const Subject& subject, const std::function<int()>& body, int number = EACCES) {
        const std::string before = look();
        EXPECT_EQ(as(subject, body), number);
        EXPECT_EQ(look(), before);
    }
};

INSTANTIATE_TEST_SUITE_P(Each, Attacks,
                         ::testing::Values(overlay::Subjects::kAgents,
                                           overlay::Subjects::kEveryone),
                         [](const auto& one) {
                             return one.param == overlay::Subjects::kAgents ? "agents" : "everyone";
                         });

TEST_P(Attacks, A01_ASymlinkToADeniedFile) {
    ASSERT_EQ(as(kAgent, [] { return ended(::symlink(".env", "innocent")); }), 0);
    refused(kAgent, [] { return read_one("innocent"); });
    refused(bound(), [] { return write_one("innocent"); });
    ASSERT_EQ(as(kAgent, [] { return ended(::symlink(".ssh", "dots")); }), 0);
    refused(kAgent, [] { return read_one("dots/config"); });
}

TEST_P(Attacks, A02_ASymlinkThatLeadsARestoreOutOfTheWorkspace) {
    const Scratch outside;
    outside.write("below", "outside\n");
    std::ofstream(raw("dir/below")) << "inside\n";
    ASSERT_EQ(served_.order("checkpoint"), "ok");
    ASSERT_EQ(as(kAgent,
                 [&] {
                     const int removed = ended(::unlink("dir/below")) + ended(::rmdir("dir"));
                     return removed + ended(::symlink(outside.path().c_str(), "dir"));
                 }),
              0);
    ASSERT_EQ(served_.order("rollback"), "ok");
    EXPECT_EQ(served_.read("dir/below"), "inside\n");
    EXPECT_EQ(outside.read("below"), "outside\n");
}

TEST_P(Attacks, A03_A04_HardLinksBothWaysAndOnesThatWereThere) {
    refused(kAgent, [] { return ended(::link(".env", "x")); });
    refused(bound(), [] { return ended(::link(".env", "x")); });
    refused(kAgent, [] { return ended(::link("free", "x.pem")); });
    refused(kAgent, [] { return read_one("alias"); });
    refused(bound(), [] { return write_one("alias"); });
    refused(kAgent, [] { return ended(::link("alias", "x")); });
}

TEST_P(Attacks, A05_A06_RenamesOfADeniedNameAndOfItsAncestor) {
    refused(kAgent, [] { return ended(::rename(".env", "x")); });
    refused(kAgent, [] { return ended(::rename(".ssh", "x")); });
    refused(kAgent, [] { return ended(::rename(".config", "x")); });
    // A pattern without a slash is in force at the new place as well.
    ASSERT_EQ(as(kUser, [] { return ended(::rename("tree", "moved")); }), 0);
    refused(kAgent, [] { return create_one("moved/below/.env"); });
}

TEST_P(Attacks, A07_A41_PlantingAHook) {
    refused(kAgent, [] { return ended(::rename("free", ".git/hooks/pre-push")); });
    refused(kAgent, [] { return ended(::link("free", ".git/hooks/pre-push")); });
    refused(kAgent, [] { return ended(::rename("plant", "dir/.git")); });
    ASSERT_EQ(as(kAgent, [] { return ended(::mkdir("dir/.git", 0777)); }), 0);
    refused(kAgent, [] { return ended(::rename("plant/hooks", "dir/.git/hooks")); });
}

TEST_P(Attacks, A08_ExchangesAndWhiteouts) {
    for (const Subject& subject : {bound(), kAgent}) {
        refused(subject, [] {
            return ended(::renameat2(AT_FDCWD, "free", AT_FDCWD, ".env", RENAME_EXCHANGE));
        });
        refused(subject, [] {
            return ended(::renameat2(AT_FDCWD, ".env", AT_FDCWD, "free", RENAME_EXCHANGE));
        });
        refused(
            subject,
            [] { return ended(::renameat2(AT_FDCWD, "free", AT_FDCWD, "x", RENAME_WHITEOUT)); },
            EINVAL);
    }
}

TEST_P(Attacks, A09_ADeniedNameThatIsNotThereYet) {
    for (const char* name : {".env.production", "dir/.netrc", "deploy.key", ".git/hooks/update"})
        refused(kAgent, [name] { return create_one(name); });
}

TEST_P(Attacks, A12_ADeniedPathBehindASymlinkedDirectory) {
    ASSERT_EQ(as(kUser, [] { return ended(::symlink("dir", "linked-away")); }), 0);
    refused(bound(), [] { return create_one("linked-away/.env"); });
    refused(bound(), [] { return ended(::symlink("/nowhere", ".aws")); });
}

TEST_P(Attacks, A13_OtherLetterCases) {
    // What is made within a tick of the kernel's clock counts as older than the task.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (const char* name : {".ENV", "dir/.Env", "ID_RSA", "x.PEM", ".Ssh"}) {
        refused(kAgent, [name] { return create_one(name); });
        // An empty directory harms nothing (decision 0051); what would be in it is refused.
        EXPECT_EQ(as(kAgent, [name] { return ended(::mkdir(name, 0755)); }), 0) << name;
        const std::string below = std::string(name) + "/x";
        refused(kAgent, [&below] { return create_one(below.c_str()); });
        EXPECT_EQ(as(kAgent, [name] { return ended(::rmdir(name)); }), 0) << name;
    }
}

TEST_P(Attacks, A14_OtherSpellingsOfAPath) {
    for (const char* path : {"./.env", ".//.env", "dir/../.env", "./dir/.././/.env"})
        refused(kAgent, [path] { return read_one(path); });
    if (GetParam() == overlay::Subjects::kEveryone)
        refused(kUser, [] { return ended(::mkdir(".aws/", 0755)); });
    refused(bound(), [] { return ended(::rename("empty", ".aws/")); });
}

TEST_P(Attacks, A15_NamesThatAreHardToPrintOrTooLong) {
    const std::string longest = std::string(251, 'x') + ".pem";
    refused(bound(), [&] { return create_one(longest.c_str()); });
    refused(bound(), [] { return create_one("new\nline\x1b[2J\xff.key"); });
    refused(
        bound(), [&] { return create_one((longest + "x").c_str()); }, ENAMETOOLONG);
}

TEST_P(Attacks, A16_PathsLongerThanTheKernelTakes) {
    EXPECT_EQ(as(bound(),
                 [] {
                     const std::string name(200, 'd');
                     for (int i = 0; i < 30; ++i) {
                         if (::mkdir(name.c_str(), 0777) != 0 || ::chdir(name.c_str()) != 0)
                             return 1;
                     }
                     return create_one(".env") == EACCES && create_one("free") == 0 ? 0 : 2;
                 }),
              0);
}

TEST_P(Attacks, A17_SymlinksInALoop) {
    ASSERT_EQ(as(kAgent, [] { return ended(::symlink("b", "a")) + ended(::symlink("a", "b")); }),
              0);
    EXPECT_EQ(as(kAgent, [] { return read_one("a"); }), ELOOP);
}

TEST_P(Attacks, A18_ReopeningWithMoreRights) {
    refused(bound(), [] {
        return with_open(".env", O_RDONLY, [](int fd) {
            return write_one(("/proc/self/fd/" + std::to_string(fd)).c_str());
        });
    });
    refused(kAgent, [] { return with_open(".env", O_PATH, [](int) { return 0; }); });
}

TEST_P(Attacks, A19_ADescriptorOfBefore) {
    // What was opened before its name became a denied one does not write there.
    EXPECT_EQ(as(bound(),
                 [] {
                     return with_open("free", O_RDWR, [](int fd) {
                         if (ended(::rename("free", ".env.local")) != EACCES) return 1;
                         return ended(::write(fd, "x", 1));
                     });
                 }),
              0);
}

TEST_P(Attacks, A20_FileHandles) {
    const auto by_handle = [](const char* path) {
        alignas(file_handle) char space[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
        auto* const handle = reinterpret_cast<file_handle*>(space);
        handle->handle_bytes = MAX_HANDLE_SZ;
        int mount = 0;
        if (::name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) != 0) return errno;
        const UniqueFd at(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const UniqueFd fd(::open_by_handle_at(at.get(), handle, O_RDONLY));
        return fd.get() < 0 ? errno : 0;
    };
    EXPECT_NE(as(kAgent, [&] { return by_handle(".env"); }), 0);
}

TEST_P(Attacks, A26_ANamelessFileThatGetsADeniedName) {
    const auto name_it = [](const char* name) {
        return with_open(".", O_TMPFILE | O_WRONLY, [name](int fd) {
            const std::string from = "/proc/self/fd/" + std::to_string(fd);
            return ended(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW));
        });
    };
    refused(kAgent, [&] { return name_it(".env.local"); });
    refused(bound(), [&] { return name_it(".git/hooks/post-checkout"); });
    EXPECT_EQ(as(kAgent, [&] { return name_it("allowed"); }), 0);
}

TEST_P(Attacks, A27_A28_DevicesAndSetuidFilesAreDead) {
    struct statvfs st = {};
    ASSERT_EQ(::statvfs(served_.path().c_str(), &st), 0);
    EXPECT_NE(st.f_flag & ST_NOSUID, 0U);
    EXPECT_NE(st.f_flag & ST_NODEV, 0U);
}

TEST_P(Attacks, A29_AttributesOfADeniedFile) {
    char value[64];
    refused(kAgent, [&] { return ended(::getxattr(".env", "user.was", value, sizeof(value))); });
    refused(kAgent, [&] { return ended(::listxattr(".env", value, sizeof(value))); });
    refused(kAgent, [] { return ended(::setxattr(".env", "user.n", "v", 1, 0)); });
    refused(kAgent, [] { return ended(::removexattr(".env", "user.was")); });
}

TEST_P(Attacks, A30_FlagsThatWouldForbidARestore) {
    EXPECT_EQ(as(kAgent,
                 [] {
                     return with_open("free", O_RDWR, [](int fd) {
                         int flags = FS_IMMUTABLE_FL;
                         return ended(::ioctl(fd, FS_IOC_SETFLAGS, &flags));
                     });
                 }),
              ENOTTY);
    EXPECT_EQ(as(kAgent, [] { return write_one("free"); }), 0);
}

TEST_P(Attacks, A31_CopiesOutOfADeniedFile) {
    refused(kAgent, [] {
        return with_open(".env", O_RDONLY, [](int from) {
            return with_open("copy", O_WRONLY | O_CREAT, [from](int to) {
                return ended(::copy_file_range(from, nullptr, to, nullptr, 4, 0));
            });
        });
    });
}

TEST_P(Attacks, A33_UnknownModesOfFallocate) {
    // To open it for writing may be enough to have it captured, which moves its change time.
    ASSERT_EQ(as(kUser, [] { return with_open("free", O_RDWR, [](int) { return 0; }); }), 0);
    refused(
        bound(),
        [] {
            return with_open("free", O_RDWR,
                             [](int fd) { return ended(::fallocate(fd, 0x4000, 0, 4)); });
        },
        EOPNOTSUPP);
}

TEST_P(Attacks, A36_TheJournalIsOutOfReach) {
    EXPECT_EQ(as(bound(), [] { return read_one(".unwrite/journal.db"); }), ENOENT);
    EXPECT_NE(as(bound(), [] { return ended(::mkdir(".unwrite", 0755)); }), 0);
    EXPECT_NE(as(bound(), [] { return ended(::rename("free", ".unwrite")); }), 0);
    EXPECT_NE(as(bound(), [] { return ended(::rename(".unwrite", "x")); }), 0);
    EXPECT_EQ(listed(served_.path().c_str()).count(".unwrite"), 0U);
}

// While one process makes the name mean other files, no other one gets at the denied bytes.
TEST_P(Attacks, A43_ANameThatChangesWhileItIsLookedUp) {
    std::ofstream(raw(".env")) << "secret\n";
    const pid_t changer = ::fork();
    if (changer == 0) {
        if (::chdir(served_.path().c_str()) != 0) ::_exit(1);
        for (;;) {
            std::ignore = ::symlink(".env", "x");
            std::ignore = ::rename("x", "either");
            std::ignore = ::symlink("other", "x");
            std::ignore = ::rename("x", "either");
        }
    }
    EXPECT_EQ(as(kAgent,
                 [] {
                     int met = 0;
                     for (int i = 0; i < 2000; ++i) {
                         met += with_open("either", O_RDONLY, [](int fd) {
                                    char bytes[7] = {};
                                    if (::read(fd, bytes, 6) < 0) return 0;
                                    return std::strcmp(bytes, "secret") == 0 ? 1 : 0;
                                }) == 1;
                     }
                     return met;
                 }),
              0);
    ::kill(changer, SIGKILL);
    ::waitpid(changer, nullptr, 0);
}

TEST_P(Attacks, A44_DeniedNamesAreSeenTheSameEverywhere) {
    EXPECT_EQ(as(kAgent,
                 [] {
                     struct stat st = {};
                     const std::set<std::string> names = listed(".");
                     if (!names.contains(".env") || !names.contains(".ssh")) return 1;
                     return ended(::stat(".env", &st)) == EACCES &&
                                    ended(::stat(".no", &st)) == ENOENT
                                ? 0
                                : 2;
                 }),
              0);
}

}  // namespace
}  // namespace unwrite::tests
