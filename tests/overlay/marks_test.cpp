// Marks tell whether anybody wrote to a file (S160): the proof behind Read before Edit.
#include <gtest/gtest.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class Marks : public Looking {
 protected:
    void SetUp() override {
        before("f", "12345678");
        before("g", "12345678");
        begin();
    }
    std::string mark(const std::string& path) {
        const auto marks = operations().marks({path});
        EXPECT_TRUE(marks);
        return marks && marks->size() == 1 ? marks->front() : "?";
    }
    /// Did `work` give the file another mark, and the other one none?
    bool is_written_by(const std::function<int()>& work) {
        const std::string before = mark("f");
        const std::string others = mark("g");
        EXPECT_NE(before, "");
        EXPECT_EQ(work(), 0);
        EXPECT_EQ(mark("g"), others);
        return mark("f") != before;
    }
};

TEST_F(Marks, S66_S160_every_write_makes_another_one) {
    EXPECT_TRUE(is_written_by([&] { return actor().write("f", 0, "12"); }));
    EXPECT_TRUE(is_written_by([&] { return actor().write("f", 0, "12"); }));
    EXPECT_TRUE(is_written_by([&] { return actor().append("f", "9"); }));
    EXPECT_TRUE(is_written_by([&] { return actor().truncate("f", 8); }));
    EXPECT_TRUE(is_written_by([&] { return actor().truncate("f", 8); }));
    EXPECT_TRUE(is_written_by([&] { return actor().fallocate("f", 0, 0, 8); }));
    EXPECT_TRUE(is_written_by([&] { return actor().copy("g", 0, "f", 0, 8); }));
    EXPECT_TRUE(is_written_by([&] {
        save("f", "12345678");
        return 0;
    }));
}

TEST_F(Marks, S66_what_writes_no_byte_makes_none) {
    EXPECT_FALSE(is_written_by([&] { return actor().chmod("f", 0600); }));
    EXPECT_FALSE(is_written_by([&] { return actor().utimens("f", 1); }));
    EXPECT_FALSE(is_written_by([&] { return actor().link("f", "h"); }));
    EXPECT_FALSE(is_written_by([&] { return actor().unlink("h"); }));
    const std::string before = mark("f");
    ASSERT_EQ(actor().rename("f", "h", 0), 0);
    EXPECT_EQ(mark("f"), "");
    EXPECT_EQ(mark("h"), before);
    ASSERT_EQ(actor().rename("h", "f", 0), 0);
    checkpoint();
    ASSERT_TRUE(operations().commit(World::asker(), "", false));
    EXPECT_EQ(mark("f"), before);
}

TEST_F(Marks, S66_S160_a_restore_writes_what_it_restores) {
    checkpoint("here");
    ASSERT_EQ(actor().write("f", 0, "x"), 0);
    const auto go = [&] {
        const auto moved = operations().rollback(World::asker(), "here", false, Consent::kAll);
        EXPECT_TRUE(moved);
        return 0;
    };
    EXPECT_TRUE(is_written_by(go));
    ASSERT_EQ(actor().chmod("f", 0600), 0);
    EXPECT_FALSE(is_written_by(go));
    ASSERT_EQ(actor().write("f", 0, "x"), 0);
    EXPECT_TRUE(is_written_by([&] {
        EXPECT_TRUE(operations().restore_paths(World::asker(), {"f"}, "here", false));
        return 0;
    }));
}

TEST_F(Marks, S66_none_comes_back_in_another_life) {
    std::set<std::string> seen{mark("f")};
    for (int life = 0; life < 3; ++life) {
        ASSERT_EQ(actor().write("f", 0, "1"), 0);
        EXPECT_TRUE(seen.insert(mark("f")).second);
        world_->reopen();
        EXPECT_TRUE(seen.insert(mark("f")).second);
    }
}

TEST_F(Marks, S163_S167_there_is_none_of_what_is_no_file_of_the_workspace) {
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/f", "x");
    ASSERT_EQ(actor().symlink("way", "d"), 0);
    ASSERT_EQ(actor().symlink("link", "f"), 0);
    EXPECT_NE(mark("d/f"), "");
    const std::string from_above = "../" + raw().filename().string() + "/d/f";
    for (const char* path :
         {"", "d", "way/f", "link", "missing", from_above.c_str(), "/etc/passwd", ".unwrite",
          ".unwrite/journal.db", "./.unwrite/journal.db", "d/../.unwrite/journal.db"})
        EXPECT_EQ(mark(path), "") << path;
}

}  // namespace
}  // namespace unwrite::tests
