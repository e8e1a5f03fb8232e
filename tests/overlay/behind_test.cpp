// Content that changes behind the mount is noticed (S85, invariant 9).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class BehindTest : public Looking {
 protected:
    void SetUp() override {
        before("a", "a\n");
        before("b", "b\n");
        before("mode", "c\n");
        begin();
        ASSERT_EQ(actor().write("a", 0, "A"), 0);
        replace("b", "changed\n");
    }
    void append_behind(const std::string& path) const {
        std::ofstream out(raw() / path, std::ios::app);
        out << "behind\n";
    }
    std::string text(const std::string& path) const { return scratch_.read("work/" + path); }
    void expect_conflict(const Result<overlay::Moved>& moved) {
        ASSERT_FALSE(moved);
        EXPECT_EQ(moved.error().kind(), ErrorKind::kConflict) << moved.error().message();
    }
    /// What a discard would say first; it is only done when there is nothing to say.
    Lines noticed() {
        const auto moved = operations().discard(World::asker(), false, Consent::kOwn);
        EXPECT_TRUE(moved) << moved.error().message();
        return moved ? moved->behind : Lines{"?"};
    }
    /// In a process of its own, which is killed with the session open.
    void killed_after(const std::function<void()>& work) {
        world_.reset();
        const pid_t child = ::fork();
        if (child == 0) {
            begin();
            work();
            ::_exit(HasFatalFailure() ? 1 : 0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
        begin();
    }
};

TEST_F(BehindTest, ItIsNoticedOverARestartS85) {
    world_->reopen();
    append_behind("a");
    expect_conflict(operations().undo(World::asker(), 1, Consent::kAll));
    EXPECT_EQ(noticed(), Lines{"a"});
    EXPECT_EQ(text("a"), "A\nbehind\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    EXPECT_EQ(text("b"), "b\n");
}

TEST_F(BehindTest, ItIsNoticedWhileNothingIsMountedS85) {
    world_.reset();
    append_behind("b");
    begin();
    EXPECT_EQ(noticed(), Lines{"b"});
}

TEST_F(BehindTest, ItIsNoticedBetweenTwoRestoresS85) {
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kAll));
    append_behind("a");
    expect_conflict(operations().redo(World::asker(), 1, Consent::kAll));
    EXPECT_EQ(text("a"), "a\nbehind\n");
    EXPECT_EQ(text("b"), "b\n");
}

TEST_F(BehindTest, ItIsNoticedAfterTheRestoreOfOnePathS85) {
    ASSERT_OK(operations().restore_paths(World::asker(), {"a"}, "", false));
    append_behind("a");
    EXPECT_EQ(noticed(), Lines{"a"});
}

TEST_F(BehindTest, WhatIsDoneThroughTheMountIsNeverNoticedS85) {
    world_->reopen();
    EXPECT_EQ(noticed(), Lines());
    ASSERT_OK(operations().redo(World::asker(), 1, Consent::kAll));
    world_->reopen();
    ASSERT_EQ(actor().write("a", 1, "AA"), 0);
    world_->reopen();
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kAll));
    EXPECT_EQ(text("a"), "A\n");
}

TEST_F(BehindTest, AKillLeavesNothingThatAccusesS85) {
    killed_after([&] { ASSERT_EQ(actor().write("a", 1, "AA"), 0); });
    EXPECT_EQ(noticed(), Lines());
    EXPECT_EQ(text("a"), "a\n");
}

// What it made is in the attic then, in a directory. The journal names the directory alone.
TEST_F(BehindTest, AKillBetweenARollbackAndARedoLeavesNothingThatAccusesS85) {
    std::string made;
    checkpoint();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    ASSERT_EQ(actor().mkdir("d/e", 0755), 0);
    make("d/e/file", "made\n");
    made = checkpoint();
    checkpoint();
    killed_after([&] {
        ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
        make("other", "other\n");
        checkpoint();
    });
    ASSERT_OK(operations().rollback(World::asker(), made, false, Consent::kAll));
    EXPECT_EQ(text("d/e/file"), "made\n");
    ASSERT_OK(operations().redo(World::asker(), 1, Consent::kAll));
    EXPECT_EQ(text("other"), "other\n");
    EXPECT_EQ(noticed(), Lines());
}

// A name cannot make the list say what is not so.
TEST_F(BehindTest, ANameIsOneLineOfTheListS85S165) {
    make("two\nlines", "x");
    world_->reopen();
    checkpoint();
    replace("two\nlines", "y");
    append_behind("two\nlines");
    const auto moved = operations().undo(World::asker(), 1, Consent::kAll);
    expect_conflict(moved);
    EXPECT_NE(moved.error().message().find("\n  \"two\\nlines\""), std::string::npos)
        << moved.error().message();
}

