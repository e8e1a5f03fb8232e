#include "base/progress.h"

#include <gtest/gtest.h>

namespace unwrite {
namespace {

TEST(ProgressTest, SaysHowFarTheNewestWorkIs) {
    EXPECT_FALSE(Progress::now());
    Progress outer("restoring", 3);
    outer.step();
    {
        Progress inner("comparing", 1);
        inner.step();
        inner.step();
        const auto seen = Progress::now();
        ASSERT_TRUE(seen);
        EXPECT_STREQ(seen->what, "comparing");
        EXPECT_EQ(seen->done, 1U);
        EXPECT_EQ(seen->total, 1U);
    }
    const auto seen = Progress::now();
    ASSERT_TRUE(seen);
    EXPECT_STREQ(seen->what, "restoring");
    EXPECT_EQ(seen->done, 1U);
    EXPECT_EQ(seen->total, 3U);
}

TEST(ProgressTest, TellsOfEachEndOnceItIsOver) {
    int ends = 0;
    Progress::at_each_end([&ends] {
        ++ends;
        EXPECT_EQ(Progress::now().has_value(), ends == 1);
    });
    {
        const Progress outer("restoring", 3);
        { const Progress inner("comparing", 1); }
        EXPECT_EQ(ends, 1);
    }
    EXPECT_EQ(ends, 2);
    Progress::at_each_end({});
    { const Progress last("restoring", 3); }
    EXPECT_EQ(ends, 2);
}

}  // namespace
}  // namespace unwrite
