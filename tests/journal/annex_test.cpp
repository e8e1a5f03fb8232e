#include "journal/annex.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

TEST(AnnexNote, S76_IsKeptWholeOrRefused) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto none, read_annex(scratch.fd()));
    EXPECT_FALSE(none);
    const Annex annex{std::string("/home/me/\xff project/.git"), {5, 6}};
    ASSERT_OK(write_annex(scratch.fd(), annex));
    ASSERT_ASSIGN(const auto found, read_annex(scratch.fd()));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, annex.path);
    EXPECT_EQ(found->key, annex.key);
    const std::string whole = scratch.read("annex");
    for (std::size_t size = 0; size <= whole.size() + 1; ++size) {
        std::string text = whole.substr(0, std::min(size, whole.size()));
        if (size > whole.size()) text += 'x';
        if (size == whole.size()) text[10] = static_cast<char>(text[10] ^ 1);
        scratch.write("annex", text);
        const auto torn = read_annex(scratch.fd());
        ASSERT_FALSE(torn) << size;
        EXPECT_EQ(torn.error().kind(), ErrorKind::kCorrupt);
    }
}

}  // namespace
}  // namespace unwrite::journal
