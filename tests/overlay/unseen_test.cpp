// Files that the kernel changes by itself (unseen.h): the tests write to the real file, as it
// would.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>

#include "base/syscalls.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class UnseenTest : public Looking {
 protected:
    static constexpr std::size_t kSize = 200'000;  // some blocks, and a part of one

    void SetUp() override {
        before("f", std::string(kSize, 'o'));
        before("other", "other\n");
        begin();
        root_ = world_->look();
    }

    overlay::Caller user(uid_t uid = 0) const { return {uid, uid, ::getpid(), 0022}; }
    overlay::NodeId look_up(const std::string& name) {
        const auto entry = world_->tree().lookup(user(), overlay::kRootId, name);
        EXPECT_TRUE(entry.ok()) << name;
        return entry ? entry->id : 0;
    }
    void write_unseen(const std::string& name, std::uint64_t offset, std::string_view text) const {
        const auto fd = sys::open_at(AT_FDCWD, raw() / name, O_WRONLY);
        ASSERT_TRUE(fd.ok());
        ASSERT_OK(sys::write_all_at(fd->get(), std::as_bytes(std::span(text)), offset));
    }
    std::string content(const std::string& name) const { return scratch_.read("work/" + name); }
    void expect_no_problem() {
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, Lines());
    }
    void expect_exactly(const Snapshot& wanted, const std::string& when) {
        EXPECT_EQ(difference(wanted, world_->look()), "") << when;
    }

    /// After a kill at `point` in `work`, and a write of somebody who had "f" open all the time, it
    /// begins so at these states, time and again.
    template <typename Work>
    void expect_after_a_kill(const std::string& point, const Work& work,
                             const std::vector<std::pair<std::string, std::string>>& states) {
        const auto writer = sys::open_at(AT_FDCWD, raw() / "f", O_RDWR);
        ASSERT_TRUE(writer.ok());
        ASSERT_TRUE(is_killed_at(point, work)) << point;
        ASSERT_OK(sys::write_all_at(writer->get(), std::as_bytes(std::span("dddd", 4)), 0));
        begin();
        for (const int time : {1, 2}) {
            for (const auto& [node, text] : states) {
                ASSERT_OK(operations().rollback(World::asker(), node, false, Consent::kAll));
                EXPECT_EQ(content("f").substr(0, 5), text) << point << ", " << node << ", " << time;
            }
        }
        ASSERT_OK(discard_all());
        EXPECT_EQ(content("f"), std::string(kSize, 'o')) << point;
        expect_no_problem();
        ASSERT_OK(operations().commit(World::asker(), "", false));
    }

    Snapshot root_;
};

TEST_F(UnseenTest, S40_what_is_written_between_begin_and_end_is_taken_back) {
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    write_unseen("f", 70'000, "new");
    write_unseen("f", kSize, "grown");
    EXPECT_EQ(changes(), Lines({"modified f"}));
    world_->tree().end_unseen(id, false);
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kOwn));
    expect_exactly(root_, "undone");
    ASSERT_OK(operations().redo(World::asker(), 1, Consent::kOwn));
    EXPECT_EQ(content("f").substr(70'000, 3), "new");
    EXPECT_EQ(content("f").substr(kSize), "grown");
    expect_no_problem();
}

TEST_F(UnseenTest, S48_each_checkpoint_has_what_a_writer_held_until_then) {
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    std::vector<std::pair<std::string, Snapshot>> states{{"n1", root_}};
    for (const char letter : {'a', 'b', 'c'}) {
        write_unseen("f", 100'000, std::string(50'000, letter));
        states.emplace_back(checkpoint(), world_->look());
    }
    write_unseen("f", 0, "last");
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
        ASSERT_OK(operations().rollback(World::asker(), state->first, false, Consent::kAll));
        expect_exactly(state->second, state->first);
        write_unseen("f", 150'000, "and on it goes");
    }
    for (const auto& [node, state] : states) {
        ASSERT_OK(operations().rollback(World::asker(), node, false, Consent::kAll));
        expect_exactly(state, node);
    }
    world_->tree().end_unseen(id, false);
    expect_no_problem();
}

