#include "cli/home_return.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/open_beneath.h"
#include "base/paths.h"
#include "base/syscalls.h"
#include "base/writers.h"
#include "cli/merged_keys.h"
#include "cli/prompt.h"
#include "cli/shown_home.h"
#include "cli/state_directory.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostListed = 8;
/// What was not taken over is there for the user for so long.
constexpr std::int64_t kKeptSeconds = 14 * 86400;

std::string variable(const std::string& name) {
    const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
    return value != nullptr ? value : "";
}

std::string real_of(const std::string& path) {
    std::error_code failed;
    const std::string real = fs::weakly_canonical(path, failed).string();
    return failed ? path : real;
}

/// "" for the directory itself; nothing where the path is not in it.
std::optional<std::string> below(const std::string& directory, const std::string& path) {
    if (path == directory) return "";
    if (!path.starts_with(directory + "/")) return std::nullopt;
    return path.substr(directory.size() + 1);
}

bool made(const std::string& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) return true;
    const std::string above = fs::path(path).parent_path().string();
    return above != path && made(above) && sys::make_directory(AT_FDCWD, path, 0700);
}

std::string joined(const std::string& above, const std::string& name) {
    return name.empty() ? above : above.empty() ? name : above + "/" + name;
}

/// Where a run leaves what it wrote; empty when no such directory can be made.
std::string new_handoff(const std::string& home) {
    const std::string all = user_state_directory(home);
    if (!made(all)) return {};
    std::error_code failed;
    const auto now = fs::file_time_type::clock::now();
    for (const fs::directory_entry& entry : fs::directory_iterator(all, failed)) {
        const std::string name = entry.path().filename().string();
        const bool is_ours = name.starts_with("home-") || name.starts_with("network-");
        const auto age = now - entry.last_write_time(failed);
        if (is_ours && !failed && age > std::chrono::seconds(kKeptSeconds))
            fs::remove_all(entry.path(), failed);
    }
    const std::string path = fmt::format("{}/home-{}-{}", all, std::time(nullptr), ::getpid());
    return sys::make_directory(AT_FDCWD, path, 0700) ? path : std::string();
}

/// What was typed in a shell or pager of a run. It ends with the run and is not worth a word: every
/// `unwrite run -- bash` would name it.
bool is_history(const std::string& path) {
    static constexpr std::array<std::string_view, 10> kHistories = {
        ".bash_history",
        ".zsh_history",
        ".local/share/fish/fish_history",
        ".python_history",
        ".lesshst",
        ".local/state/lesshst",
        ".node_repl_history",
        ".sqlite_history",
        ".psql_history",
        ".viminfo"};
    return std::find(kHistories.begin(), kHistories.end(), path) != kHistories.end();
}

/// The option that lets a run write there: what to name, for files of one program.
std::string whole_of(const std::string& path) {
    std::size_t parts = 1;
    if (path.starts_with(".config/") || path.starts_with(".cache/")) parts = 2;
    if (path.starts_with(".local/")) parts = 3;
    std::size_t end = 0;
    for (std::size_t i = 0; i < parts && end != std::string::npos; ++i)
        end = path.find('/', end == 0 ? 0 : end + 1);
    return path.substr(0, end);
}

}  // namespace

std::string run_state_directory() {
    std::string state = user_state_directory();
    return !state.empty() && made(state) ? state : std::string();
}

HomeReturn HomeReturn::begin(const KnownAgent* agent, const std::string& workspace) {
    HomeReturn home;
    home.workspace_ = workspace;
    const std::string named = variable("HOME");
    const std::string real = named.starts_with('/') ? real_of(named) : "";
    std::error_code failed;
    // A workspace that holds the home directory records what is written there.
    if (real.size() < 2 || below(workspace, real) || !fs::is_directory(real, failed)) return home;
    if (real.find_first_of(",:\\") != std::string::npos) return home;
    home.view_.home = real;
    home.view_.handoff = new_handoff(real);
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    home.began_ns_ = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    if (agent == nullptr) return home;
    home.agent_ = agent->name;
    for (const StatePlace& state : agent->places)
        home.add(state, workspace);
    return home;
}

