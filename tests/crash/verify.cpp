#include "tests/crash/verify.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>

#include "overlay/reverts.h"
#include "tests/crash/child.h"
#include "tests/crash/driver.h"
#include "tests/crash/scenarios.h"

namespace unwrite::tests {

namespace fs = std::filesystem;

namespace {

std::string read_text(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string numbered(const std::string& progress, const char* what, std::size_t number) {
    return progress + "/" + what + "." + std::to_string(number);
}

/// One look at a workspace that was left behind.
class Autopsy {
 public:
    Autopsy(const std::string& directory, const std::string& progress, const Operations& operations,
            const Reference& reference)
        : world_(directory), progress_(progress), operations_(operations), reference_(reference) {
        const std::string at = read_text(progress + "/at");
        at_ = at == "done" ? operations.size() : std::stoul(at);
    }

    std::string run() {
        std::string wrong = problems();
        if (wrong.empty()) wrong = live_state();
        if (wrong.empty()) wrong = waiting_reverts();
        if (wrong.empty()) wrong = way_back();
        if (wrong.empty()) wrong = checkpoints();
        if (wrong.empty()) wrong = root();
        if (wrong.empty()) wrong = problems();
        const std::string at = at_ < operations_.size() ? text_of(operations_[at_]) : "the end";
        return wrong.empty() ? "" : "operation " + std::to_string(at_) + " (" + at + "): " + wrong;
    }

 private:
    std::string problems() {
        const auto checked = world_.operations().check(false);
        if (!checked) return "check: " + checked.error().message();
        return checked->problems.empty() ? "" : "check: " + checked->problems.front();
    }
    std::string live_state();
    std::string waiting_reverts();
    std::string way_back();
    std::string checkpoints();
    std::string root();
    std::optional<std::size_t> same_as_earlier() const;
    std::string not_as(const Snapshot& then, std::size_t since, const Snapshot& now) const;

    World world_;
    std::string progress_;
    const Operations& operations_;
    const Reference& reference_;
    std::size_t at_ = 0;
};

// The state after a move is one that was there before; its times must be right as well.
std::optional<std::size_t> Autopsy::same_as_earlier() const {
    if (is_change(operations_[at_].kind)) return std::nullopt;
    for (std::size_t i = 0; i <= at_; ++i) {
        if (difference(reference_.states[i], reference_.states[at_ + 1]).empty()) return i;
    }
    return std::nullopt;
}

// A state from before operation `since`, but for what was kept for good later. In the operation
// that keeps it, it may be so or not.
std::string Autopsy::not_as(const Snapshot& then, std::size_t since, const Snapshot& now) const {
    Snapshot wanted = then;
    for (std::size_t i = since; i < operations_.size() && i <= at_; ++i) {
        if (operations_[i].kind != Kind::kDecide) continue;
        if (i == at_ && difference(wanted, now).empty()) return {};
        const std::string& kept = operations_[i].a;
        wanted.at(kept) = load_snapshot(numbered(progress_, "before", i)).at(kept);
    }
    return difference(wanted, now);
}

std::string Autopsy::live_state() {
    const Snapshot live = world_.look();
    const std::string from_before =
        difference(load_snapshot(numbered(progress_, "before", at_)), live);
    if (from_before.empty()) return {};
    if (at_ == operations_.size()) return "the end (a) is not what is there (b):\n" + from_before;
    const auto earlier = same_as_earlier();
    const std::string from_after =
        earlier ? difference(load_snapshot(numbered(progress_, "before", *earlier)), live)
                : difference(reference_.states[at_ + 1], live, Times::kIgnore);
    if (from_after.empty()) return {};
    return "neither the state before (a), where b is what is there:\n" + from_before +
           "nor the state after (a):\n" + from_after;
}

// A request that was noted is carried out after the kill; one that was carried out is not again.
std::string Autopsy::waiting_reverts() {
    const auto done = overlay::reverts_of(world_.operations())->apply_reverts(World::asker());
    if (!done) return "apply_reverts: " + done.error().message();
    if (done->empty()) return {};
    if (at_ == operations_.size() || operations_[at_].kind != Kind::kRevertToState)
        return "a request waits that was never made";
    const auto earlier = same_as_earlier();
    const Snapshot live = world_.look();
    const std::string wrong =
        earlier ? difference(load_snapshot(numbered(progress_, "before", *earlier)), live)
                : difference(reference_.states[at_ + 1], live, Times::kIgnore);
    return wrong.empty() ? "" : "the request should have led to a, there is b:\n" + wrong;
}

// What an undo took back before it was killed, or in recovery, redo brings again.
std::string Autopsy::way_back() {
    if (at_ == operations_.size()) return {};
    const Operation& operation = operations_[at_];
    if (operation.kind != Kind::kUndo) return {};
    const Snapshot before = load_snapshot(numbered(progress_, "before", at_));
    if (difference(before, world_.look()).empty()) return {};
    const auto redone = world_.operations().redo(World::asker(), static_cast<unsigned>(operation.x),
                                                 overlay::Consent::kAll);
    if (!redone) return "redo: " + redone.error().message();
    const std::string wrong = difference(before, world_.look());
    return wrong.empty() ? "" : "redo: it was a, is b:\n" + wrong;
}

std::string Autopsy::checkpoints() {
    const auto log = world_.operations().log("", true, false);
    if (!log) return "log: " + log.error().message();
    std::set<journal::NodeNumber> there;
    for (const auto& entry : log->entries)
        there.insert(entry.node.number);
    const auto end =
        operations_.begin() + static_cast<std::ptrdiff_t>(std::min(at_ + 1, operations_.size()));
    const bool may_be_gone = std::any_of(operations_.begin(), end, [](const Operation& op) {
        return op.kind == Kind::kCommit || op.kind == Kind::kGc ||
               (op.kind == Kind::kDiscard && op.x != 0);
    });
    for (const auto& file : fs::directory_iterator(progress_)) {
        const std::string name = file.path().filename();
        if (!name.starts_with("node.") || name.ends_with(".new")) continue;
        const auto number = std::stoull(name.substr(5));
        if (!there.contains(number)) {
            if (may_be_gone) continue;
            return "n" + name.substr(5) + " is gone";
        }
        const auto moved = world_.operations().rollback(World::asker(), "n" + name.substr(5), false,
                                                        overlay::Consent::kAll);
        if (!moved) return "rollback to n" + name.substr(5) + ": " + moved.error().message();
        const auto made = std::find_if(operations_.begin(), operations_.end(), [&](const auto& op) {
            return op.kind == Kind::kCheckpoint;
        });
        const auto since = static_cast<std::size_t>(made - operations_.begin());
        const std::string wrong = not_as(load_snapshot(file.path()), since, world_.look());
        if (!wrong.empty()) return "n" + name.substr(5) + " was a, is b:\n" + wrong;
    }
    return {};
}

std::string Autopsy::root() {
    std::size_t since = at_;
    while (since > 0 && !fs::exists(numbered(progress_, "root", since)))
        --since;
    const auto moved = world_.operations().discard(World::asker(), false, overlay::Consent::kAll);
    if (!moved && moved.error().kind() != ErrorKind::kNothing)
        return "discard: " + moved.error().message();
    const Snapshot live = world_.look();
    const std::string wrong =
        not_as(load_snapshot(numbered(progress_, "root", since)), since, live);
    if (wrong.empty()) return {};
    const bool committing = at_ < operations_.size() && operations_[at_].kind == Kind::kCommit;
    if (committing && difference(load_snapshot(numbered(progress_, "before", at_)), live).empty())
        return {};
    return "discard: the root was a, is b:\n" + wrong;
}

}  // namespace

Reference make_reference(const std::string& scenario_name) {
    const Site site;
    if (run_driver({"run", scenario_name, site.directory(), site.progress()}, "") != Ended::kWell) {
        throw std::runtime_error("the scenario " + scenario_name + " fails by itself");
    }
    Reference reference;
    for (std::size_t i = 0; i <= scenario(scenario_name).size(); ++i) {
        reference.states.push_back(load_snapshot(numbered(site.progress(), "before", i)));
    }
    return reference;
}

Site::Site() {
    path_ = (fs::temp_directory_path() / "unwrite-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp " + path_);
    fs::create_directory(directory());
    fs::create_directory(progress());
    fs::permissions(directory(), fs::perms(0755));  // a session changes the umask
    furnish(directory());
    furnished_ = snapshot(directory());
}

Site::~Site() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string Site::verify(const std::string& scenario_name, const Reference& reference) const {
    try {
        const std::string at = read_text(progress() + "/at");
        if (at.empty() || at == "open") {
            // Killed while it opened: nothing has changed, and it can be opened again. (The state
            // directory changes the root's time.)
            const World world(directory());
            const std::string wrong = difference(furnished_, world.look(), Times::kIgnore);
            return wrong.empty() ? "" : "opening changed a to b:\n" + wrong;
        }
        return Autopsy(directory(), progress(), scenario(scenario_name), reference).run();
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

}  // namespace unwrite::tests
