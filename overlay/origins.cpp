#include "overlay/origins.h"

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/log.h"

namespace unwrite::overlay {

namespace {

constexpr auto kCacheTime = std::chrono::seconds(1);
constexpr int kAttempts = 4;
constexpr std::size_t kMostSeen = 65536;
constexpr int kMaxAncestors = 1000;  // a loop in a racing /proc must end

struct ProcessFacts {
    std::int64_t parent = 0;
    std::string start;  // clock ticks since boot: tells a reused pid from the first
};

// Fields 4 and 22 of /proc/<pid>/stat; the command in parentheses may hold anything, so count from
// its end.
std::optional<ProcessFacts> facts_of(std::int64_t pid) {
    auto text = sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
    if (!text) return std::nullopt;
    const std::size_t end = text->rfind(')');
    if (end == std::string::npos) return std::nullopt;
    ProcessFacts facts;
    std::size_t at = end + 1;
    for (int field = 3; field <= 22; ++field) {
        at = text->find_first_not_of(' ', at);
        if (at == std::string::npos) return std::nullopt;
        const std::size_t stop = std::min(text->find(' ', at), text->size());
        if (field == 4) std::from_chars(text->data() + at, text->data() + stop, facts.parent);
        if (field == 22) facts.start = text->substr(at, stop - at);
        at = stop;
    }
    return facts;
}

struct ThreadFacts {
    std::int64_t process = 0;
    bool is_nested = false;  ///< in a pid namespace below the one of this process
};

/// The value behind a label in /proc/<pid>/status, to the end of its line.
std::string_view value_of(std::string_view text, std::string_view label) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + label.size());
    return rest.substr(0, rest.find('\n'));
}

/// The process that a thread belongs to: the kernel names the thread that asks. Nothing when it is
/// gone.
std::optional<ThreadFacts> facts_of_thread(std::int64_t thread) {
    const auto text = sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(thread) + "/status");
    if (!text) return std::nullopt;
    ThreadFacts facts{thread, false};
    const std::string_view process = value_of(*text, "\nTgid:\t");
    std::from_chars(process.data(), process.data() + process.size(), facts.process);
    // One number for each namespace that the process is in.
    facts.is_nested = value_of(*text, "\nNSpid:\t").find('\t') != std::string_view::npos;
    return facts;
}

}  // namespace

Result<std::unique_ptr<Origins>> Origins::open(journal::Journal& journal) {
    std::unique_ptr<Origins> origins(new Origins(journal));
    const std::lock_guard store(journal.store_mutex());
    TRY_ASSIGN(const auto rows, journal.store().origins());
    const std::lock_guard lock(origins->mutex_);
    for (const auto& row : rows) {
        origins->origins_.emplace(row.number, row);
        origins->number_of(row.session, row.step);
    }
    return origins;
}

SessionNumber Origins::number_of(const std::string& session, journal::NodeNumber step) {
    const auto [known, added] =
        session_numbers_.try_emplace({session, step}, static_cast<SessionNumber>(sessions_.size()));
    if (added) sessions_.push_back(session);
    return known->second;
}

Who Origins::resolve(const Caller& caller) {
    if (caller.pid <= 0) return {};
    Shard& shard = shards_[static_cast<std::size_t>(caller.pid) % kShards];
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(shard.mutex);
        const auto found = shard.cache.find(caller.pid);
        if (found != shard.cache.end() && now < found->second.until) return found->second.who;
    }
    Cached made = make(caller);
    made.until = now + kCacheTime;
    const std::lock_guard lock(shard.mutex);
    if (shard.cache.size() > 4096) shard.cache.clear();
    shard.cache[caller.pid] = made;
    return made.who;
}