TEST_F(UnseenTest, S48_a_file_made_in_the_task_is_captured_when_it_is_older_than_a_checkpoint) {
    make("made", "");
    const auto id = look_up("made");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    write_unseen("made", 0, "one");
    const std::string first = checkpoint();
    write_unseen("made", 0, "two and more");
    ASSERT_OK(operations().rollback(World::asker(), first, false, Consent::kOwn));
    EXPECT_EQ(content("made"), "one");
    write_unseen("made", 0, "three");
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
    world_->tree().end_unseen(id, false);
    expect_no_problem();
}

TEST_F(UnseenTest, S51_who_only_holds_a_file_open_makes_no_step) {
    make("made", "one");
    const auto id = look_up("made");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    const std::string first = checkpoint("first");
    EXPECT_EQ(changes(first), Lines());
    ASSERT_EQ(actor().write("other", 0, "OTHER"), 0);
    const std::string second = checkpoint("second");
    const Snapshot then = world_->look();
    // Not one step that holds nothing but what "made" was.
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kOwn));
    EXPECT_EQ(content("other"), "other\n");
    ASSERT_OK(operations().redo(World::asker(), 1, Consent::kOwn));
    expect_exactly(then, "redone");
    write_unseen("made", 0, "two");
    ASSERT_ASSIGN(const auto again, operations().undo(World::asker(), 1, Consent::kOwn));
    EXPECT_EQ(lines_of(again.changes), Lines({"modified made"}));
    EXPECT_EQ(content("made"), "one");
    expect_exactly(then, "undone");
    world_->tree().end_unseen(id, false);
    expect_no_problem();
}

TEST_F(UnseenTest, S51_to_open_and_close_makes_no_step_and_leaves_redo) {
    ASSERT_EQ(actor().write("other", 0, "OTHER"), 0);
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kOwn));
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    world_->tree().end_unseen(id, false);
    EXPECT_KIND(ErrorKind::kNothing, operations().undo(World::asker(), 1, Consent::kOwn));
    ASSERT_OK(operations().redo(World::asker(), 1, Consent::kOwn));
    EXPECT_EQ(content("other"), "OTHER\n");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    world_->tree().end_unseen(id, false);
    checkpoint("between");
    ASSERT_OK(operations().undo(World::asker(), 1, Consent::kOwn));
    expect_exactly(root_, "one step, and not the opening");
}

TEST_F(UnseenTest, S51_what_was_captured_for_nothing_is_no_image_of_where_a_restore_leads) {
    ASSERT_EQ(actor().write("f", 0, "aaaa"), 0);
    const std::string first = checkpoint();
    ASSERT_EQ(actor().write("f", 0, "bbbb"), 0);
    checkpoint();
    const auto id = look_up("f");
    for (const bool other_in_use : {false, true}) {
        if (other_in_use) {
            ASSERT_OK(world_->tree().begin_unseen(user(), look_up("other")));
        }
        ASSERT_OK(world_->tree().begin_unseen(user(), id));
        world_->tree().end_unseen(id, false);
        ASSERT_OK(operations().rollback(World::asker(), first, false, Consent::kOwn));
        ASSERT_EQ(actor().write("f", 0, "cccc"), 0);
        ASSERT_OK(operations().undo(World::asker(), 1, Consent::kOwn));
        EXPECT_EQ(content("f").substr(0, 5), "aaaao");
        ASSERT_EQ(actor().write("f", 0, "bbbb"), 0);
        checkpoint();
    }
    world_->tree().end_unseen(look_up("other"), false);
    expect_no_problem();
}

TEST_F(UnseenTest, S85_it_is_not_taken_for_a_change_behind_the_mount) {
    const auto id = look_up("f");
    ASSERT_EQ(actor().write("f", 0, "seen"), 0);
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    write_unseen("f", 0, "unseen");
    ASSERT_EQ(actor().write("f", 100, "seen"), 0);
    write_unseen("f", 1000, "unseen");
    ASSERT_ASSIGN(const auto foreseen, operations().undo(World::asker(), 1, Consent::kNone));
    EXPECT_EQ(foreseen.behind, Lines());
    world_->tree().end_unseen(id, false);
    ASSERT_ASSIGN(const auto after, operations().undo(World::asker(), 1, Consent::kNone));
    EXPECT_EQ(after.behind, Lines());
    write_unseen("f", 1000, "behind");
    EXPECT_KIND(ErrorKind::kConflict, operations().undo(World::asker(), 1, Consent::kAll));
}

