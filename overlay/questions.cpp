#include "overlay/questions.h"

#include <algorithm>
#include <cerrno>

#include "base/clock.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kNobody = "nobody is there to be asked";

Error no_question(QuestionNumber number) {
    return Error(ErrorKind::kNotFound, ENOENT, "there is no question " + std::to_string(number),
                 "`unwrite approvals` lists the questions");
}

}  // namespace

Questions::Key Questions::subject_of(const About& about) {
    return about.session ? "a" + *about.session : std::string("u");
}

Questions::Key Questions::matter_of(const About& about) {
    return about.topic.empty() ? about.path : '\0' + about.topic;
}

Questions::Key Questions::key_of(const About& about) {
    return subject_of(about) + '\0' + matter_of(about);
}

Questions::Key Questions::rule_key_of(const About& about) {
    return subject_of(about) + '\0' + about.rule;
}

Questions::Row* Questions::find(const Key& key) {
    const auto number = numbers_.find(key);
    return number == numbers_.end() ? nullptr : &rows_.at(number->second);
}

void Questions::changed() {
    ++version_;
    changed_.notify_all();
}

// Answers stay: only questions that came to nothing are forgotten.
void Questions::forget_oldest() {
    std::size_t closed = 0;
    for (const auto& [number, row] : rows_)
        closed += row.state != State::kOpen && row.state != State::kApproved ? 1 : 0;
    for (auto at = rows_.begin(); closed > kMostClosed && at != rows_.end();) {
        const Row& row = at->second;
        if (row.state == State::kOpen || row.state == State::kApproved) {
            ++at;
            continue;
        }
        numbers_.erase(key_of(row.about));
        at = rows_.erase(at);
        --closed;
    }
}

void Questions::set_state(Row& row, State state) {
    static constexpr const char* kWords[] = {"open", "approved", "denied", "expired", "unasked"};
    row.state = state;
    row.shown.state = kWords[static_cast<int>(state)];
    changed();
}

Questions::Row& Questions::add(const About& about, State state) {
    const QuestionNumber number = next_++;
    numbers_[key_of(about)] = number;
    Row& row = rows_[number];
    row.about = about;
    row.agent = about.session.has_value();
    row.until = Clock::now() + patience_;
    Question& shown = row.shown;
    shown.number = number;
    shown.operation = about.operation;
    shown.path = about.path;
    shown.reason = about.rule + (about.detail.empty() ? "" : "; " + about.detail);
    shown.agent = row.agent;
    shown.session = about.session.value_or("");
    shown.executable = executable_of(about.pid);
    shown.pid = about.pid;
    shown.uid = about.uid;
    shown.asked_ns = wall_clock_ns();
    if (state == State::kOpen) {
        shown.until_ns = shown.asked_ns +
                         std::chrono::duration_cast<std::chrono::nanoseconds>(patience_).count();
    }
    set_state(row, state);
    forget_oldest();
    return row;
}

bool Questions::somebody_answers(const About& about, std::uint64_t but) {
    const auto now = Clock::now();
    std::erase_if(there_, [now](const auto& one) { return one.second.until < now; });
    return std::any_of(there_.begin(), there_.end(), [&](const auto& one) {
        return one.first != but &&
               (one.second.session.empty() || one.second.session == about.session);
    });
}

// A store through a mapping has no maker any more.
bool Questions::is_granted_to_anybody(const About& about) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& one) {
        return one.second.state == State::kApproved &&
               matter_of(one.second.about) == matter_of(about);
    });
}

Questions::Verdict Questions::judge(const About& about, bool can_wait) {
    std::unique_lock lock(mutex_);
    if (about.pid == 0) return {is_granted_to_anybody(about), 0, kNobody};
    Row* row = find(key_of(about));
    if (row != nullptr && row->state == State::kApproved) return {true, 0, {}};
    if (row != nullptr && row->state == State::kDenied)
        return {false, 0, "denied, question " + std::to_string(row->shown.number), true};
    if (const auto rule = rules_.find(rule_key_of(about)); rule != rules_.end())
        return {rule->second, 0, "denied for all that the rule asks about", !rule->second};
    if (row != nullptr && row->state == State::kOpen && can_wait) {
        return {false, row->shown.number, {}};
    }
    const std::size_t open =
        static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), [](const auto& one) {
            return one.second.state == State::kOpen;
        }));
    const bool ask = can_wait && !closed_ && release_ && open < kMostOpen;
    if (ask && somebody_answers(about)) {
        if (row != nullptr) rows_.erase(numbers_.at(key_of(about)));
        const QuestionNumber number = add(about, State::kOpen).shown.number;
        lock.unlock();
        auditor_.note(about.pid, about.uid,
                      {"asked", about.operation, about.path,
                       "question " + std::to_string(number) + ": " + about.rule, about.session});
        return {false, number, {}};
    }
    // Remembered, so that it can be approved before the next try.
    if (row == nullptr) {
        row = &add(about, State::kUnasked);
    } else if (row->state == State::kExpired) {
        set_state(*row, State::kUnasked);
    }
    return {false, 0, std::string(kNobody) + ", question " + std::to_string(row->shown.number)};
}

QuestionNumber Questions::number_of(const About& about) {
    const std::lock_guard lock(mutex_);
    const Row* row = find(key_of(about));
    return row == nullptr ? 0 : row->shown.number;
}

bool Questions::await(QuestionNumber question, Ticket ticket) {
    const std::lock_guard lock(mutex_);
    const auto found = rows_.find(question);
    if (found == rows_.end() || found->second.state != State::kOpen) return false;
    found->second.waiting.insert(ticket);
    changed();
    return true;
}

