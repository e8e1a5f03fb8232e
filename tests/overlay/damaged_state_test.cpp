// Files of the state directory that are damaged: what depends on them is refused, and never wrong.
#include <gtest/gtest.h>

#include "journal/sqlite.h"
#include "tests/overlay/damaging.h"
#include "tests/support/packing.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class DamagedState : public Damaging {
 protected:
    /// Three steps after the start, each with a state; the session is closed.
    void make_history() {
        world_.reset();
        std::filesystem::remove_all(raw());
        before("big", std::string(200'000, 'b'));
        before("text", "as it was");
        before("gone", "only copy");
        before("d/in", "in");
        begin();
        states_ = {world_->look()};
        nodes_ = {"root"};
        EXPECT_EQ(actor().write("big", 70'000, std::string(50'000, 'x')), 0);
        EXPECT_EQ(actor().unlink("gone"), 0);
        make("d/made", "made");
        note();
        replace("text", "changed");
        EXPECT_EQ(actor().rename("d", "e", 0), 0);
        EXPECT_EQ(actor().write("big", 0, std::string(90'000, 'y')), 0);
        note();
        EXPECT_EQ(actor().chmod("text", 0600), 0);
        EXPECT_EQ(actor().unlink("e/in"), 0);
        note();
        last_ = world_->look();
        world_.reset();
    }
    void note() {
        states_.push_back(world_->look());
        nodes_.push_back(checkpoint());
    }
    std::filesystem::path delta(const std::string& file) const {
        return raw() / ".unwrite" / "deltas" / file;
    }
    /// Opens it, and waits until all that was captured has checksums.
    void begin_proved() {
        begin_proving();
        wait_for_proof();
        world_.reset();
    }
    /// Every state is refused or exact, and a refusal changes nothing. How many were refused.
    unsigned go_everywhere(const std::string& what) {
        unsigned refused = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Snapshot was = world_->look();
            const auto moved =
                operations().rollback(World::asker(), nodes_[i], false, Consent::kAll);
            if (!moved) {
                EXPECT_EQ(moved.error().kind(), ErrorKind::kCorrupt) << moved.error().message();
                EXPECT_EQ(difference(was, world_->look()), "") << what << ": " << nodes_[i];
            } else {
                EXPECT_EQ(difference(states_[i], world_->look()), "") << what << ": " << nodes_[i];
            }
            refused += moved ? 0U : 1U;
        }
        return refused;
    }

    std::vector<std::string> nodes_;
    std::vector<Snapshot> states_;
    Snapshot last_;
};

TEST_F(DamagedState, S76_a_log_that_is_missing_or_shorter_is_refused) {
    using Damage = std::function<void(const std::filesystem::path&)>;
    const std::vector<std::pair<std::string, Damage>> damages = {
        {"missing", [](const auto& file) { std::filesystem::remove(file); }},
        {"empty", [](const auto& file) { std::filesystem::resize_file(file, 0); }},
        {"header alone", [](const auto& file) { std::filesystem::resize_file(file, 28); }},
        {"a record less",
         [](const auto& file) {
             std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
         }},
        {"half",
         [](const auto& file) {
             std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
         }},
    };
    for (const auto& [how, damage] : damages) {
        for (const std::string log : {"1.log", "2.log", "3.log"}) {
            make_history();
            ASSERT_TRUE(std::filesystem::exists(delta(log)));
            damage(delta(log));
            begin();
            EXPECT_GT(go_everywhere(log + " is " + how), 0U) << log << " " << how;
            ASSERT_ASSIGN(const auto checked, operations().check(false));
            EXPECT_FALSE(checked.problems.empty()) << log << " " << how;
        }
    }
}

TEST_F(DamagedState, S76_captured_bytes_that_are_missing_are_refused) {
    for (const bool removed : {true, false}) {
        make_history();
        if (removed) std::filesystem::remove(delta("2.dat"));
        if (!removed) std::filesystem::resize_file(delta("2.dat"), 10);
        begin();
        EXPECT_GT(go_everywhere("2.dat"), 0U);
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_FALSE(checked.problems.empty());
    }
}

// A disk may change a bit, and whoever copies files about may put one in the place of another.
TEST_F(DamagedState, S76_captured_bytes_that_are_not_what_they_were_are_refused) {
    using Damage = std::function<void()>;
    const std::vector<std::pair<std::string, Damage>> damages = {
        {"first bit", [this] { flip(delta("1.dat"), 0, 2); }},
        {"later bit", [this] { flip(delta("2.dat"), 60'000, 2); }},
        {"swapped",
         [this] {
             std::filesystem::rename(delta("1.dat"), delta("x"));
             std::filesystem::rename(delta("2.dat"), delta("1.dat"));
             std::filesystem::rename(delta("x"), delta("2.dat"));
         }},
        {"doubled",
         [this] {
             std::filesystem::copy_file(delta("1.dat"), delta("2.dat"),
                                        std::filesystem::copy_options::overwrite_existing);
         }},
    };
    for (const bool packed : {false, true}) {
        for (const auto& [how, damage] : damages) {
            make_history();
            begin_proved();
            damage();
            if (packed) pack_all(raw().string());
            begin();
            EXPECT_GT(go_everywhere(how), 0U) << how;
            ASSERT_ASSIGN(const auto checked, operations().check(false));
            EXPECT_FALSE(checked.problems.empty()) << how;
        }
    }
}

TEST_F(DamagedState, S76_one_path_is_refused_or_exact_and_others_come_back) {
    make_history();
    begin_proved();
    flip(delta("1.dat"), 10, 2);
    begin();
    const Snapshot was = world_->look();
    const auto refused = operations().restore_paths(World::asker(), {"big"}, "root", false);
    EXPECT_KIND(ErrorKind::kCorrupt, refused);
    EXPECT_NE(failure_of(refused).find("\n  big"), std::string::npos) << failure_of(refused);
    EXPECT_EQ(difference(was, world_->look()), "");
    EXPECT_EQ(changes().size(), 6U) << "it is listed as all else is";
    ASSERT_OK(operations().restore_paths(World::asker(), {"gone"}, "root", false));
    EXPECT_EQ(world_->look().at("gone"), states_.front().at("gone"));
}

// Nothing that was captured is lost with it.
TEST_F(DamagedState, S76_without_the_checksums_all_comes_back) {
    for (const bool removed : {true, false}) {
        make_history();
        begin_proved();
        const auto file = raw() / ".unwrite/checksums.log";
        if (removed) std::filesystem::remove(file);
        if (!removed) flip(file, 30, 2);
        begin();
        EXPECT_EQ(go_everywhere("checksums.log"), 0U);
    }
}

TEST_F(DamagedState, S76_all_is_exact_where_nothing_is_damaged) {
    make_history();
    begin();
    EXPECT_EQ(go_everywhere("nothing"), 0U);
    ASSERT_OK(operations().rollback(World::asker(), nodes_.back(), false, Consent::kAll));
    EXPECT_EQ(difference(last_, world_->look()), "");
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems, std::vector<std::string>());
}

// A state directory of the version before, which had no seals.
TEST_F(DamagedState, S76_a_state_directory_without_seals_gets_them) {
    const auto make_old = [this] {
        make_history();
        ASSERT_ASSIGN(const UniqueFd state, sys::open_at(AT_FDCWD, (raw() / ".unwrite").string(),
                                                         O_RDONLY | O_DIRECTORY));
        ASSERT_ASSIGN(journal::Database database,
                      journal::Database::open(state.get(), "journal.db"));
        ASSERT_OK(database.execute("DROP TABLE seals; PRAGMA user_version = 2"));
    };
    make_old();
    begin();
    EXPECT_EQ(go_everywhere("old"), 0U);
    make_old();
    begin();
    world_.reset();
    std::filesystem::remove(delta("2.log"));
    begin();
    EXPECT_GT(go_everywhere("old, and damaged later"), 0U);
}

}  // namespace
}  // namespace unwrite::tests