void HomeReturn::add(const StatePlace& state, const std::string& workspace) {
    const std::string set = variable(state.variable);
    const bool is_set = set.starts_with('/');
    const std::string path = real_of(is_set ? set + state.suffix : joined(view_.home, state.path));
    const std::optional<std::string> inside = below(view_.home, path);
    if (below(workspace, path)) return;
    if (!inside) {
        if (made(path)) writable_.push_back(path);
        return;
    }
    places_.push_back({state, *inside});
    for (const KeyedFile& file : state.keyed) {
        const std::string name = joined(*inside, file.path);
        const std::optional<std::string> real =
            below(view_.home, real_of(joined(view_.home, name)));
        if (!real) continue;
        keyed_.push_back({file, *real, name, read_real(*real)});
    }
    for (const std::string& list : state.kept) {
        if (!list.ends_with(".jsonl")) continue;
        const std::string name = joined(*inside, list);
        lengths_.emplace_back(name, read_real(name).size());
    }
    const auto places = [&](const std::vector<std::string>& names, std::vector<std::string>& into) {
        for (const std::string& name : names) {
            const std::string whole = real_of(joined(path, name));
            if (below(view_.home, whole) && made(whole)) into.push_back(whole);
        }
    };
    places(state.live, view_.live);
    places(state.read_only, view_.read_only);
    places(state.emptied, view_.emptied);
}

Result<> HomeReturn::hide(const std::vector<std::string>& named) {
    if (view_.home.empty()) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "run: --hide-home: the home directory cannot be hidden: there is none, or the "
                     "workspace holds it",
                     "leave out --hide-home, or mount a directory below");
    }
    TRY_ASSIGN(view_.shown, shown_of_home(view_.home, named));
    for (const Place& place : places_) {
        for (const std::string& path : {place.path, place.state.path})
            if (!path.empty()) view_.shown.push_back(path);
        if (!place.path.empty()) continue;
        view_.shown.insert(view_.shown.end(), place.state.kept.begin(), place.state.kept.end());
    }
    for (const Keyed& keyed : keyed_)
        view_.shown.insert(view_.shown.end(), {keyed.path, keyed.name});
    return {};
}

std::string HomeReturn::words() const {
    const std::vector<std::string> none;
    std::string text;
    for (const Place& place : places_)
        if (!place.path.empty()) text += (text.empty() ? "~/" : ", ~/") + quote_name(place.path);
    for (const Place& place : places_)
        for (const std::string& name : place.path.empty() ? place.state.kept : none)
            text += (text.empty() ? "~/" : ", ~/") + quote_name(name);
    for (const Keyed& keyed : keyed_)
        if (keyed.name.find('/') == std::string::npos) text += ", ~/" + quote_name(keyed.name);
    for (const std::string& path : writable_)
        text += (text.empty() ? "" : ", ") + quote_name(path);
    return agent_ + " keeps its state in " + text +
           "; everything else in your home directory stays as it is";
}

std::string HomeReturn::read_left(const std::string& path) const {
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, view_.handoff + "/tree/" + path);
    return text ? *text : "";
}

std::string HomeReturn::read_real(const std::string& path) const {
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, joined(view_.home, path));
    return text ? *text : "";
}

bool HomeReturn::is_changed_since(const std::string& path) const {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, joined(view_.home, path));
    if (!st) return false;
    return std::int64_t{st->st_ctim.tv_sec} * 1'000'000'000 + st->st_ctim.tv_nsec >= began_ns_;
}

