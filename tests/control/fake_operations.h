// Operations that remember what they were asked and answer with what the test put there.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::control {

inline std::string words(overlay::Consent consent) {
    switch (consent) {
        case overlay::Consent::kNone:
            return " dry";
        case overlay::Consent::kOwn:
            return " own";
        case overlay::Consent::kAll:
            return "";
    }
    return "";
}

class FakeOperations : public overlay::Operations {
 public:
    using Asker = overlay::Asker;
    using Moved = overlay::Moved;
    using Node = overlay::Node;

    std::vector<std::string> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    Asker last_asker() const {
        const std::lock_guard lock(mutex_);
        return asker_;
    }

    Moved moved;  ///< what every restore answers
    overlay::Status status_answer;
    overlay::Counted count_answer;
    std::atomic<int> hold_status_ms{0};
    Result<> failure;  ///< what commit answers when it failed

    Result<Node> checkpoint(const Asker& asker, overlay::NodeKind kind, const std::string& name,
                            const std::string& text) override {
        note(asker, "checkpoint " + name + "," + text);
        Node node;
        node.number = 7;
        node.kind = kind;
        node.name = name;
        return node;
    }
    std::atomic<overlay::NodeNumber> next_run{5};
    Result<Node> begin_run(const Asker& asker, const std::string& text) override {
        note(asker, "begin_run " + text);
        Node node;
        node.number = next_run;
        node.kind = overlay::NodeKind::kRun;
        return node;
    }
    Result<> end_run(overlay::NodeNumber run) override {
        note({}, "end_run " + std::to_string(run));
        return {};
    }
    Result<Moved> rollback(const Asker& asker, const std::string& node, bool pop,
                           overlay::Consent consent) override {
        note(asker, "rollback " + node + (pop ? " pop" : "") + words(consent));
        return moved;
    }
    Result<Moved> undo(const Asker& asker, unsigned count, overlay::Consent consent) override {
        note(asker, "undo " + std::to_string(count) + words(consent));
        return moved;
    }
    Result<Moved> revert(const Asker& asker, const std::string& what, bool dry) override {
        note(asker, "revert " + what + (dry ? " dry" : ""));
        return moved;
    }
    Result<Moved> redo(const Asker& asker, unsigned count, overlay::Consent consent) override {
        note(asker, "redo " + std::to_string(count) + words(consent));
        return moved;
    }
    Result<Moved> discard(const Asker& asker, bool purge, overlay::Consent consent) override {
        note(asker, std::string("discard") + (purge ? " purge" : "") + words(consent));
        return moved;
    }
    Result<Node> commit(const Asker& asker, const std::string& text, bool keep) override {
        note(asker, "commit " + text + (keep ? " keep" : ""));
        if (!failure) return failure.error();
        return Node{};
    }
    Result<overlay::Decided> decide(const Asker& asker, const overlay::Decision& decision,
                                    bool dry) override {
        std::string all = "decide";
        for (const std::string& path : decision.keep)
            all += " +" + path;
        for (const std::string& path : decision.take_back)
            all += " -" + path;
        for (const auto& part : decision.parts)
            all += " ~" + part.path + ":" + std::to_string(part.hunks.size());
        note(asker, all + " " + decision.text + (dry ? " dry" : ""));
        return overlay::Decided{.needed = {{"d\xff", "why"}}, .given_up = 2};
    }
    Result<Moved> restore_paths(const Asker& asker, const std::vector<std::string>& paths,
                                const std::string& node, bool dry) override {
        std::string all;
        for (const std::string& path : paths)
            all += path + ",";
        note(asker, "restore_paths " + all + node + (dry ? " dry" : ""));
        return moved;
    }
    Result<overlay::Status> status(const std::string& since, bool count_lines) override {
        note({}, "status " + since + (count_lines ? " lines" : ""));
        if (hold_status_ms > 0) ::usleep(static_cast<useconds_t>(hold_status_ms * 1000));
        return status_answer;
    }
    Result<overlay::Counted> count() override {
        note({}, "count");
        return count_answer;
    }
    Result<overlay::NodeNumber> marked() override {
        note({}, "marked");
        return overlay::NodeNumber{7};
    }
    Result<overlay::Log> log(const std::string& path, bool all, bool changes) override {
        note({}, "log " + path + (all ? " all" : "") + (changes ? " changes" : ""));
        return overlay::Log{};
    }
    Result<std::vector<Node>> trunk(overlay::NodeNumber from, std::size_t most) override {
        note({}, "trunk " + std::to_string(from) + " " + std::to_string(most));
        std::vector<Node> nodes(2);
        nodes[1].text = "n\xff";
        return nodes;
    }
    Result<std::vector<overlay::FileDiff>> diff(const std::string& from, const std::string& to,
                                                const std::vector<std::string>& paths,
                                                bool text) override {
        note({}, "diff " + from + ".." + to + " " + std::to_string(paths.size()) +
                     (text ? " text" : ""));
        return std::vector<overlay::FileDiff>(2);
    }
    Result<std::vector<std::string>> marks(const std::vector<std::string>& paths) override {
        note({}, "marks " + std::to_string(paths.size()));
        return std::vector<std::string>(paths.size(), "m\xff");
    }
    Result<overlay::Collected> gc(const overlay::Retention& retention) override {
        note({}, "gc " + std::to_string(retention.max_age_seconds));
        return overlay::Collected{1, 2, 3};
    }
    Result<overlay::Checked> check(bool repair) override {
        note({}, std::string("check") + (repair ? " repair" : ""));
        return overlay::Checked{};
    }
    Result<> recover() override {
        note({}, "recover");
        return {};
    }

 private:
    void note(const Asker& asker, const std::string& what) {
        const std::lock_guard lock(mutex_);
        asker_ = asker;
        asked_.push_back(what);
    }
    mutable std::mutex mutex_;
    std::vector<std::string> asked_;
    Asker asker_;
};

}  // namespace unwrite::control
