// What the tools may read and write, in words: the daemon judges.
#include <poll.h>

#include <cerrno>

#include "edit/text_safety.h"
#include "overlay/editing_files.h"

namespace unwrite::overlay {

namespace {

constexpr int kAskAgainMs = 100;
/// A request to the daemon holds so many bytes.
constexpr std::size_t kMostJudged = 600000;

std::string rule_words(const MayEdit& may) {
    return "'" + may.pattern + "' (" + may.source + ")" +
           (may.reason.empty() ? "" : ": " + may.reason);
}

Error refused_by(const MayEdit& may, const std::string& path) {
    const std::string shown = edit::displayed(path);
    const std::string rule = rule_words(may);
    if (may.denied) {
        return {ErrorKind::kRefused, EACCES, "Path '" + shown + "' was denied by the user: " + rule,
                "The user said no to this change. Do not try it again. Go on without it, or ask "
                "the user what to do instead."};
    }
    if (may.asks) {
        const std::string number = std::to_string(may.question);
        return {
            ErrorKind::kRefused, EACCES, "Path '" + shown + "' needs the user's approval: " + rule,
            may.question == 0 ? "Ask the user to allow it with `unwrite policy allow --agents " +
                                    shown + "`, and make the same call again."
                              : "Ask the user to run `unwrite approve " + number +
                                    "`, and make the same call again."};
    }
    const std::string advice =
        "Leave this file alone, or ask the user to allow it with `unwrite "
        "policy allow --agents " +
        shown + "`.";
    if (may.pattern.empty())
        return {ErrorKind::kRefused, EACCES,
                "Path '" + shown + "' is another name of a protected file", advice};
    return {ErrorKind::kRefused, EACCES, "Path '" + shown + "' matched denied pattern " + rule,
            advice};
}

// What the asker is told of a file that is missing, or cannot be made: the rule's words would give
// it away.
Error hidden(const EditAttempt& attempt) {
    const std::string shown = edit::displayed(attempt.path);
    if (!attempt.write) return {ErrorKind::kNotFound, ENOENT, shown + ": file missing"};
    return {ErrorKind::kRefused, EACCES, shown + ": permission denied",
            "Use another path, or ask the user to change the permissions of this one."};
}

}  // namespace

// While the question is open, the answer is that it waits. Another question means that the first
// was not answered in time.
Result<> EditFiles::permitted(EditAttempt attempt, const std::string* bytes) const {
    if (options_.judge == nullptr) return {};
    QuestionNumber asked = 0;
    for (;;) {
        TRY_ASSIGN(const MayEdit may, options_.judge->may_edit(attempt));
        if (may.hidden) return hidden(attempt);
        const bool is_small = bytes == nullptr || bytes->size() <= kMostJudged;
        if (may.by_content && !attempt.bytes && is_small) {
            attempt.bytes = bytes == nullptr ? std::string() : *bytes;
            attempt.goes = bytes == nullptr;
            continue;
        }
        if (may.granted || (may.asks && !attempt.ask)) return {};
        if (!may.waits || (asked != 0 && may.question != asked))
            return refused_by(may, attempt.path);
        asked = may.question;
        ::poll(nullptr, 0, kAskAgainMs);
        if (!options_.judge->is_wanted())
            return Error(ErrorKind::kRefused, ECANCELED, "The call was cancelled");
    }
}

// The mount has refused. The daemon says why, as far as it is the rules.
Error EditFiles::denied(const std::string& path, bool write) const {
    if (options_.judge != nullptr) {
        const auto may = options_.judge->may_edit({.path = path, .write = write});
        if (may && !may->hidden && (!may->granted || may->asks)) return refused_by(*may, path);
    }
    return {ErrorKind::kRefused, EACCES, edit::displayed(path) + ": permission denied",
            "Use another path, or ask the user to change the permissions of this one."};
}

Result<> EditFiles::allowed(const std::string& path, const std::string* bytes) {
    if (auto may = may_write(path, bytes, true); !may) {
        if (may.error().kind() != ErrorKind::kRefused) return may;
        const std::string message = may.error().message();
        const auto says = [&](const char* words) {
            return message.find(words) != std::string::npos;
        };
        return Error(ErrorKind::kRefused, EACCES,
                     says("matched denied pattern")   ? "denied pattern"
                     : says("was denied by the user") ? "denied by the user"
                                                      : "the user's approval is needed",
                     may.error().advice());
    }
    const auto place = place_of(path);
    if (!place && place.error().kind() == ErrorKind::kRefused) return place.error();
    return {};
}

Result<> EditFiles::may_make(const std::string& path) const {
    return permitted({.path = path, .write = true, .ask = true, .directory = true}, nullptr);
}

Result<> EditFiles::may_write(const std::string& path, const std::string* bytes, bool ask) const {
    return permitted({.path = path, .write = true, .ask = ask}, bytes);
}

std::string EditFiles::outlook(const std::string& path) const {
    if (options_.judge == nullptr) return "";
    const auto may = options_.judge->may_edit({.path = path, .write = true});
    if (!may || (may->granted && !may->asks)) return "";
    if (may->pattern.empty()) return "A rule for another name of this file forbids to change it.";
    const std::string words = may->by_content
                                  ? "A rule looks at what Edit writes here, and may ask the user: "
                              : may->asks ? "A rule asks the user before Edit changes this file: "
                                          : "A rule forbids Edit to change this file: ";
    return words + rule_words(*may) + ".";
}

}  // namespace unwrite::overlay
