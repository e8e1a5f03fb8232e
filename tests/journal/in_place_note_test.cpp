#include "journal/in_place_note.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

TEST(InPlaceNote, S15_IsKeptWholeOrNotAtAll) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto none, noted_in_place(scratch.fd()));
    EXPECT_FALSE(none);
    const InPlace note{{5, 6}, "before\n", std::string("af\0ter", 6)};
    ASSERT_OK(note_in_place(scratch.fd(), note, sys::Durable::kNo));
    ASSERT_ASSIGN(const auto found, noted_in_place(scratch.fd()));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->key, note.key);
    EXPECT_EQ(found->before, note.before);
    EXPECT_EQ(found->after, note.after);
    const std::string whole = scratch.read("in-place");
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        for (const bool flipped : {false, true}) {
            if (size == whole.size() && !flipped) continue;
            std::string text = whole.substr(0, size);
            if (flipped && size > 0) text.back() = static_cast<char>(text.back() ^ 1);
            scratch.write("in-place", text);
            ASSERT_ASSIGN(const auto torn, noted_in_place(scratch.fd()));
            EXPECT_FALSE(torn) << size;
        }
    }
    ASSERT_OK(forget_in_place(scratch.fd()));
    ASSERT_OK(forget_in_place(scratch.fd()));
    ASSERT_ASSIGN(const auto gone, noted_in_place(scratch.fd()));
    EXPECT_FALSE(gone);
}

// Every state that a kill can leave is known, and what somebody else wrote is not.
TEST(InPlaceNote, S15_TellsWhatAKillLeftFromWhatOthersWrote) {
    for (const auto& [before, after] :
         std::vector<std::pair<std::string, std::string>>{{"one\ntwo\n", "ONE\ntwo\n"},
                                                          {"one\ntwo\n", "x"},
                                                          {"a", "abcdef"},
                                                          {"aaaa", "aaab"},
                                                          {"", "new"},
                                                          {"old", ""}}) {
        const InPlace note{{1, 2}, before, after};
        for (std::size_t done = 0; done <= after.size(); ++done) {
            std::string now = after.substr(0, done);
            if (done < before.size()) now += before.substr(done);
            EXPECT_TRUE(written_in_place(note, now)) << now;
        }
        EXPECT_TRUE(written_in_place(note, after));
        for (const std::string& other : {before + "line\n", after + "line\n", "x" + before,
                                         before + "?" + after, std::string("?")}) {
            EXPECT_FALSE(written_in_place(note, other))
                << before << " -> " << after << ": " << other;
        }
    }
}

}  // namespace
}  // namespace unwrite::journal
