// TerminalRelay: copies between the user's terminal and the one that the command of a confined run
// has for itself (OwnTerminal). So no descriptor and no name inside leads to the user's terminal,
// and what the command does to its own ends with it.
#pragma once

#include <termios.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::cli {

class TerminalRelay {
 public:
    /// Where stdin and stdout are terminals; otherwise it does nothing, whatever is called. Made
    /// while this process has one thread: what it forks afterwards has some signals blocked.
    /// `saw_read_only` is set to true until this object has gone if the output has the words
    /// "Read-only file system": something could not be written outside of the sandbox.
    explicit TerminalRelay(bool& saw_read_only);
    /// Copies what is left of the output. The user's terminal is as it was.
    ~TerminalRelay();
    TerminalRelay(const TerminalRelay&) = delete;
    TerminalRelay& operator=(const TerminalRelay&) = delete;

    /// For OwnTerminal; -1: there is none. Valid until start().
    int far_end() const { return far_.get(); }
    bool is_wanted() const { return static_cast<bool>(near_); }
    /// Begins to copy, in a thread. No fork comes after it.
    void start();
    /// A signal that the user's terminal sent to this process, which was meant for the command.
    void pass(int signal);
    /// Whether the command reads lines, with what is typed on show: then somebody else may ask.
    bool reads_lines();

    /// While it lives, what is typed does not go to the command, what that writes waits, and the
    /// user's terminal reads lines and shows what is written to it. `relay` may be null.
    class Hold {
     public:
        explicit Hold(TerminalRelay* relay);
        ~Hold();
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

     private:
        TerminalRelay* relay_;
    };

 private:
    struct Copying;  ///< what only the thread knows

    void copy();
    void arrange();
    bool is_in_front() const;
    void wake() const;
    void heed_signals();
    void heed_command(Copying& copying);
    void suspend(Copying& copying);
    void copy_keys(Copying& copying);
    void put_keys(Copying& copying);
    bool copy_output(Copying& copying);
    void look_at(std::string_view output);
    void make_readable();
    void drain(Copying& copying);
    void hang_up(Copying& copying);

    struct termios usual_ = {};  ///< the user's terminal as it was
    sigset_t before_ = {};       ///< blocked before
    UniqueFd near_;
    UniqueFd far_;
    UniqueFd signals_;
    UniqueFd wake_;
    std::thread thread_;
    bool& saw_read_only_;  ///< the thread's
    std::string end_;      ///< the thread's: of the output, what may be the beginning of the words
    bool has_escapes_ = false;  ///< the thread's: there were controls in the output
    bool has_strings_ = false;  ///< the thread's: some that change what a colour is
    char last_ = '\0';          ///< the thread's: byte of the output
    bool is_known_ = false;  ///< the thread's: in the background a shell has the terminal its way
    bool raw_ = false;       ///< the thread's: the user's terminal hands on each key
    std::atomic<bool> stop_{false};
    std::atomic<bool> hung_up_{false};
    std::mutex mutex_;  ///< for what follows
    std::condition_variable changed_;
    UniqueFd master_;
    int early_ = 0;         ///< a signal that came before the master
    bool held_ = false;     ///< somebody wants the keys
    bool yielded_ = false;  ///< and has them
};

}  // namespace unwrite::cli