Origins::Belonging Origins::belonging_of(const Caller& caller) {
    if (caller.pid <= 0) return {};
    Shard& shard = shards_[static_cast<std::size_t>(caller.pid) % kShards];
    {
        const std::lock_guard lock(shard.mutex);
        const auto found = shard.cache.find(caller.pid);
        if (found != shard.cache.end() && std::chrono::steady_clock::now() < found->second.until)
            return {found->second.who.session, found->second.agent};
    }
    const std::lock_guard lock(mutex_);
    const Run* run = run_of(caller.pid);
    if (run == nullptr) return {};
    return {number_of(run->session, run->step), true};
}

// To be taken for the user is worth something, to be taken for an agent is not. So a process is an
// agent's where that cannot be told: the kernel still carries out what a process asked for that has
// ended (asynchronous writes, a child that shared its memory).
const Origins::Run* Origins::run_of(std::int64_t thread) const {
    if (runs_.empty()) return nullptr;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const auto facts = facts_of_thread(thread);
        if (!facts) break;
        // False: somebody in between ended just now, and its children have another parent.
        const Run* run = nullptr;
        if (!find_above(facts->process, run)) continue;
        return run == nullptr && facts->is_nested ? left_alone() : run;
    }
    const auto seen = agents_.find(thread);
    const auto same = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& run) {
        return run.pid == thread || (seen != agents_.end() && run.step == seen->second);
    });
    return same != runs_.rend() ? &*same : &runs_.back();
}

bool Origins::find_above(std::int64_t pid, const Run*& found) const {
    for (int i = 0; i < kMaxAncestors && pid > 1; ++i) {
        const auto facts = facts_of(pid);
        const auto run = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& r) {
            return r.pid == pid && (r.start.empty() || !facts || r.start == facts->start);
        });
        if (run != runs_.rend()) found = &*run;
        if (found != nullptr) return true;
        if (!facts) return false;
        pid = facts->parent;
    }
    return true;
}

const Origins::Run* Origins::left_alone() const {
    const auto run = std::find_if(runs_.rbegin(), runs_.rend(), [](const Run& r) {
        const auto facts = facts_of(r.pid);
        return !facts || (!r.start.empty() && facts->start != r.start);
    });
    return run == runs_.rend() ? nullptr : &*run;
}

Origins::Cached Origins::make(const Caller& caller) {
    journal::Origin row;
    row.uid = caller.uid;
    row.pid = caller.pid;
    row.session = kUserName;
    row.time_ns = wall_clock_ns();
    const auto facts = facts_of(caller.pid);
    if (auto exe = sys::read_link(AT_FDCWD, "/proc/" + std::to_string(caller.pid) + "/exe"))
        row.executable = *exe;
    std::string identity;
    Cached made;
    Who& who = made.who;
    who.divides = true;
    {
        const std::lock_guard lock(mutex_);
        if (const Run* run = run_of(caller.pid)) {
            row.session = run->session;
            row.step = run->step;
            row.agent = made.agent = true;
            if (agents_.size() >= kMostSeen) agents_.clear();
            agents_[caller.pid] = run->step;
        }
        who.session = number_of(row.session, row.step);
        identity = std::to_string(row.pid) + '/' + (facts ? facts->start : "") + '/' +
                   row.executable + '/' + row.session + '/' + std::to_string(row.step);
        if (const auto found = known_.find(identity); found != known_.end()) {
            who.origin = found->second;
            return made;
        }
    }
    {
        const std::lock_guard store(journal_.store_mutex());
        auto number = journal_.store().add_origin(row);
        if (!number) {
            // Knowing who is worth less than letting the change through with its before-image.
            log::warning("remember an origin: " + number.error().message());
            return made;
        }
        who.origin = row.number = *number;
    }
    const std::lock_guard lock(mutex_);
    known_.emplace(identity, row.number);
    origins_.emplace(row.number, row);
    return made;
}

void Origins::begin_run(std::int64_t pid, const std::string& session, journal::NodeNumber step) {
    const auto facts = facts_of(pid);
    {
        const std::lock_guard lock(mutex_);
        runs_.push_back({pid, facts ? facts->start : "", session, step});
        if (facts) processes_[step] = std::to_string(pid) + '/' + facts->start;
        number_of(session, step);
    }
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        shard.cache.clear();
    }
}

