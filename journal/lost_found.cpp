#include "journal/lost_found.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/crash_point.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"

namespace unwrite::journal {

namespace {

constexpr const char* kTop = "lost+found";
constexpr const char* kDeltas = "deltas";
constexpr const char* kListing = "listing";
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY;
constexpr int kDeepest = 1000;  // of a path: places may be wrong, and lead in circles

Result<UniqueFd> make_directory(int parent, const std::string& name) {
    const auto made = sys::make_directory(parent, name, 0700);
    if (!made && made.error().number() != EEXIST) return made.error();
    return sys::open_at(parent, name, kOpenDirectory);
}

Result<std::vector<std::string>> names_in(int parent, const std::string& name) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(parent, name, kOpenDirectory));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const auto& entry : entries)
        names.push_back(entry.name);
    return names;
}

std::uint64_t number_of(const std::string& name) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    return problem == std::errc{} && end == name.data() + name.size() ? number : 0;
}

/// The boxes of lost+found, open; none where there is no lost+found.
Result<std::vector<std::string>> boxes(int state) {
    auto names = names_in(state, kTop);
    if (!names && names.error().number() == ENOENT) return std::vector<std::string>();
    if (names) std::erase_if(*names, [](const auto& name) { return number_of(name) == 0; });
    return names;
}

std::string box_path(const std::string& name) {
    return std::string(kTop) + "/" + name;
}

/// One line, whatever is in a name.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == '\n') text += "\\n";
        if (c == '\t') text += "\\t";
        if (c == '\\') text += "\\\\";
        if (c != '\n' && c != '\t' && c != '\\') text += c;
    }
    return text;
}

std::string type_words(const struct stat& st) {
    if (S_ISREG(st.st_mode)) return "file";
    if (S_ISDIR(st.st_mode)) return "directory";
    return S_ISLNK(st.st_mode) ? "link" : "special";
}

