// Answering: the daemon's questions put to a person on a terminal, and the answers handed back.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "cli/terminal_relay.h"
#include "control/remote.h"

namespace unwrite::cli {

/// "Question 3: run-2 (python3, process 41) wants to write migrations/1.sql", and the rule.
std::string question_words(const overlay::Question& question);
/// One line, for a list.
std::string question_line(const overlay::Question& question);

/// Where a person is asked. A program that reads keys by itself (an editor, a shell that waits for
/// a command) has the terminal then, and nobody can be asked there.
struct Terminal {
    int in = -1;
    int out = -1;
    bool shared = false;             ///< with the command of a run
    TerminalRelay* relay = nullptr;  ///< between it and the terminal of that command
    bool is_free() const;
};

class Answering {
 public:
    /// `session`: whose questions; empty: everybody's.
    Answering(std::unique_ptr<control::Remote> remote, Terminal terminal, std::string session);
    /// Until stop(), the end of the input, or the end of the daemon (an error).
    Result<> live();
    /// From another thread; live() returns soon.
    void stop() { stop_ = true; }
    std::uint64_t watcher() const { return watcher_.id; }

 private:
    Result<bool> put(const overlay::Question& question);
    Result<bool> put_now(const overlay::Question& question);
    Result<std::string> state_of(overlay::QuestionNumber number);
    enum class Read { kLine, kNothingYet, kEnd };
    Read read_line(std::string& line) const;
    void print(const std::string& text) const;

    std::unique_ptr<control::Remote> remote_;
    const Terminal terminal_;
    overlay::Watcher watcher_;
    std::atomic<bool> stop_{false};
};

/// While it lives, the questions of a run are asked on its terminal, if it has one. Made by a
/// process that forks no more and has the terminal's signals blocked.
class RunQuestions {
 public:
    /// `relay` may be null, and outlives this.
    RunQuestions(const control::MountPoint& mount, const std::string& session,
                 TerminalRelay* relay);
    ~RunQuestions();
    RunQuestions(const RunQuestions&) = delete;
    RunQuestions& operator=(const RunQuestions&) = delete;

 private:
    UniqueFd terminal_;
    std::unique_ptr<control::Remote> remote_;  ///< says that it goes
    std::unique_ptr<Answering> answering_;
    std::thread thread_;
};

}  // namespace unwrite::cli
