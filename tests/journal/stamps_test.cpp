#include "journal/stamps.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

const Stamps kTwo{{{5, 6}, {0, -1}}, {{7, 8}, {1LL << 40, 1'700'000'000'123'456'789LL}}};

TEST(Stamps, AreTakenOnceS85) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kTwo));
    ASSERT_ASSIGN(const Stamps taken, take_stamps(scratch.fd()));
    EXPECT_EQ(taken, kTwo);
    ASSERT_ASSIGN(const Stamps again, take_stamps(scratch.fd()));
    EXPECT_EQ(again, Stamps());
}

TEST(Stamps, NoneTakeTheFileAway) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kTwo));
    ASSERT_OK(leave_stamps(scratch.fd(), {}));
    ASSERT_ASSIGN(const Stamps taken, take_stamps(scratch.fd()));
    EXPECT_EQ(taken, Stamps());
}

TEST(Stamps, OfADamagedFileWhatIsWholeCounts) {
    const Scratch scratch;
    ASSERT_OK(leave_stamps(scratch.fd(), kTwo));
    const std::string whole = scratch.read("stamps");
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        for (const bool flipped : {false, true}) {
            std::string text = whole.substr(0, size);
            if (flipped && size > 0) text.back() = static_cast<char>(text.back() ^ 1);
            scratch.write("stamps", text);
            ASSERT_ASSIGN(const Stamps taken, take_stamps(scratch.fd()));
            EXPECT_EQ(taken == kTwo, size == whole.size() && !flipped);
            for (const auto& [key, stamp] : taken)
                EXPECT_EQ(kTwo.at(key), stamp);
        }
    }
}

}  // namespace
}  // namespace unwrite::journal
