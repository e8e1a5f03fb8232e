// What the tests of status, log and diff share: a world on a scratch directory, and changes as one
// line of text each.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <ctime>
#include <filesystem>

#include "base/crash_point.h"
#include "tests/support/scratch.h"
#include "tests/support/world.h"

namespace unwrite::tests {

inline const char* kind_name(overlay::ChangeKind kind) {
    static constexpr const char* kNames[] = {"created", "deleted", "modified", "renamed",
                                             "attributes"};
    return kNames[static_cast<int>(kind)];
}

/// "renamed a -> b +content", "created d/ (3 below, 12 bytes)".
inline std::string line_of(const overlay::Change& change) {
    std::string line = std::string(kind_name(change.kind)) + ' ';
    if (change.kind == overlay::ChangeKind::kRenamed) line += change.old_path + " -> ";
    line += change.path;
    if (S_ISDIR(change.type)) line += '/';
    const bool both = change.kind == overlay::ChangeKind::kRenamed ||
                      change.kind == overlay::ChangeKind::kModified;
    if (both && change.kind == overlay::ChangeKind::kRenamed && change.content) line += " +content";
    if (both && change.attributes) line += " +attributes";
    if (change.below > 0)
        line += " (" + std::to_string(change.below) + " below, " + std::to_string(change.bytes) +
                " bytes)";
    return line;
}

inline std::vector<std::string> lines_of(const std::vector<overlay::Change>& changes) {
    std::vector<std::string> lines;
    for (const auto& change : changes)
        lines.push_back(line_of(change));
    return lines;
}

using Lines = std::vector<std::string>;

class Looking : public ::testing::Test {
 protected:
    /// What is there before the session begins.
    void before(const std::string& path, std::string_view text) {
        // A session of an earlier case may have left another one.
        const mode_t was = ::umask(022);
        std::filesystem::create_directories((raw() / path).parent_path());
        ::umask(was);
        scratch_.write("work/" + path, text);
        std::filesystem::permissions(raw() / path, std::filesystem::perms{0644});
    }
    void begin() {
        std::filesystem::create_directories(raw());
        world_.emplace(raw().string());
    }
    std::filesystem::path raw() const { return scratch_.path() / "work"; }

    TreeActor& actor() { return world_->actor(); }
    overlay::Operations& operations() { return world_->operations(); }

    void make(const std::string& path, std::string_view text) {
        ASSERT_EQ(actor().create(path, 0644), 0) << path;
        ASSERT_EQ(actor().write(path, 0, text), 0) << path;
    }
    void replace(const std::string& path, std::string_view text) {
        ASSERT_EQ(actor().truncate(path, 0), 0) << path;
        ASSERT_EQ(actor().write(path, 0, text), 0) << path;
    }
    /// As editors do: a new file, renamed over the old one.
    void save(const std::string& path, std::string_view text, const std::string& by = ".tmp") {
        make(path + by, text);
        ASSERT_EQ(actor().rename(path + by, path, 0), 0) << path;
    }
    /// Above what the kernel gives out: found by the run it is registered for.
    static constexpr pid_t kAgent = 5'000'001;
    /// Begins a run of session "agent"; the number of its node, "" after a failure.
    std::string begin_run() {
        overlay::Asker asker = World::asker();
        asker.pid = kAgent;
        asker.session = "agent";
        const auto node = operations().begin_run(asker, "work");
        EXPECT_TRUE(node.ok()) << node.error().message();
        return node ? "n" + std::to_string(node->number) : "";
    }
    /// Until what is made now has a birth time after the task's begin, which the kernel's clock
    /// counts in steps.
    void later() {
        const auto log = operations().log("", true, false);
        ASSERT_TRUE(log.ok());
        const std::int64_t began = log->entries.back().node.time_ns;
        for (std::int64_t now = 0; now <= began;) {
            timespec time{};
            ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
            now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
        }
    }
    void as_agent() { actor().set_caller({0, 0, kAgent, 0022}); }
    void as_user() { actor().set_caller({0, 0, ::getpid(), 0022}); }
    void expect_conflict(const std::string& what, const std::string& path) {
        const Snapshot was = world_->look();
        const auto moved = operations().revert(World::asker(), what, false);
        ASSERT_FALSE(moved.ok());
        EXPECT_EQ(moved.error().kind(), ErrorKind::kConflict) << moved.error().message();
        EXPECT_NE((moved.error().message() + moved.error().advice()).find(path), std::string::npos);
        EXPECT_EQ(difference(was, world_->look()), "");
    }
    std::string checkpoint(const std::string& name = {}) {
        const auto node =
            operations().checkpoint(World::asker(), overlay::NodeKind::kCheckpoint, name, "");
        EXPECT_TRUE(node.ok()) << node.error().message();
        return node ? "n" + std::to_string(node->number) : "";
    }
    overlay::Status status(const std::string& since = {}) {
        auto status = operations().status(since, true);
        EXPECT_TRUE(status.ok()) << status.error().message();
        return status ? *std::move(status) : overlay::Status();
    }
    Lines changes(const std::string& since = {}) { return lines_of(status(since).changes); }
    /// All texts of a diff, one after the other.
    std::string patch(const std::string& from = {}, const std::string& to = {},
                      const std::vector<std::string>& paths = {}) {
        const auto diffs = operations().diff(from, to, paths, true);
        EXPECT_TRUE(diffs.ok()) << diffs.error().message();
        std::string text;
        if (diffs) {
            for (const auto& diff : *diffs)
                text += diff.text;
        }
        return text;
    }
    /// A copy of the raw directory as it is, without the state directory.
    std::string copy_to(const std::string& name) const {
        const auto to = scratch_.path() / name;
        run("cp -a '" + raw().string() + "' '" + to.string() + "' && rm -rf '" + to.string() +
            "/.unwrite'");
        return to.string();
    }
    /// `work` in a process of its own, with the world begun there, killed at a crash point ("*:3"
    /// the third, "name:1"). False when it came to its end, which must be a good one.
    template <typename Work>
    bool is_killed_at(const std::string& point, const Work& work) {
        world_.reset();
        const pid_t child = ::fork();
        if (child == 0) {
            ::setenv("UNWRITE_CRASH_AT", point.c_str(), 1);
            reset_crash_points();
            begin();
            ::_exit(work().ok() ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) {
            EXPECT_EQ(WTERMSIG(status), SIGKILL) << point;
            return true;
        }
        EXPECT_EQ(WEXITSTATUS(status), 0) << point;
        return false;
    }
    auto discard_all() {
        return operations().discard(World::asker(), false, overlay::Consent::kAll);
    }
    static int run(const std::string& command) {
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    /// True when `git apply` takes the patch in that directory.
    bool git_applies(const std::string& directory, const std::string& patch) const {
        scratch_.write("patch", patch);
        return run("cd '" + directory +
                   "' && GIT_CEILING_DIRECTORIES=/ git apply --allow-empty --whitespace=nowarn '" +
                   (scratch_.path() / "patch").string() + "'") == 0;
    }
    void TearDown() override { world_.reset(); }

    Scratch scratch_;
    std::optional<World> world_;
};

}  // namespace unwrite::tests
