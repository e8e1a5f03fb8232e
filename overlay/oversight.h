// Oversight: what the user, and no agent, can see and decide of the policy at work. Beside
// Operations, which are about states. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "journal/audit.h"
#include "overlay/operations.h"
#include "overlay/waiting.h"

namespace unwrite::overlay {

using journal::AuditEntry;
using journal::AuditTrail;

/// A rule as people see it.
struct RuleShown {
    std::string pattern;
    std::string action;    ///< as the configuration names it; "allow" for an exception
    std::string subjects;  ///< "everyone", "agents", "user"
    std::string reason;
    std::string source;         ///< "profile default", "unwrite.toml:12", "policy allow"
    std::int64_t until_ns = 0;  ///< since 1970; 0: no end
};

/// What one subject may do at a path, and why.
struct Judged {
    bool may_read = true;
    bool may_write = true;
    bool asks = false;  ///< may not write, unless a person allows it
    bool hidden = false;
    std::string reading;  ///< the rule that decided, as describe() puts it; empty: none matched
    std::string writing;
};

struct Explained {
    Judged user;
    Judged agent;
    /// Agents may read the file as it is now, whatever `agent` says: git tracked it with these
    /// bytes when the task began. Not what it was at other times.
    bool tracked = false;
};

/// A change that a person is asked about.
struct Question {
    QuestionNumber number = 0;
    std::string state;  ///< "open", "approved", "denied", "expired", "unasked" (nobody was there)
    std::string operation;
    std::string path;    ///< relative to the root
    std::string reason;  ///< the rule, as describe() puts it
    bool agent = false;
    std::string session;       ///< of the run; empty for the user
    std::string executable{};  ///< of the process that asked first
    std::int64_t pid = 0;
    std::uint32_t uid = 0;
    std::int64_t asked_ns = 0;  ///< since 1970
    std::int64_t until_ns = 0;  ///< when it is refused, if nobody answers
    std::uint64_t waiting = 0;  ///< requests that wait for the answer
};

/// What a tool that edits files wants to do.
struct EditAttempt {
    std::string path;    ///< relative to the root; what is not there is taken for a file
    bool write = false;  ///< else only read
    bool ask = false;    ///< a person is asked where the rules say so
    /// One that the daemon does not know as an agent is judged as one, of this session. Empty: as
    /// what it is.
    std::string session{};
    /// What will be there, empty when nothing will; nothing: it is not known.
    std::optional<std::string> bytes{};
    bool goes = false;  ///< it is removed
    /// A directory that the edit makes for its file, whose question is enough where the mount does
    /// not ask.
    bool directory = false;
};

struct MayEdit {
    bool granted = true;
    bool asks = false;        ///< the rule wants a person to be asked
    bool denied = false;      ///< a person was asked, and said no
    bool hidden = false;      ///< for this asker nothing is there
    bool by_content = false;  ///< it looks at what will be there: attempt it again with `bytes`
    /// The rule, unless it is granted without; empty: one for another name of the same file.
    std::string pattern;
    std::string source;
    std::string reason;
    QuestionNumber question = 0;  ///< that a person is, or would have been, asked
    bool waits = false;           ///< the question is open: attempt it again
};

/// The open questions and the newest others, oldest first.
struct Questioned {
    std::uint64_t version = 0;  ///< grows with each change
    std::vector<Question> questions;
};

/// Somebody who answers questions.
struct Watcher {
    std::uint64_t seen = 0;  ///< the version that it knows; waits for another one
    std::uint64_t wait_ms = 0;
    std::string session;   ///< looks at this run's questions alone; empty: at all
    std::uint64_t id = 0;  ///< who it is, as it likes; 0: only looks, and answers nothing
    bool present = true;   ///< is there to answer, for kPresence after this call too; else it goes
    static constexpr std::chrono::seconds kPresence{5};
};

class Oversight {
 public:
    virtual ~Oversight() = default;

    /// The newest `most` entries of the audit log, oldest first, and what is wrong with its chain.
    virtual Result<AuditTrail> audit(std::uint64_t most) = 0;
    /// Writes down that `asker` was refused a command of this name.
    virtual void note_refusal(const Asker& asker, const std::string& command) = 0;

    /// The rules in force, in order: of those that match, the last decides.
    virtual Result<std::vector<RuleShown>> rules() = 0;
    /// `path`: relative to the root; what is not there is taken for a file.
    virtual Result<Explained> explain(const std::string& path) = 0;
    /// Whether the attempt would be refused. Where only the change itself can be asked about, when
    /// it is made (the user's, or one that is judged by its bytes), it is granted.
    virtual Result<MayEdit> may_edit(const Asker& asker, const EditAttempt& attempt) = 0;
    /// `path` and what is below may be read and written, by the user and, with `agents`, by agents,
    /// whatever the rules say; for `seconds`, 0: as long as the workspace is open. In the audit
    /// log. kUsage when no policy is in force.
    virtual Result<> allow(const Asker& asker, const std::string& path, bool agents,
                           std::uint64_t seconds) = 0;

    /// The questions, when there is another version or the time is over (at most kLongestWatch).
    virtual Result<Questioned> questions(const Watcher& watcher) = 0;
    static constexpr std::uint64_t kLongestWatch = 20'000;  ///< ms
    /// Answers one, also one that was refused because nobody answered. From then on that session
    /// may or may not change that path; with `whole_rule` everything that the rule asks about.
    /// In the audit log, before anything waits no more. kNotFound; kUsage when no policy is in
    /// force.
    virtual Result<Question> answer(const Asker& asker, QuestionNumber number, bool approve,
                                    bool whole_rule) = 0;
    /// This watcher (Watcher::id) cannot ask its person now: where no other one is there, what
    /// waits is refused. Nothing happens when the question is not open.
    virtual Result<> pass_over(QuestionNumber number, std::uint64_t watcher) = 0;
};

}  // namespace unwrite::overlay