TEST_F(BehindTest, TheTimeOfAChangeStaysWhereOnlyAttributesGoBackS49S85) {
    ASSERT_EQ(actor().chmod("mode", 0600), 0);
    append_behind("mode");
    const auto now = std::filesystem::last_write_time(raw() / "mode");
    ASSERT_TRUE(operations().discard(World::asker(), false, Consent::kAll));
    EXPECT_EQ(text("mode"), "c\nbehind\n");
    EXPECT_EQ(std::filesystem::last_write_time(raw() / "mode"), now);
    EXPECT_EQ(std::filesystem::status(raw() / "mode").permissions(), std::filesystem::perms{0644});
}

TEST_F(BehindTest, NothingIsKeptOfWhatIsCommittedS50) {
    ASSERT_OK(operations().commit(World::asker(), "", false));
    world_.reset();
    EXPECT_FALSE(std::filesystem::exists(raw() / ".unwrite/stamps"));
}

TEST_F(BehindTest, ACopyOfTheWorkspaceIsRefusedWhileItHasAHistoryS165) {
    world_.reset();
    const auto copy = scratch_.path() / "copy";
    run("cp -a '" + raw().string() + "' '" + copy.string() + "'");
    const auto open = [&] { return World::open(copy.string(), overlay::SessionOptions()); };
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kRefused);
    EXPECT_NE(refused.error().message().find("copy"), std::string::npos);
    EXPECT_EQ(scratch_.read("copy/b"), "changed\n");
    begin();
    ASSERT_OK(operations().commit(World::asker(), "", false));
    world_.reset();
    run("rm -rf '" + copy.string() + "' && cp -a '" + raw().string() + "' '" + copy.string() + "'");
    EXPECT_TRUE(open()) << "nothing is left to take back";
    EXPECT_TRUE(open()) << "it is a workspace of its own now";
}

// What a call has changed and not yet booked is not taken for somebody's work behind the mount.
TEST_F(BehindTest, WhoWritesMeanwhileIsNotAccused) {
    ASSERT_EQ(actor().create("c", 0644), 0);
    std::atomic<bool> stop = false;
    const auto busy = [&](const std::string& path) {
        TreeActor writer(world_->tree(), {0, 0, ::getpid(), 0022});
        for (std::uint64_t i = 0; !stop; ++i) {
            EXPECT_EQ(writer.write("a", i % 512, "x"), 0);
            EXPECT_EQ(writer.rename("b", path, 0) | writer.rename(path, "b", 0), 0);
        }
    };
    std::thread one(busy, "b2");
    std::thread two([&] {
        TreeActor writer(world_->tree(), {0, 0, ::getpid(), 0022});
        for (std::uint64_t i = 0; !stop; ++i)
            EXPECT_EQ(writer.write("a", i % 512, "yy"), 0);
    });
    for (int i = 0; i < 500; ++i) {
        const auto moved = operations().discard(World::asker(), false, Consent::kNone);
        if (!moved || !moved->behind.empty()) {
            ADD_FAILURE() << (moved ? moved->behind.front() : moved.error().message());
            break;
        }
    }
    stop = true;
    one.join();
    two.join();
    EXPECT_EQ(noticed(), Lines{});
}

// Once invert() has looked, no delta knows what comes there; it must neither be covered nor lost.
TEST_F(BehindTest, WhatIsPutAtANameDuringARestoreStaysBesideItS49S85) {
    make("name", "wanted");
    checkpoint();
    std::atomic<bool> stop{false};
    const auto kept = [&] {
        const auto is_kept = [](const auto& entry) {
            return entry.path().string().find(".unwrite-kept") != std::string::npos;
        };
        return std::count_if(std::filesystem::directory_iterator(raw()), {}, is_kept);
    };
    for (int round = 0; round < 40 || (kept() == 0 && round < 4000); ++round) {
        ASSERT_EQ(actor().unlink("name"), 0);
        stop = false;
        std::thread other([&] {
            while (!stop) {
                std::this_thread::sleep_for(std::chrono::microseconds(100));
                const auto file = sys::open_at(AT_FDCWD, (raw() / "name").string(),
                                               O_WRONLY | O_CREAT | O_EXCL, 0644);
                if (file) {
                    EXPECT_EQ(::write(file->get(), "theirs", 6), 6);
                }
            }
        });
        const auto moved = operations().rollback(World::asker(), "", false, Consent::kAll);
        stop = true;
        other.join();
        ASSERT_TRUE(moved.ok()) << moved.error().message();
        ASSERT_EQ(text("name"), "wanted") << "round " << round;
    }
    EXPECT_GT(kept(), 0);
}

}  // namespace
}  // namespace unwrite::tests
