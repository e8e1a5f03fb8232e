#include "journal/stamps.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

const Traces kThree{{{5, 6}, {Stamp{0, -1}, false}},
                    {{7, 8}, {Stamp{1LL << 40, 1'700'000'000'123'456'789LL}, true}},
                    {{9, 10}, {std::nullopt, true}}};

TEST(Stamps, AreTakenOnceS85) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kThree));
    ASSERT_ASSIGN(const LeftTraces taken, take_stamps(scratch.fd()));
    EXPECT_EQ(taken.traces, kThree);
    EXPECT_TRUE(taken.has_all_made);
    ASSERT_ASSIGN(const LeftTraces again, take_stamps(scratch.fd()));
    EXPECT_EQ(again.traces, Traces());
    EXPECT_FALSE(again.has_all_made);
}

TEST(Stamps, NoneTakeTheFileAway) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kThree));
    ASSERT_OK(leave_stamps(scratch.fd(), {}));
    ASSERT_ASSIGN(const LeftTraces taken, take_stamps(scratch.fd()));
    EXPECT_EQ(taken.traces, Traces());
}

TEST(Stamps, OfADamagedFileWhatIsWholeCounts) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kThree));
    const std::string whole = scratch.read("stamps");
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        for (const bool flipped : {false, true}) {
            std::string text = whole.substr(0, size);
            if (flipped && size > 0) text.back() = static_cast<char>(text.back() ^ 1);
            scratch.write("stamps", text);
            ASSERT_ASSIGN(const LeftTraces taken, take_stamps(scratch.fd()));
            EXPECT_EQ(taken.has_all_made, size == whole.size() && !flipped);
            EXPECT_EQ(taken.traces == kThree, taken.traces.size() == kThree.size());
            for (const auto& [key, trace] : taken.traces)
                EXPECT_EQ(kThree.at(key), trace);
        }
    }
}

}  // namespace
}  // namespace unwrite::journal
