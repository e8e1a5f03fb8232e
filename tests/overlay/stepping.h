// What the tests of steps share: runs of two agents, and the log as a line of text for each step.
#pragma once

#include <algorithm>
#include <functional>

#include "tests/overlay/looking.h"

namespace unwrite::tests {

class Stepping : public Looking {
 protected:
    static constexpr pid_t kOne = 5'000'101;
    static constexpr pid_t kTwo = 5'000'102;

    void SetUp() override {
        before("old", "old\n");
        begin();
        as_user();
    }
    void as(pid_t pid) { actor().set_caller({0, 0, pid, 0022}); }

    overlay::NodeNumber begin_run(pid_t pid, const std::string& text,
                                  const std::string& session = {}) {
        overlay::Asker asker = World::asker();
        asker.pid = pid;
        asker.session = session;
        const auto node = operations().begin_run(asker, text);
        EXPECT_TRUE(node.ok()) << node.error().message();
        return node ? node->number : 0;
    }
    void end_run(overlay::NodeNumber run) { ASSERT_OK(operations().end_run(run)); }
    void run(pid_t pid, const std::function<void()>& work) {
        const auto number = begin_run(pid, "work");
        as(pid);
        work();
        end_run(number);
        as_user();
    }
    std::string checkpoint_by(pid_t pid, const std::string& name) {
        overlay::Asker asker = World::asker();
        asker.pid = pid;
        const auto node = operations().checkpoint(asker, overlay::NodeKind::kCheckpoint, name, "");
        EXPECT_TRUE(node.ok()) << node.error().message();
        return node ? "n" + std::to_string(node->number) : "";
    }
    void mark(const std::string& text) {
        ASSERT_OK(operations().checkpoint(World::asker(), overlay::NodeKind::kBegin, "", text));
    }
    void step(const std::string& text) {
        ASSERT_OK(operations().checkpoint(World::asker(), overlay::NodeKind::kStep, "", text));
    }
    Result<overlay::Moved> undo(unsigned count) {
        return operations().undo(World::asker(), count, overlay::Consent::kAll);
    }
    Result<overlay::Moved> redo(unsigned count = 1) {
        return operations().redo(World::asker(), count, overlay::Consent::kAll);
    }
    Result<overlay::Moved> rollback(const std::string& node) {
        return operations().rollback(World::asker(), node, false, overlay::Consent::kAll);
    }
    std::uint64_t step_count() { return status().steps; }

    /// "run work: a b", "- checkpoint inner: a" of one that is part of a run, "now a", "root".
    Lines log() {
        Lines lines;
        for (const auto& [node, line] : log_with_nodes())
            lines.push_back(line);
        return lines;
    }
    /// "n7"; "" when no line is like that.
    std::string node_of(const std::string& wanted) {
        for (const auto& [node, line] : log_with_nodes()) {
            if (line == wanted) return node;
        }
        ADD_FAILURE() << "no line " << wanted << " in: " << joined(log(), "; ");
        return "";
    }
    /// Those that stand in the root directory, sorted.
    Lines files() {
        Lines names;
        for (const auto& entry : std::filesystem::directory_iterator(raw())) {
            const std::string name = entry.path().filename();
            if (!name.starts_with('.')) names.push_back(name);
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    static std::string joined(const Lines& words, const char* between = " ") {
        std::string text;
        for (const std::string& word : words)
            text += (text.empty() ? "" : between) + word;
        return text;
    }

 private:
    static std::string paths_of(const std::vector<overlay::Change>& changes) {
        Lines paths;
        for (const auto& change : changes)
            paths.push_back(change.path);
        return joined(paths);
    }
    std::vector<std::pair<std::string, std::string>> log_with_nodes() {
        static const std::map<overlay::NodeKind, std::string> kWords = {
            {overlay::NodeKind::kRoot, "root"}, {overlay::NodeKind::kCheckpoint, "checkpoint"},
            {overlay::NodeKind::kStep, "step"}, {overlay::NodeKind::kRun, "run"},
            {overlay::NodeKind::kUndo, "undo"}, {overlay::NodeKind::kMount, "mount"},
            {overlay::NodeKind::kTurn, "turn"}, {overlay::NodeKind::kBegin, "begin"},
        };
        std::vector<std::pair<std::string, std::string>> lines;
        const auto log = operations().log("", false, true);
        EXPECT_TRUE(log.ok()) << log.error().message();
        if (!log) return lines;
        if (!log->open_changes.empty())
            lines.emplace_back("", "now " + paths_of(log->open_changes));
        for (const auto& entry : log->entries) {
            std::string line = (entry.nested ? "- " : "") + kWords.at(entry.node.kind);
            for (const std::string& word : {entry.node.name, entry.node.text})
                line += word.empty() ? "" : " " + word;
            if (!entry.changes.empty()) line += ": " + paths_of(entry.changes);
            lines.emplace_back("n" + std::to_string(entry.node.number), line);
        }
        return lines;
    }
};

}  // namespace unwrite::tests