void Origins::end_run(journal::NodeNumber step) {
    const std::lock_guard lock(mutex_);
    std::erase_if(runs_, [step](const Run& run) { return run.step == step; });
}

journal::NodeNumber Origins::run_of_process(std::int64_t pid) const {
    const auto facts = facts_of(pid);
    const std::lock_guard lock(mutex_);
    const auto run = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& r) {
        return facts && r.pid == pid && r.start == facts->start;
    });
    return run == runs_.rend() ? 0 : run->step;
}

std::string Origins::session_of_run(journal::NodeNumber step) const {
    const std::lock_guard lock(mutex_);
    const auto run =
        std::find_if(runs_.begin(), runs_.end(), [step](const Run& r) { return r.step == step; });
    return run == runs_.end() ? "" : run->session;
}

bool Origins::are_kin(journal::NodeNumber one, journal::NodeNumber other) const {
    if (one == other) return true;
    const std::lock_guard lock(mutex_);
    const auto first = processes_.find(one);
    const auto second = processes_.find(other);
    return first != processes_.end() && second != processes_.end() &&
           first->second == second->second;
}

bool Origins::are_kin_origins(journal::OriginNumber one, journal::OriginNumber other) const {
    if (session_of(one) == session_of(other)) return true;
    const journal::NodeNumber run = run_of_origin(one);
    return run != 0 && are_kin(run, run_of_origin(other));
}

std::size_t Origins::runs() const {
    const std::lock_guard lock(mutex_);
    return runs_.size();
}

std::optional<std::string> Origins::session_of_agent(std::int64_t pid) const {
    const std::lock_guard lock(mutex_);
    const Run* run = run_of(pid);
    if (run == nullptr) return std::nullopt;
    return run->session;
}

SessionNumber Origins::session_of(journal::OriginNumber origin) const {
    const std::lock_guard lock(mutex_);
    const auto found = origins_.find(origin);
    if (found == origins_.end()) return kUserSession;
    const auto session = session_numbers_.find({found->second.session, found->second.step});
    return session == session_numbers_.end() ? kUserSession : session->second;
}

std::string Origins::name_of(SessionNumber session) const {
    const std::lock_guard lock(mutex_);
    return sessions_.at(session);
}

std::set<journal::OriginNumber> Origins::of_session(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    std::set<journal::OriginNumber> numbers;
    for (const auto& [number, origin] : origins_) {
        if (origin.session == name) numbers.insert(number);
    }
    return numbers;
}

std::set<journal::OriginNumber> Origins::of_run(journal::NodeNumber step) const {
    const std::lock_guard lock(mutex_);
    std::set<journal::OriginNumber> numbers;
    for (const auto& [number, origin] : origins_) {
        if (origin.step == step && step != 0) numbers.insert(number);
    }
    return numbers;
}

std::set<journal::NodeNumber> Origins::active_runs() const {
    const std::lock_guard lock(mutex_);
    std::set<journal::NodeNumber> runs;
    for (const Run& run : runs_)
        runs.insert(run.step);
    return runs;
}

journal::NodeNumber Origins::run_of_origin(journal::OriginNumber origin) const {
    const std::lock_guard lock(mutex_);
    const auto found = origins_.find(origin);
    return found == origins_.end() ? 0 : found->second.step;
}

std::vector<journal::Origin> Origins::rows(const std::set<journal::OriginNumber>& numbers) const {
    const std::lock_guard lock(mutex_);
    std::vector<journal::Origin> rows;
    for (const journal::OriginNumber number : numbers) {
        if (const auto found = origins_.find(number); found != origins_.end())
            rows.push_back(found->second);
    }
    return rows;
}

std::vector<journal::Origin> Origins::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<journal::Origin> rows;
    for (const auto& [number, origin] : origins_)
        rows.push_back(origin);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return rows;
}

}  // namespace unwrite::overlay
