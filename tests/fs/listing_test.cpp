// Listing a large directory while others change it.
#include <sys/wait.h>

#include <csignal>
#include <map>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

constexpr int kNames = 10'000;

/// Makes and removes names of its own until it is killed.
pid_t start_churn(const Served& served) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (unsigned i = 0;; ++i) {
        const std::string name = served.path("churn" + std::to_string(i % 50));
        std::error_code ignored;
        if (i % 100 < 50) {
            std::ofstream(name) << "x";
        } else {
            std::filesystem::remove(name, ignored);
        }
    }
}

TEST(Listing, TenThousandNamesUnderChurnAreEachSeenOnce) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    for (int i = 0; i < kNames; ++i) {
        ASSERT_OK(sys::open_at(served.raw(), "steady" + std::to_string(i),
                               O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    const pid_t churn = start_churn(served);
    for (int round = 0; round < 5; ++round) {
        std::map<std::string, int> seen;
        for (const auto& entry : std::filesystem::directory_iterator(served.path())) {
            ++seen[entry.path().filename()];
        }
        int steady = 0;
        for (const auto& [name, times] : seen) {
            EXPECT_EQ(times, 1) << name;
            if (name.starts_with("steady")) ++steady;
        }
        EXPECT_EQ(steady, kNames);
    }
    ::kill(churn, SIGKILL);
    ::waitpid(churn, nullptr, 0);
}

TEST(Listing, TypesAndInodesAreTheRealOnes) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::create_directory(served.path("d"));
    served.write("f", "");
    std::filesystem::create_symlink("f", served.path("l"));
    ASSERT_ASSIGN(const UniqueFd root,
                  sys::open_at(AT_FDCWD, served.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_ASSIGN(const auto entries, sys::read_directory(root.get()));
    ASSERT_EQ(entries.size(), 3U);
    for (const auto& entry : entries) {
        ASSERT_ASSIGN(const struct stat st, sys::stat_at(served.raw(), entry.name));
        EXPECT_EQ(entry.ino, st.st_ino) << entry.name;
        EXPECT_EQ(static_cast<unsigned>(entry.type), (st.st_mode & S_IFMT) >> 12U) << entry.name;
    }
}

}  // namespace
}  // namespace unwrite::tests