bool is_delta_of(const std::string& name, const std::vector<DeltaNumber>& numbers) {
    const DeltaNumber number = number_of(name.substr(0, name.find('.')));
    return number != 0 && std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

/// The directory for what is found now.
Result<int> LostFound::box() {
    if (box_) return box_.get();
    TRY_ASSIGN(const UniqueFd top, make_directory(state_, kTop));
    TRY_ASSIGN(const auto before, boxes(state_));
    std::uint64_t last = 0;
    for (const std::string& name : before)
        last = std::max(last, number_of(name));
    TRY_ASSIGN(UniqueFd box, make_directory(top.get(), std::to_string(last + 1)));
    TRY_ASSIGN(listing_, sys::open_at(box.get(), kListing, O_WRONLY | O_CREAT, 0600));
    box_ = std::move(box);
    return box_.get();
}

// One line for each, before it moves: a listing may name what is still in the attic after a kill,
// and never misses what is here.
Result<> LostFound::list(const std::string& name, const std::string& path) {
    TRY_ASSIGN(const struct stat st, sys::stat_at(attic_.directory(), name));
    const std::string line = name + '\t' + type_words(st) + '\t' + std::to_string(st.st_size) +
                             '\t' + (path.empty() ? "?" : escaped(path)) + '\n';
    TRY(box());
    TRY(sys::write_all_at(listing_.get(), std::as_bytes(std::span(line)), listed_));
    listed_ += line.size();
    return {};
}

Result<> LostFound::take_deltas(const std::vector<DeltaNumber>& numbers) {
    TRY_ASSIGN(const auto files, names_in(deltas_, "."));
    for (const std::string& name : files) {
        if (!is_delta_of(name, numbers)) continue;
        TRY_ASSIGN(const int box, this->box());
        if (!box_deltas_) {
            TRY_ASSIGN(box_deltas_, make_directory(box, kDeltas));
        }
        TRY(sys::rename(deltas_, name, box_deltas_.get(), name, RENAME_NOREPLACE));
        crash_point("lost.delta-moved");
    }
    for (const DeltaNumber number : numbers)
        ignore(learn_names(box_deltas_.get(), number), "what it says is only a hint");
    taken_.deltas += numbers.size();
    return {};
}

/// Where objects stood, as far as this delta knows.
Result<> LostFound::learn_names(int directory, DeltaNumber number) {
    TRY_ASSIGN(const Delta delta, read_delta(directory, number));
    for (const auto& [at, state] : delta.names) {
        if (state.image.object) names_.try_emplace(*state.image.object, at);
    }
    return {};
}

/// Empty when not even its own name is known.
std::string LostFound::path_of(const ObjectKey& key, const ObjectKey& root) const {
    std::string path;
    ObjectKey at = key;
    for (int depth = 0; at != root && depth < kDeepest; ++depth) {
        const auto named = names_.find(at);
        const auto place = named == names_.end() ? places_.find(at) : std::nullopt;
        if (named == names_.end() && !place) {
            return depth == 0 ? path : "(" + Attic::file_name(at) + ")/" + path;
        }
        const NameKey& name = place ? place->newest : named->second;
        path = path.empty() ? name.name : name.name + "/" + path;
        at = name.parent;
    }
    return path;
}

Result<> LostFound::take_object(const ObjectKey& key, const ObjectKey& root) {
    const std::string name = Attic::file_name(key);
    TRY_ASSIGN(const struct stat st, sys::stat_at(attic_.directory(), name));
    // A second name, by which the journal would have found it: its bytes are under the other one.
    if (!S_ISDIR(st.st_mode) && st.st_nlink > 1) return {};
    TRY(list(name, path_of(key, root)));
    TRY_ASSIGN(const int box, this->box());
    TRY(attic_.move_out(key, box, name));
    ++taken_.objects;
    return {};
}

Result<> LostFound::take_objects(const std::set<ObjectKey>& claimed,
                                 const std::vector<DeltaNumber>& known, const ObjectKey& root) {
    for (const DeltaNumber number : known)
        ignore(learn_names(deltas_, number), "what it says is only a hint");
    for (const ObjectKey& key : attic_.list()) {
        if (!claimed.contains(key)) TRY(take_object(key, root));
    }
    // Directories that were being removed: for a reason that the database may have forgotten.
    TRY_ASSIGN(const auto leftovers, attic_.leftovers());
    for (const std::string& name : leftovers) {
        TRY(list(name, ""));
        TRY_ASSIGN(const int box, this->box());
        TRY(attic_.move_leftover(name, box));
        ++taken_.objects;
    }
    if (box_) TRY(sys::sync(box_.get()));
    return {};
}

Result<Lost> count_lost(int state) {
    Lost lost;
    TRY_ASSIGN(const auto found, boxes(state));
    for (const std::string& box : found) {
        TRY_ASSIGN(const auto names, names_in(state, box_path(box)));
        lost.objects += static_cast<std::uint64_t>(std::count_if(
            names.begin(), names.end(),
            [](const std::string& name) { return name != kListing && name != kDeltas; }));
        const auto deltas = names_in(state, box_path(box) + "/" + kDeltas);
        std::set<std::string> numbers;
        if (deltas) {
            for (const std::string& name : *deltas)
                numbers.insert(name.substr(0, name.find('.')));
        }
        lost.deltas += numbers.size();
    }
    return lost;
}

Result<Lost> drop_lost(int state, Attic& attic) {
    TRY_ASSIGN(const Lost lost, count_lost(state));
    TRY_ASSIGN(const auto found, boxes(state));
    for (const std::string& box : found) {
        TRY_ASSIGN(const UniqueFd fd, sys::open_at(state, box_path(box), kOpenDirectory));
        TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
        for (const auto& entry : entries) {
            const auto removed = sys::unlink(fd.get(), entry.name);
            // The attic knows how to remove a directory however deep it is.
            if (!removed) TRY(attic.take_leftover(fd.get(), entry.name));
        }
        TRY(sys::remove_directory(state, box_path(box)));
    }
    TRY(attic.remove_leftovers());
    const auto removed = sys::remove_directory(state, kTop);
    if (!removed && removed.error().number() != ENOENT && removed.error().number() != ENOTEMPTY)
        return removed.error();
    return lost;
}

}  // namespace unwrite::journal