void Questions::leave(QuestionNumber question, Ticket ticket) {
    About about;
    {
        const std::lock_guard lock(mutex_);
        const auto found = rows_.find(question);
        if (found == rows_.end() || found->second.waiting.erase(ticket) == 0) return;
        changed();
        if (found->second.state != State::kOpen || !found->second.waiting.empty()) return;
        about = found->second.about;
        numbers_.erase(key_of(about));
        rows_.erase(found);
    }
    auditor_.note(
        about.pid, about.uid,
        {"withdrawn", about.operation, about.path,
         "question " + std::to_string(question) + ": nobody waits for the answer", about.session});
}

// mutex_ is held before, and not after: whoever is told may ask again at once.
void Questions::end(std::unique_lock<std::mutex>& lock, Row& row, State state, const char* why) {
    set_state(row, state);
    const About about = row.about;
    const std::vector<Ticket> tickets(row.waiting.begin(), row.waiting.end());
    row.waiting.clear();
    const QuestionNumber number = row.shown.number;
    const Release release = release_;
    lock.unlock();
    auditor_.note(about.pid, about.uid,
                  {"refused", about.operation, about.path,
                   "question " + std::to_string(number) + ": " + why, about.session});
    if (release && !tickets.empty()) release(tickets, about.error);
}

Questions::Row* Questions::first_open(std::optional<Clock::time_point> until) {
    for (auto& [number, row] : rows_) {
        if (row.state == State::kOpen && (!until || row.until <= *until)) return &row;
    }
    return nullptr;
}

std::optional<Waiting::Clock::time_point> Questions::expire() {
    for (;;) {
        std::unique_lock lock(mutex_);
        Row* row = first_open(Clock::now());
        if (row != nullptr) {
            end(lock, *row, State::kExpired, "nobody answered in time");
            continue;
        }
        std::optional<Clock::time_point> next;
        for (const auto& [number, open] : rows_) {
            if (open.state == State::kOpen) next = next ? std::min(*next, open.until) : open.until;
        }
        forget_oldest();
        return next;
    }
}

void Questions::pass_over(QuestionNumber number, std::uint64_t watcher) {
    std::unique_lock lock(mutex_);
    const auto found = rows_.find(number);
    if (found == rows_.end() || found->second.state != State::kOpen) return;
    if (!somebody_answers(found->second.about, watcher))
        end(lock, found->second, State::kUnasked, kNobody);
}

void Questions::close() {
    for (;;) {
        std::unique_lock lock(mutex_);
        closed_ = true;
        changed();
        Row* row = first_open(std::nullopt);
        if (row == nullptr) return;
        end(lock, *row, State::kExpired, "the mount ends");
    }
}

void Questions::set_release(Release release) {
    const std::lock_guard lock(mutex_);
    release_ = std::move(release);
}

void Questions::reconsider() {
    std::vector<Ticket> tickets;
    Release release;
    {
        const std::lock_guard lock(mutex_);
        release = release_;
        for (auto& [number, row] : rows_) {
            tickets.insert(tickets.end(), row.waiting.begin(), row.waiting.end());
            row.waiting.clear();
        }
    }
    if (release && !tickets.empty()) release(tickets, 0);
}

Questioned Questions::look(const Watcher& watcher) {
    std::unique_lock lock(mutex_);
    const auto wait =
        std::chrono::milliseconds(std::min(watcher.wait_ms, Oversight::kLongestWatch));
    const auto until = Clock::now() + wait;
    const bool present = watcher.present && watcher.id != 0;
    if (present) there_[watcher.id] = {watcher.session, until + Watcher::kPresence};
    if (!present && there_.erase(watcher.id) != 0) changed();
    changed_.wait_until(lock, until, [&] { return closed_ || version_ != watcher.seen; });
    // It may have gone while it waited here.
    if (present && there_.contains(watcher.id))
        there_[watcher.id].until = Clock::now() + Watcher::kPresence;
    Questioned all{version_, {}};
    for (auto& [number, row] : rows_) {
        if (!watcher.session.empty() && row.about.session != watcher.session) continue;
        row.shown.waiting = row.waiting.size();
        all.questions.push_back(row.shown);
    }
    return all;
}

Result<Question> Questions::answer(const Asker& asker, QuestionNumber number, bool approve,
                                   bool whole_rule) {
    About about;
    {
        const std::lock_guard lock(mutex_);
        const auto found = rows_.find(number);
        if (found == rows_.end()) return no_question(number);
        about = found->second.about;
    }
    // Written down first: what cannot be seen later is not allowed now.
    const Result<> noted = auditor_.note_now(
        asker.pid, asker.uid,
        {approve ? "approved" : "denied", about.operation, about.path,
         "question " + std::to_string(number) + (about.session ? " of " + *about.session : "") +
             (whole_rule ? ", all of: " : ": ") + about.rule});
    if (approve) TRY(noted);
    std::vector<Ticket> tickets;
    Release release;
    Question shown;
    {
        const std::lock_guard lock(mutex_);
        release = release_;
        if (whole_rule) rules_[rule_key_of(about)] = approve;
        const Key rule = rule_key_of(about);
        for (auto& [one, row] : rows_) {
            const bool same_rule = whole_rule && rule_key_of(row.about) == rule;
            if (one != number && !(same_rule && row.state != State::kDenied)) continue;
            set_state(row, approve ? State::kApproved : State::kDenied);
            tickets.insert(tickets.end(), row.waiting.begin(), row.waiting.end());
            row.waiting.clear();
            if (one == number) shown = row.shown;
        }
        shown.waiting = tickets.size();
    }
    if (shown.number == 0) return no_question(number);  // withdrawn meanwhile
    if (release && !tickets.empty()) release(tickets, approve ? 0 : about.error);
    return shown;
}

}  // namespace unwrite::overlay
