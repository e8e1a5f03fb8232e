// Durability "ordered": a power cut costs what is younger than the watermark, and that is named and
// refused. The cut is made by hand: the process ends at once, the records behind the watermark go,
// and the kernel is another one.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "journal/delta_format.h"
#include "journal/watermark.h"
#include "overlay/unproved.h"
#include "tests/overlay/looking.h"

namespace {

thread_local int t_syncs = 0;

}  // namespace

// Instead of that of the C library: counts for the calling thread.
extern "C" int syncfs(int fd) noexcept {
    ++t_syncs;
    return static_cast<int>(::syscall(SYS_syncfs, fd));
}

namespace unwrite::tests {
namespace {

using overlay::Consent;
using Texts = std::vector<std::string>;

class CutTest : public Looking {
 protected:
    void SetUp() override {
        before("text", "as it was");
        before("big", std::string(100'000, 'b'));
        before("d/gone", "only copy");
        before("other", "other");
        std::filesystem::create_directories(raw());
    }
    static overlay::SessionOptions ordered() {
        overlay::SessionOptions options;
        options.ordered = true;
        return options;
    }
    int state() {
        state_ = scratch_.open("work/.unwrite", O_RDONLY | O_DIRECTORY);
        return state_.get();
    }
    journal::Watermark mark() {
        const auto found = journal::read_watermark(state());
        EXPECT_TRUE(found.ok() && *found);
        return found && *found ? **found : journal::Watermark{};
    }
    std::filesystem::path mark_file() const { return raw() / ".unwrite" / "watermark"; }
    std::filesystem::path kept_mark() const { return scratch_.path() / "watermark"; }
    /// Until all that was done is older than the watermark. That one is what the cut leaves: on a
    /// busy machine the next may come before the process has ended.
    void settle() {
        const std::uint64_t sequence = mark().sequence;
        for (int i = 0; i < 200; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            // One that began meanwhile may not know the last of it.
            if (mark().sequence < sequence + 1 || i <= 20) continue;
            std::filesystem::copy_file(mark_file(), kept_mark());
            return;
        }
        FAIL() << "no watermark is made";
    }
    /// A process does this and ends without a word; then the power goes.
    void cut_after(const std::function<void()>& work, bool records_go) {
        const pid_t child = ::fork();
        if (child == 0) {
            world_.emplace(raw().string(), ordered());
            work();
            ::_exit(::testing::Test::HasFailure() ? 1 : 0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
        std::filesystem::rename(kept_mark(), mark_file());
        const journal::Watermark now = mark();
        if (records_go) {
            for (const auto& file :
                 std::filesystem::directory_iterator(raw() / ".unwrite" / "deltas")) {
                if (file.path().filename() == std::to_string(now.delta) + ".log")
                    std::filesystem::resize_file(file.path(), now.log_end);
            }
        }
        scratch_.write("work/.unwrite/boot", "another boot\n");
    }
    void open() { world_.emplace(raw().string(), ordered()); }
    void expect_refused(const std::string& path) {
        const Snapshot was = world_->look();
        const auto moved = operations().rollback(World::asker(), "root", false, Consent::kAll);
        EXPECT_KIND(ErrorKind::kConflict, moved);
        const std::string said = moved ? "" : moved.error().message();
        EXPECT_NE(said.find(path), std::string::npos) << said;
        EXPECT_KIND(ErrorKind::kConflict,
                    operations().discard(World::asker(), false, Consent::kAll));
        EXPECT_EQ(difference(was, world_->look()), "");
    }

    UniqueFd state_;
};

TEST_F(CutTest, S67_what_is_older_than_the_watermark_comes_back) {
    const Snapshot was = snapshot(raw().string());
    cut_after(
        [this] {
            replace("text", "changed");
            EXPECT_EQ(actor().write("big", 40'000, "xyz"), 0);
            EXPECT_EQ(actor().unlink("d/gone"), 0);
            make("made", "made");
            settle();
        },
        true);
    open();
    EXPECT_EQ(world_->session().found().unproved, Texts());
    ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
    EXPECT_EQ(difference(was, world_->look()), "");
}

TEST_F(CutTest, S67_what_is_younger_is_named_and_refused) {
    cut_after(
        [this] {
            replace("other", "changed");
            settle();
            EXPECT_EQ(actor().write("big", 40'000, "xyz"), 0);
        },
        true);
    open();
    EXPECT_EQ(world_->session().found().unproved, Texts{"big"});
    expect_refused("big");
    ASSERT_ASSIGN(const auto status, operations().status("", false));
    EXPECT_EQ(status.unproved, Texts{"big"});
    EXPECT_KIND(ErrorKind::kConflict,
                operations().restore_paths(World::asker(), {"big"}, "root", false));
    ASSERT_OK(operations().restore_paths(World::asker(), {"other"}, "root", false));
    EXPECT_EQ(actor().read("other").value_or(""), "other");
    // It is remembered.
    world_.reset();
    open();
    expect_refused("big");
    // What comes later can be taken back.
    replace("big", "anew");
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kAll));
    EXPECT_EQ(actor().read("big").value_or("").size(), 100'000U);
    // And all is forgotten when it is accepted.
    ASSERT_OK(operations().commit(World::asker(), "", false));
    ASSERT_ASSIGN(const auto after, operations().status("", false));
    EXPECT_EQ(after.unproved, Texts());
}

TEST_F(CutTest, S67_a_deletion_and_a_new_file_without_a_record_are_found) {
    cut_after(
        [this] {
            replace("other", "changed");
            settle();
            EXPECT_EQ(actor().unlink("d/gone"), 0);
            make("made", "made");
            EXPECT_EQ(actor().rename("text", "moved", 0), 0);
        },
        true);
    open();
    const Texts found = world_->session().found().unproved;
    const auto has = [&](const std::string& path) {
        return std::find(found.begin(), found.end(), path) != found.end();
    };
    EXPECT_TRUE(has("made")) << overlay::to_tag(found);
    EXPECT_TRUE(has("moved")) << overlay::to_tag(found);
    EXPECT_TRUE(has("d/gone") || has("(a deleted file)")) << overlay::to_tag(found);
    expect_refused("made");
}

TEST_F(CutTest, S67_what_was_made_in_the_interval_needs_no_proof) {
    const Snapshot was = snapshot(raw().string());
    cut_after(
        [this] {
            later();
            EXPECT_EQ(actor().mkdir("new", 0755), 0);
            make("new/file", "made");
            make("made", "made");
            settle();
            EXPECT_EQ(actor().write("new/file", 0, "more"), 0);
            make("new/another", "another");
            EXPECT_EQ(actor().unlink("made"), 0);
        },
        true);
    open();
    EXPECT_EQ(world_->session().found().unproved, Texts());
    ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
    EXPECT_EQ(difference(was, world_->look()), "");
}

TEST_F(CutTest, S67_a_clean_end_proves_everything) {
    {
        open();
        replace("text", "changed");
        checkpoint("half");
        replace("text", "again");
        world_.reset();
    }
    EXPECT_TRUE(mark().ended);
    scratch_.write("work/.unwrite/boot", "another boot\n");
    before("other", "edited while nothing was mounted");
    open();
    EXPECT_EQ(world_->session().found().unproved, Texts());
    ASSERT_OK(operations().rollback(World::asker(), "half", false, Consent::kAll));
    EXPECT_EQ(actor().read("text").value_or(""), "changed");
}

// Nothing can write during a restore, so a small one must not wait for other programs' data.
TEST_F(CutTest, S63_a_small_restore_does_not_sync_the_filesystem) {
    open();
    replace("text", "changed");
    EXPECT_EQ(actor().unlink("d/gone"), 0);
    make("made", "made");
    t_syncs = 0;
    ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
    EXPECT_EQ(t_syncs, 0);
    for (int i = 0; i < 20; ++i)
        make("made" + std::to_string(i), "made");
    ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
    EXPECT_EQ(t_syncs, 1);
}

TEST_F(CutTest, S67_a_life_that_keeps_no_order_leaves_no_watermark) {
    open();
    world_.reset();
    begin();
    EXPECT_FALSE(std::filesystem::exists(raw() / ".unwrite" / "watermark"));
}

}  // namespace
}  // namespace unwrite::tests
