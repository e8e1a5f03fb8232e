// Attack 28: a restore, which has root's rights, makes nobody a setuid program that was not one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

constexpr uid_t kNobody = 65534;

class SetuidTest : public Looking {};

// Root made a program of a file that was somebody else's. The restore writes the other's bytes;
// killed anywhere, it leaves no program of root's with them in it.
TEST_F(SetuidTest, A28_AKilledRestoreLeavesNoSetuidProgramWithOtherBytes) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string evil = "evil " + std::string(5000, 'e');
    const std::string good = "good " + std::string(9000, 'g');
    bool killed = true;
    unsigned met = 0;
    for (unsigned n = 1; killed; ++n) {
        ASSERT_LT(n, 1000U);
        world_.reset();
        std::filesystem::remove_all(raw());
        before("program", evil);
        const std::string path = raw() / "program";
        ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
        begin();
        ASSERT_EQ(actor().chown("program", 0, 0), 0);
        ASSERT_EQ(actor().write("program", 0, good), 0);
        ASSERT_EQ(actor().chmod("program", 06755), 0);
        killed = is_killed_at("*:" + std::to_string(n), [this] { return discard_all(); });
        struct stat st = {};
        ASSERT_EQ(::stat(path.c_str(), &st), 0);
        const bool roots = st.st_uid == 0 && (st.st_mode & 06000U) != 0;
        const bool others = scratch_.read("work/program").starts_with("evil");
        EXPECT_FALSE(roots && others) << "killed at point " << n;
        met += others ? 1 : 0;
        begin();  // which finishes what was begun
        if (scratch_.read("work/program") != evil) {
            ASSERT_TRUE(killed);
            EXPECT_TRUE(discard_all()) << n;
        }
        ASSERT_EQ(::stat(path.c_str(), &st), 0);
        EXPECT_EQ(scratch_.read("work/program"), evil) << n;
        EXPECT_EQ(st.st_uid, kNobody) << n;
        EXPECT_EQ(st.st_mode & 07777U, 0644U) << n;
    }
    EXPECT_GT(met, 1U) << "it was killed with the other's bytes in place";
}

}  // namespace
}  // namespace unwrite::tests
