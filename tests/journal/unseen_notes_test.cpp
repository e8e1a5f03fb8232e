#include "journal/unseen_notes.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;
using Keys = std::unordered_set<ObjectKey>;

const ObjectKey kOne{5, 6};
const ObjectKey kTwo{7, 1ULL << 40U};

TEST(UnseenNotes, S67_AreKeptUntilTheyAreForgotten) {
    const Scratch scratch;
    ASSERT_ASSIGN(const Keys none, noted_unseen(scratch.fd()));
    EXPECT_EQ(none, Keys());
    for (const ObjectKey& key : {kOne, kTwo, kOne})
        ASSERT_OK(note_unseen(scratch.fd(), key));
    ASSERT_ASSIGN(const Keys both, noted_unseen(scratch.fd()));
    EXPECT_EQ(both, Keys({kOne, kTwo}));
    ASSERT_OK(forget_unseen(scratch.fd()));
    ASSERT_OK(forget_unseen(scratch.fd()));
    ASSERT_ASSIGN(const Keys gone, noted_unseen(scratch.fd()));
    EXPECT_EQ(gone, Keys());
}

TEST(UnseenNotes, OfADamagedFileWhatIsWholeCounts) {
    const Scratch scratch;
    ASSERT_OK(note_unseen(scratch.fd(), kOne));
    ASSERT_OK(note_unseen(scratch.fd(), kTwo));
    const std::string whole = scratch.read("unseen");
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        for (const bool flipped : {false, true}) {
            std::string text = whole.substr(0, size);
            if (flipped && size > 0) text.back() = static_cast<char>(text.back() ^ 1);
            scratch.write("unseen", text);
            ASSERT_ASSIGN(const Keys keys, noted_unseen(scratch.fd()));
            EXPECT_EQ(keys == Keys({kOne, kTwo}), size == whole.size() && !flipped);
            EXPECT_EQ(keys.contains(kTwo), size == whole.size() && !flipped);
            for (const ObjectKey& key : keys)
                EXPECT_TRUE(key == kOne || key == kTwo);
        }
    }
}

}  // namespace
}  // namespace unwrite::journal