TEST_F(UnseenTest, S66_S160_no_mark_holds_while_it_lasts) {
    const auto mark = [&] { return operations().marks({"f"})->front(); };
    const std::string first = mark();
    EXPECT_EQ(mark(), first);
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    const std::string second = mark();
    EXPECT_NE(second, first);
    write_unseen("f", 0, "x");
    EXPECT_NE(mark(), second);
    world_->tree().end_unseen(id, false);
    const std::string third = mark();
    EXPECT_NE(third, second);
    EXPECT_EQ(mark(), third);
}

TEST_F(UnseenTest, S60_another_session_shares_the_interval_and_a_revert_is_a_conflict) {
    const std::string run = begin_run();
    const auto id = look_up("f");
    overlay::Caller agent = user();
    agent.pid = kAgent;
    ASSERT_OK(world_->tree().begin_unseen(agent, id));
    write_unseen("f", 0, "agent");
    as_user();
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(actor().write("f", 10, "user"), 0);
    ASSERT_ASSIGN(const auto log, operations().log("", true, false));
    EXPECT_EQ(log.entries.size(), 2U) << "it was divided";
    world_->tree().end_unseen(id, false);
    expect_conflict("agent", "f");
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
}

TEST_F(UnseenTest, S60_when_it_was_closed_they_take_turns_again) {
    begin_run();
    const auto id = look_up("f");
    overlay::Caller agent = user();
    agent.pid = kAgent;
    for (const bool first : {true, false}) {
        ASSERT_OK(world_->tree().begin_unseen(agent, id));
        if (!first) checkpoint();
        write_unseen("f", 0, first ? "agent" : "AGENT");
        world_->tree().end_unseen(id, false);
        as_user();
        ASSERT_EQ(actor().write("f", 10, "user"), 0);
        ASSERT_ASSIGN(const auto log, operations().log("", true, false));
        EXPECT_EQ(std::count_if(log.entries.begin(), log.entries.end(),
                                [](const auto& entry) {
                                    return entry.node.kind == journal::NodeKind::kTurn;
                                }),
                  first ? 1 : 3)
            << "the agent comes upon what the user wrote, too";
    }
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
}

// A mapping outlives the file it was made with.
TEST_F(UnseenTest, S48_a_mapping_that_is_left_keeps_it_going) {
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    auto fd = sys::open_at(AT_FDCWD, raw() / "f", O_RDWR);
    ASSERT_TRUE(fd.ok());
    void* const at = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
    ASSERT_NE(at, MAP_FAILED);
    auto* const bytes = static_cast<char*>(at);
    fd->reset();
    world_->tree().end_unseen(id, true);
    bytes[100] = 'a';
    const std::string first = checkpoint();
    const Snapshot then = world_->look();
    bytes[100] = 'b';
    ASSERT_OK(operations().rollback(World::asker(), first, false, Consent::kOwn));
    EXPECT_EQ(bytes[100], 'a');
    expect_exactly(then, "rolled back");
    bytes[100] = 'c';
    ASSERT_EQ(::munmap(at, kSize), 0);
    checkpoint();
    // It is over: what is written behind the mount now is noticed as such.
    ASSERT_EQ(actor().write("f", 100, "d"), 0);
    write_unseen("f", 100, "behind");
    EXPECT_KIND(ErrorKind::kConflict, operations().undo(World::asker(), 1, Consent::kAll));
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
}