bool HomeReturn::append(const std::string& path) {
    for (const auto& [name, length] : lengths_) {
        if (name != path) continue;
        const std::string mine = read_left(path);
        const std::string now = read_real(path);
        if (mine.size() < length || now.size() < length) return false;
        const Result<UniqueFd> file =
            sys::open_at(AT_FDCWD, joined(view_.home, path), O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
        return file && sys::write_all_at(
                           file->get(), std::as_bytes(std::span(mine).subspan(length)), now.size());
    }
    return false;
}

bool HomeReturn::take_over(char kind, const std::string& path, bool is_agreed) {
    const fs::path parts(path);
    const std::string above = parts.parent_path().string();
    const std::string name = parts.filename().string();
    if (!is_agreed && append(path)) return true;
    if (!is_agreed && is_changed_since(path)) return read_left(path) == read_real(path);
    if (!above.empty() && kind == static_cast<char>(LayerRecord::kCopied) &&
        !made(joined(view_.home, above))) {
        return false;
    }
    const Result<UniqueFd> home = sys::open_at(AT_FDCWD, view_.home, O_PATH | O_DIRECTORY);
    if (!home) return false;
    const Result<UniqueFd> directory =
        sys::open_beneath(home->get(), above, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (!directory) return false;
    if (kind == static_cast<char>(LayerRecord::kRemoved)) {
        const Result<> gone = sys::unlink(directory->get(), name);
        return gone || gone.error().number() == ENOENT;
    }
    const std::string left = view_.handoff + "/tree/" + path;
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, left);
    if (!st || !S_ISREG(st->st_mode)) return false;
    // Half a file, as a program leaves it that was killed.
    if (name.ends_with(".json") && !nlohmann::json::accept(read_left(path))) return false;
    if (name.ends_with(".sqlite")) {
        // A database with a log is two files; half of it is worth nothing.
        for (const std::string& log : {read_left(path + "-wal"), read_real(path + "-wal")})
            if (!log.empty()) return false;
        const Result<UniqueFd> old = sys::open_at(directory->get(), name, O_RDONLY | O_NOFOLLOW);
        const Result<bool> used = old ? sys::is_open_for_writing(old->get()) : Result<bool>(false);
        if (!used || *used) return false;
    }
    return static_cast<bool>(sys::replace_file_at(directory->get(), name, read_left(path),
                                                  st->st_mode & 0777, sys::Durable::kYes));
}

void HomeReturn::merge(const Keyed& keyed, bool all, Outcome& outcome) {
    const std::string left = read_left(keyed.name).empty() ? keyed.path : keyed.name;
    const std::string now = read_real(keyed.path);
    const Result<MergedKeys> merged =
        merge_keys(keyed.file, workspace_, {keyed.base, read_left(left), now}, all);
    if (!merged) {
        outcome.guarded.push_back(left);
        outcome.details.push_back("~/" + quote_name(left) + ": " + merged.error().message());
        return;
    }
    if (merged->text != now) {
        const fs::path real(joined(view_.home, keyed.path));
        const Result<UniqueFd> directory =
            sys::open_at(AT_FDCWD, real.parent_path().string(), O_RDONLY | O_DIRECTORY);
        const Result<struct stat> st = sys::stat_at(AT_FDCWD, real.string());
        const Result<> written =
            directory
                ? sys::replace_file_at(directory->get(), real.filename().string(), merged->text,
                                       st ? st->st_mode & 0777 : 0600, sys::Durable::kYes)
                : directory.error();
        if (!written) {
            outcome.guarded.push_back(left);
            outcome.details.push_back("~/" + quote_name(left) + ": " + written.error().message());
        }
    }
    if (merged->held.empty()) return;
    outcome.guarded.push_back(left);
    std::string keys;
    for (std::size_t i = 0; i < std::min(merged->held.size(), kMostListed); ++i)
        keys += (keys.empty() ? "" : ", ") + merged->held[i];
    outcome.details.push_back("~/" + quote_name(left) + ": " + keys);
}

void HomeReturn::decide(char kind, const std::string& path, Outcome& outcome) {
    if (kind == static_cast<char>(LayerRecord::kCopied)) {
        for (const Keyed& keyed : keyed_)
            if (keyed.path == path || keyed.name == path) return merge(keyed, false, outcome);
    }
    for (const Place& place : places_) {
        const std::optional<std::string> name =
            place.path.empty() ? std::optional(path) : below(place.path, path);
        if (!name) continue;
        if (any_covers(place.state.passing, *name)) return;
        if (any_covers(place.state.kept, *name)) {
            take_over(kind, path, false);
            return;
        }
        if (place.path.empty()) continue;
        outcome.guarded.push_back(path);
        outcome.details.push_back(
            "~/" + quote_name(path) +
            (kind == static_cast<char>(LayerRecord::kRemoved) ? " (removed)" : ""));
        return;
    }
    if (kind == static_cast<char>(LayerRecord::kCounted)) {
        ++outcome.cached;
    } else if (!is_history(path)) {
        outcome.elsewhere.push_back(path);
    }
}

NotKept HomeReturn::tell(Context& context, Outcome& outcome, bool asks) {
    NotKept left{{}, outcome.elsewhere, outcome.cached, {}};
    bool is_left = false;
    if (!outcome.guarded.empty()) {
        context.notes.line(
            fmt::format("{} changed files in your home directory that decide what runs later, "
                        "outside the sandbox:",
                        agent_));
        for (std::size_t i = 0; i < std::min(outcome.details.size(), kMostListed); ++i)
            context.notes.line("  " + outcome.details[i]);
        if (outcome.details.size() > kMostListed)
            context.notes.line(
                fmt::format("  ... and {} more", outcome.details.size() - kMostListed));
        if (asks && can_ask() && confirm(context, "Keep these changes? (y/n)")) {
            Outcome again;
            for (const std::string& path : outcome.guarded) {
                const auto keyed = std::find_if(
                    keyed_.begin(), keyed_.end(),
                    [&](const Keyed& one) { return one.path == path || one.name == path; });
                const bool is_there =
                    static_cast<bool>(sys::stat_at(AT_FDCWD, view_.handoff + "/tree/" + path));
                if (keyed != keyed_.end() && is_there)
                    merge(*keyed, true, again);
                else
                    take_over(
                        static_cast<char>(is_there ? LayerRecord::kCopied : LayerRecord::kRemoved),
                        path, true);
            }
        } else {
            is_left = true;
            left.decides = outcome.guarded;
            context.notes.line("They are not kept.");
        }
    }
    std::map<std::string, std::uint64_t> wholes;
    for (const std::string& path : outcome.elsewhere)
        ++wholes[whole_of(path)];
    if (!wholes.empty()) {
        is_left = true;
        context.notes.line("Written in the run's own copy of your home directory, and not kept:");
        std::size_t listed = 0;
        for (const auto& [path, count] : wholes) {
            if (++listed > kMostListed) break;
            context.notes.line(
                fmt::format("  ~/{} ({})", quote_name(path), counted(count, "file", "files")));
        }
        if (wholes.size() > kMostListed)
            context.notes.line(fmt::format("  ... and {} more", wholes.size() - kMostListed));
        context.notes.line("hint: unwrite run --write ~/" + quote_name(wholes.begin()->first) +
                           " lets the next run change the real one");
    }
    if (outcome.cached > 0) {
        context.notes.line(counted(outcome.cached, "file", "files") +
                           " in caches ended with the run; --caches keeps them");
    }
    if (is_left) {
        context.notes.line("A copy is in " + quote_name(view_.handoff) + " for 14 days.");
        left.copy = view_.handoff;
        return left;
    }
    std::error_code failed;
    fs::remove_all(view_.handoff, failed);
    return left;
}

NotKept HomeReturn::finish(Context& context, bool asks) {
    if (view_.handoff.empty()) return {};
    const Result<std::string> list = sys::read_file_at(AT_FDCWD, view_.handoff + "/list");
    Outcome outcome;
    for (std::size_t at = 0; list && at < list->size();) {
        const std::size_t end = std::min(list->find('\0', at), list->size());
        decide((*list)[at], list->substr(at + 1, end - at - 1), outcome);
        at = end + 1;
    }
    return tell(context, outcome, asks);
}

}  // namespace unwrite::cli
