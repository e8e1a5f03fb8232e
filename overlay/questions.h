// Questions: the changes that a person is asked about, and the answers. One question for each path
// and subject (a run's session, or the user), however many requests wait for it. An answer holds
// for as long as the workspace is open, and can be turned round by another one.
//
// Thread-safe. Knows neither requests nor people: the first are tickets (waiting.h), the second ask
// for the questions now and then (Watcher), and are taken to be there for a while after that.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "overlay/auditor.h"
#include "overlay/oversight.h"

namespace unwrite::overlay {

class Questions final : public Waiting {
 public:
    static constexpr auto kPatience = std::chrono::seconds(60);
    static constexpr std::size_t kMostOpen = 1024;   ///< beyond, it is refused at once
    static constexpr std::size_t kMostClosed = 256;  ///< kept unanswered or denied, the newest

    /// The auditor outlives it.
    explicit Questions(Auditor& auditor, std::chrono::milliseconds patience = kPatience)
        : auditor_(auditor), patience_(patience) {}

    /// What somebody wants to do, and the rule that wants a person to be asked.
    struct About {
        std::string operation;
        std::string path;
        std::string
            topic{};  ///< what the question is about, when not the path with all that is done
        std::string rule;
        std::string detail;                  ///< of this case; not part of what --all answers
        std::optional<std::string> session;  ///< of the agent; nothing: the user
        std::int64_t pid = 0;                ///< 0: unknown, then no question is asked
        std::uint32_t uid = 0;
        int error = 0;  ///< what the refused request is answered with
    };
    struct Verdict {
        bool granted = false;
        QuestionNumber wait_for = 0;  ///< not granted yet: an open question; 0: refused
        std::string why;              ///< it is refused
        bool denied = false;          ///< a person was asked and said no
    };
    /// `can_wait`: the request can be kept until there is an answer.
    Verdict judge(const About& about, bool can_wait);

    /// Of the question about this; 0: there is none.
    QuestionNumber number_of(const About& about);

    /// As Oversight has them.
    Questioned look(const Watcher& watcher);
    Result<Question> answer(const Asker& asker, QuestionNumber number, bool approve,
                            bool whole_rule);
    void pass_over(QuestionNumber number, std::uint64_t watcher);
    /// The rules changed: whatever waits is judged anew.
    void reconsider();

    void set_release(Release release) override;
    bool await(QuestionNumber question, Ticket ticket) override;
    void leave(QuestionNumber question, Ticket ticket) override;
    std::optional<Clock::time_point> expire() override;
    void close() override;

 private:
    enum class State { kOpen, kApproved, kDenied, kExpired, kUnasked };
    struct Row {
        Question shown;
        About about;
        State state = State::kOpen;
        bool agent = false;
        Clock::time_point until;
        std::set<Ticket> waiting{};
    };
    struct Presence {
        std::string session;
        Clock::time_point until;
    };
    using Key = std::string;
    static Key subject_of(const About& about);
    static Key matter_of(const About& about);
    static Key key_of(const About& about);
    static Key rule_key_of(const About& about);

    // All of these: mutex_ held.
    Row* find(const Key& key);
    Row& add(const About& about, State state);
    void set_state(Row& row, State state);
    void forget_oldest();
    bool somebody_answers(const About& about, std::uint64_t but = 0);
    bool is_granted_to_anybody(const About& about) const;
    void changed();
    Row* first_open(std::optional<Clock::time_point> until);
    void end(std::unique_lock<std::mutex>& lock, Row& row, State state, const char* why);

    Auditor& auditor_;
    const std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Release release_;                          // guarded by mutex_
    std::map<QuestionNumber, Row> rows_;       // guarded by mutex_
    std::map<Key, QuestionNumber> numbers_;    // of the rows by subject and path; guarded
    std::map<Key, bool> rules_;                // answered as a whole; guarded by mutex_
    std::map<std::uint64_t, Presence> there_;  // by Watcher::id; guarded by mutex_
    QuestionNumber next_ = 1;                  // guarded by mutex_
    std::uint64_t version_ = 1;                // guarded by mutex_
    bool closed_ = false;                      // guarded by mutex_
};

}  // namespace unwrite::overlay