TEST_F(UnseenTest, S67_a_killed_daemon_leaves_all_that_is_needed) {
    world_.reset();
    const pid_t child = ::fork();
    if (child == 0) {
        begin();
        const auto id = look_up("f");
        if (!world_->tree().begin_unseen(user(), id)) ::_exit(1);
        write_unseen("f", 0, "one");
        checkpoint("point");
        write_unseen("f", 0, "two");
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    write_unseen("f", 1000, "the writer goes on");
    begin();
    ASSERT_OK(operations().rollback(World::asker(), "point", false, Consent::kAll));
    EXPECT_EQ(content("f"), "one" + std::string(kSize - 3, 'o'));
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
    expect_no_problem();
}

// One made in the task, and one that lies in the attic.
TEST_F(UnseenTest, S67_who_is_left_of_a_killed_life_is_found_again) {
    world_.reset();
    const auto displaced = sys::open_at(AT_FDCWD, raw() / "f", O_RDWR);
    const pid_t child = ::fork();
    if (child == 0) {
        begin();
        make("made", "one");
        for (const char* name : {"made", "f"})
            if (!world_->tree().begin_unseen(user(), look_up(name))) ::_exit(1);
        checkpoint("point");
        if (actor().unlink("f") != 0) ::_exit(2);
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto made = sys::open_at(AT_FDCWD, raw() / "made", O_RDWR);
    ASSERT_TRUE(displaced.ok() && made.ok());
    const auto write_on = [&](std::string_view text) {
        for (const UniqueFd* fd : {&*displaced, &*made})
            ASSERT_OK(sys::write_all_at(fd->get(), std::as_bytes(std::span(text)), 0));
    };
    begin();
    EXPECT_EQ(world_->session().found().in_use, Lines({"made"}));
    write_on("two");
    const std::string second = checkpoint();
    write_on("six");
    ASSERT_OK(operations().rollback(World::asker(), "point", false, Consent::kAll));
    EXPECT_EQ(content("made"), "one");
    EXPECT_EQ(content("f"), std::string(kSize, 'o'));
    write_on("ten");
    const std::string third = checkpoint();
    write_on("old");
    ASSERT_OK(operations().rollback(World::asker(), second, false, Consent::kAll));
    EXPECT_EQ(content("made"), "two");
    ASSERT_OK(operations().rollback(World::asker(), third, false, Consent::kAll));
    EXPECT_EQ(content("made"), "ten");
    EXPECT_EQ(content("f").substr(0, 4), "teno");
    ASSERT_OK(discard_all());
    expect_exactly(root_, "discarded");
    expect_no_problem();
}

TEST_F(UnseenTest, S67_a_kill_at_the_end_of_a_restore_costs_not_where_it_leads) {
    const auto work = [&]() -> Result<> {
        TRY(world_->tree().begin_unseen(user(), look_up("f")));
        checkpoint("a");
        write_unseen("f", 0, "bbbb");
        checkpoint("b");
        write_unseen("f", 0, "cccc");
        TRY(operations().rollback(World::asker(), "a", false, Consent::kAll));
        return {};
    };
    for (const char* point : {"capture.adopt.before:1", "cross.unseen:1", "cross.arrive.after:2"})
        expect_after_a_kill(point, work, {{"a", "ooooo"}});
}

// Nothing was written since the last state, so the restore leaves none behind.
TEST_F(UnseenTest, S67_a_kill_before_an_idle_interval_is_left_costs_no_state) {
    const auto work = [&]() -> Result<> {
        TRY(world_->tree().begin_unseen(user(), look_up("f")));
        write_unseen("f", 0, "aaaa");
        checkpoint("a");
        write_unseen("f", 0, "bbbb");
        checkpoint("b");
        TRY(operations().rollback(World::asker(), "a", false, Consent::kAll));
        return {};
    };
    for (const char* point : {"cross.apply.before:1", "cross.unseen:1", "cross.arrive.before:1"})
        expect_after_a_kill(point, work, {{"a", "aaaao"}, {"b", "bbbbo"}});
}

TEST_F(UnseenTest, S67_many_that_begin_at_once_are_all_found_again) {
    constexpr int kFiles = 200;
    const auto name = [](int i) { return "n" + std::to_string(i); };
    ASSERT_TRUE(is_killed_at("seal.after:1", [&]() -> Result<> {
        for (int i = 0; i < kFiles; ++i)
            make(name(i), "one");
        std::vector<std::thread> threads;
        for (int first = 0; first < 8; ++first) {
            threads.emplace_back([&, first] {
                for (int i = first; i < kFiles; i += 8)
                    EXPECT_TRUE(world_->tree().begin_unseen(user(), look_up(name(i))).ok());
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        checkpoint();
        return {};
    }));
    std::vector<UniqueFd> writers;
    for (int i = 0; i < kFiles; ++i)
        writers.push_back(*sys::open_at(AT_FDCWD, raw() / name(i), O_RDWR));
    begin();
    EXPECT_EQ(world_->session().found().in_use.size(), std::size_t{kFiles});
}

// The edge that brings the name back was made when nobody had the file open.
TEST_F(UnseenTest, S48_what_is_written_in_the_attic_is_of_no_state_with_a_name) {
    const std::string with = checkpoint();
    ASSERT_EQ(actor().unlink("f"), 0);
    const std::string without = checkpoint();
    ASSERT_OK(operations().restore_paths(World::asker(), {"f"}, with, false));
    const std::string again = checkpoint();
    ASSERT_OK(operations().rollback(World::asker(), without, false, Consent::kAll));
    ASSERT_OK(operations().rollback(World::asker(), with, false, Consent::kAll));
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    const auto fd = sys::open_at(AT_FDCWD, raw() / "f", O_RDWR);
    ASSERT_TRUE(fd.ok());
    ASSERT_OK(operations().rollback(World::asker(), without, false, Consent::kAll));
    ASSERT_OK(sys::write_all_at(fd->get(), std::as_bytes(std::span("XXXX", 4)), 0));
    ASSERT_OK(operations().rollback(World::asker(), again, false, Consent::kAll));
    EXPECT_EQ(content("f"), std::string(kSize, 'o'));
    world_->tree().end_unseen(id, false);
}

// Layers of two states, one over the other, in the same blocks.
TEST_F(UnseenTest, S76_a_path_is_restored_across_states_while_it_is_open) {
    const auto id = look_up("f");
    ASSERT_OK(world_->tree().begin_unseen(user(), id));
    for (const char letter : {'a', 'b', 'c'}) {
        write_unseen("f", 60'000, std::string(50'000, letter));
        write_unseen("f", kSize, std::string(static_cast<std::size_t>(letter), letter));
        checkpoint();
    }
    ASSERT_OK(operations().restore_paths(World::asker(), {"f"}, "root", false));
    EXPECT_TRUE(content("f") == std::string(kSize, 'o'));
    world_->tree().end_unseen(id, false);
}

TEST_F(UnseenTest, A28_set_id_bits_do_not_survive_a_write_that_nobody_saw) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    constexpr uid_t kNobody = 65534;
    const auto id = look_up("f");
    const auto mode = [&] {
        struct stat st = {};
        EXPECT_EQ(::stat((raw() / "f").c_str(), &st), 0);
        return st.st_mode & 07777U;
    };
    for (const bool writes : {true, false}) {
        ASSERT_OK(world_->tree().begin_unseen(user(kNobody), id));
        ASSERT_EQ(actor().chmod("f", 04755), 0);
        if (writes) write_unseen("f", 0, "evil");
        world_->tree().end_unseen(id, false);
        EXPECT_EQ(mode(), writes ? 0755U : 04755U);
    }
    EXPECT_FALSE(world_->tree().costs_little_unseen(id)) << "its writes must be seen";
}

TEST_F(UnseenTest, S49_what_costs_little) {
    make("made", std::string(1'000'000, 'x'));
    EXPECT_TRUE(world_->tree().costs_little_unseen(look_up("made")));
    EXPECT_TRUE(world_->tree().costs_little_unseen(look_up("other")));
    EXPECT_FALSE(world_->tree().costs_little_unseen(look_up("f")));
    ASSERT_EQ(actor().truncate("f", 0), 0);
    EXPECT_TRUE(world_->tree().costs_little_unseen(look_up("f")));
    checkpoint();
    EXPECT_FALSE(world_->tree().costs_little_unseen(look_up("made")));
}

}  // namespace
}  // namespace unwrite::tests
