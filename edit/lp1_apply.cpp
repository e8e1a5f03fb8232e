#include <algorithm>
#include <cerrno>
#include <iterator>

#include "edit/lp1.h"
#include "edit/search.h"
#include "edit/similar_lines.h"

namespace unwrite::edit {

namespace {

// Each operation may look at every line and move it. This many take a part of a second, and are
// a hundred times what a patch needs that someone wrote.
constexpr std::uint64_t kMaxSteps = 20'000'000;

using Rows = std::vector<std::string>;

Error failed(const char* reason) {
    return {ErrorKind::kUsage, EINVAL, reason};
}

// The texts of lines, for find_all().
struct Texts {
    const std::vector<TextLine>& lines;
    const std::string& operator[](std::size_t at) const { return lines[at].text; }
};

// Lines from `at` on; none for the gap before `at`.
struct Place {
    std::size_t at = 0;
    std::size_t count = 0;
};

class Application {
 public:
    explicit Application(TextFile& file) : file_(file) {}

    Result<> carry_out(const Lp1Operation& operation);
    std::vector<std::uint64_t> targets() &&;
    /// Lines that the operation may have meant; for one that failed.
    std::vector<Candidate> candidates(const Lp1Operation& operation) const;

 private:
    Result<Place> find(const Lp1Operation& operation) const;
    Result<Place> find_gap(const Lp1Operation& operation) const;
    Result<> at_match(const Lp1Operation& operation);
    void note_target(const Place& place);
    void insert(std::size_t at, const Rows& rows);
    void erase(const Place& place);
    void set_final_newline(bool wanted);

    TextFile& file_;
    std::vector<std::uint64_t> targets_;
    std::uint64_t steps_ = 0;
};

Result<Place> Application::find_gap(const Lp1Operation& operation) const {
    if (!operation.occurrence) return failed("Empty match requires occurrence");
    if (*operation.occurrence > file_.lines.size() + 1) return failed("Occurrence out of range");
    return Place{static_cast<std::size_t>(*operation.occurrence - 1), 0};
}

Result<Place> Application::find(const Lp1Operation& operation) const {
    const Rows& wanted = operation.find;
    if (wanted.empty()) return find_gap(operation);
    const std::uint64_t number = operation.occurrence.value_or(1);
    Place place{0, wanted.size()};
    std::uint64_t count = 0;
    find_all(Texts{file_.lines}, 0, file_.lines.size(), wanted, [&](std::size_t at) {
        if (++count == number) place.at = at;
    });
    if (operation.occurrence) {
        if (count < number) return failed("Occurrence out of range");
        return place;
    }
    if (count == 0) return Error(ErrorKind::kNotFound, EINVAL, "Match not found");
    if (count > 1) return failed("Match is not unique");
    return place;
}

void Application::note_target(const Place& place) {
    const auto note = [this](std::size_t at) {
        if (at < file_.lines.size() && file_.lines[at].number > 0)
            targets_.push_back(file_.lines[at].number);
    };
    for (std::size_t i = 0; i < place.count; ++i)
        note(place.at + i);
    if (place.count == 0)
        note(std::min(place.at, std::max<std::size_t>(file_.lines.size(), 1) - 1));
}

void Application::insert(std::size_t at, const Rows& rows) {
    std::vector<TextLine> lines;
    lines.reserve(rows.size());
    for (const std::string& row : rows)
        lines.push_back({row, Newline::kNone, 0});
    file_.lines.insert(file_.lines.begin() + static_cast<std::ptrdiff_t>(at),
                       std::make_move_iterator(lines.begin()),
                       std::make_move_iterator(lines.end()));
}

void Application::erase(const Place& place) {
    const auto first = file_.lines.begin() + static_cast<std::ptrdiff_t>(place.at);
    file_.lines.erase(first, first + static_cast<std::ptrdiff_t>(place.count));
    if (file_.lines.empty()) file_.final_newline = false;
}

void Application::set_final_newline(bool wanted) {
    auto& lines = file_.lines;
    if (wanted && lines.empty()) lines.push_back({});
    // A newline alone without its newline is an empty file, not one with an empty line.
    if (!wanted && lines.size() == 1 && lines[0].text.empty() && file_.final_newline) lines.clear();
    file_.final_newline = wanted;
}

Result<> Application::at_match(const Lp1Operation& operation) {
    TRY_ASSIGN(const Place place, find(operation));
    note_target(place);
    const std::size_t behind = place.at + place.count;
    switch (operation.command) {
        case Lp1Command::kInsertAfter:
            insert(behind, operation.content);
            return {};
        case Lp1Command::kInsertBefore:
            insert(place.at, operation.content);
            return {};
        case Lp1Command::kReplace:
            insert(behind, operation.content);
            [[fallthrough]];
        default:
            erase(place);
            return {};
    }
}

Result<> Application::carry_out(const Lp1Operation& operation) {
    steps_ += file_.lines.size() + operation.find.size() + operation.content.size();
    if (steps_ > kMaxSteps) return failed("Patch needs too many steps");
    switch (operation.command) {
        case Lp1Command::kAppend:
            insert(file_.lines.size(), operation.content);
            return {};
        case Lp1Command::kPrepend:
            if (!operation.content.empty()) note_target({0, 0});
            insert(0, operation.content);
            return {};
        case Lp1Command::kFinalNewline:
            set_final_newline(operation.newline);
            return {};
        default:
            return at_match(operation);
    }
}

std::vector<Candidate> Application::candidates(const Lp1Operation& operation) const {
    std::vector<Candidate> found;
    if (operation.find.empty()) return found;
    const auto number = [this](std::size_t at) { return file_.lines[at].number; };
    find_all(Texts{file_.lines}, 0, file_.lines.size(), operation.find, [&](std::size_t at) {
        if (found.size() < kMaxCandidates && number(at) > 0)
            found.push_back(candidate_of(number(at), file_.lines[at].text, 1.0));
    });
    if (!found.empty()) return found;
    std::string wanted;
    for (const std::string& row : operation.find)
        wanted += row + "\n";
    SimilarLines similar(wanted);
    for (const TextLine& line : file_.lines) {
        if (line.number > 0) similar.look_at(line.number, line.text);
    }
    return std::move(similar).best();
}

std::vector<std::uint64_t> Application::targets() && {
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    return std::move(targets_);
}

}  // namespace

bool needs_file(const Lp1Section& section) {
    return std::any_of(section.operations.begin(), section.operations.end(),
                       [](const Lp1Operation& operation) {
                           return operation.command != Lp1Command::kAppend &&
                                  operation.command != Lp1Command::kPrepend &&
                                  operation.command != Lp1Command::kFinalNewline;
                       });
}

Result<std::vector<std::uint64_t>> apply_lp1(const Lp1Section& section, TextFile& file,
                                             Lp1Trouble* trouble) {
    Application application(file);
    for (std::size_t at = 0; at < section.operations.size(); ++at) {
        const Lp1Operation& operation = section.operations[at];
        auto done = application.carry_out(operation);
        if (done) continue;
        if (trouble != nullptr) *trouble = {at, application.candidates(operation)};
        return std::move(done).error();
    }
    return std::move(application).targets();
}

}  // namespace unwrite::edit
