#include "cli/decision.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/paths.h"
#include "cli/text.h"
#include "edit/patch_names.h"

namespace unwrite::cli {

using overlay::Change;
using overlay::ChangeKind;

namespace {

Error bad_line(std::size_t number, const std::string& why) {
    return Error(ErrorKind::kUsage, EINVAL, fmt::format("line {} of the script: {}", number, why),
                 "a line is `accept PATH`, `reject PATH` or `accept-hunks 1,3 PATH`");
}

std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

Result<std::vector<std::uint64_t>> parse_hunks(std::string_view words, std::size_t line) {
    std::vector<std::uint64_t> hunks;
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(','), words.size());
        const Result<std::uint64_t> number = parse_number(std::string(words.substr(0, end)));
        if (!number || *number == 0) return bad_line(line, "the hunks are numbers from 1");
        hunks.push_back(*number);
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    if (hunks.empty()) return bad_line(line, "it names no hunk");
    return hunks;
}

Result<std::string> parse_path(std::string_view text, std::size_t line) {
    if (text.empty()) return bad_line(line, "it names no path");
    if (text.front() != '"') return std::string(text);
    auto quoted = edit::unquoted_name(text);
    if (!quoted || quoted->length != text.size())
        return bad_line(line, "the quotes of the path are not closed");
    return std::move(quoted->name);
}

Result<Judgement> parse_line(std::string_view line, std::size_t number) {
    Judgement judgement;
    const std::string_view verb = take_word(line);
    if (verb == "accept") {
        judgement.verdict = Verdict::kAccept;
    } else if (verb == "reject") {
        judgement.verdict = Verdict::kReject;
    } else if (verb == "accept-hunks") {
        judgement.verdict = Verdict::kParts;
        TRY_ASSIGN(judgement.hunks, parse_hunks(take_word(line), number));
    } else {
        return bad_line(number, quote_name(verb) + " is not a word of a script");
    }
    TRY_ASSIGN(judgement.path, parse_path(line, number));
    return judgement;
}

// The topmost directory made in the task of which everything is rejected; the path itself when
// there is none.
std::string topmost_rejected(const std::string& path, const std::vector<Judged>& judged,
                             const std::vector<Change>& changes) {
    const auto made = std::find_if(changes.begin(), changes.end(), [&](const Change& change) {
        return change.kind == ChangeKind::kCreated && S_ISDIR(change.type) &&
               is_at_or_below(path, change.path);
    });
    if (made == changes.end()) return path;
    for (std::size_t end = made->path.size(); end < path.size(); end = path.find('/', end + 1)) {
        const std::string above = path.substr(0, end);
        const bool all = std::all_of(judged.begin(), judged.end(), [&](const Judged& one) {
            return one.verdict == Verdict::kReject || !is_at_or_below(one.change.path, above);
        });
        if (all) return above;
    }
    return path;
}

}  // namespace

Result<std::vector<Judgement>> parse_judgements(std::string_view text) {
    std::vector<Judgement> judgements;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        TRY_ASSIGN(judgements.emplace_back(), parse_line(line, number));
    }
    return judgements;
}

overlay::Decision decision_of(const std::vector<Judged>& judged,
                              const std::vector<Change>& changes) {
    overlay::Decision decision;
    std::set<std::string> take_back;
    for (const Judged& one : judged) {
        if (one.verdict == Verdict::kAccept) decision.keep.push_back(one.change.path);
        if (one.verdict == Verdict::kParts)
            decision.parts.push_back({one.change.path, one.hunks, one.seen});
        if (one.verdict != Verdict::kReject) continue;
        take_back.insert(topmost_rejected(one.change.path, judged, changes));
        if (one.change.kind == ChangeKind::kRenamed) take_back.insert(one.change.old_path);
    }
    decision.take_back.assign(take_back.begin(), take_back.end());
    return decision;
}

std::string decided_words(const overlay::Decided& decided, Saying saying, Colour colour) {
    const std::size_t most = saying == Saying::kDone ? 40 : 0;
    std::string text;
    if (!decided.kept.empty()) {
        text += saying == Saying::kDone
                    ? "Accepted for good; these changes can no longer be undone:\n"
                    : "Would be accepted for good:\n";
        text += change_lines(decided.kept, most, colour);
    }
    for (const auto& needed : decided.needed) {
        text +=
            "  " + quote_name(needed.path) + " is accepted too: " + harmless(needed.reason) + "\n";
    }
    if (!decided.taken_back.empty()) {
        text += saying == Saying::kDone ? "Taken back:\n" : "Would be taken back:\n";
        text += change_lines(decided.taken_back, most, colour);
    }
    if (decided.given_up > 0) {
        text += "  " + counted(decided.given_up, "abandoned state", "abandoned states") +
                " with other versions of these files " +
                (saying == Saying::kDone ? "removed" : "would be removed") + "\n";
    }
    if (decided.from != 0)
        text +=
            fmt::format("\"unwrite redo\" brings back what was taken back (n{}).\n", decided.from);
    return text;
}

void print_decided(Context& context, const overlay::Decided& decided, bool dry_run) {
    if (context.json) {
        context.out.line(control::dump(control::encode(decided)));
        return;
    }
    context.out.print(decided_words(decided, dry_run ? Saying::kForeseen : Saying::kDone,
                                    context.out.has_colour() ? Colour::kYes : Colour::kNo));
}

}  // namespace unwrite::cli
