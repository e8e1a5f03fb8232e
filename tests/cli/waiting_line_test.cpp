#include "cli/waiting_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "base/progress.h"
#include "base/syscalls.h"

namespace unwrite::cli {
namespace {

using std::chrono::milliseconds;

TEST(WaitingLine, SaysHowFarItIs) {
    EXPECT_EQ(waiting_words(control::Busy{"restoring", 1234, 10000}, milliseconds(1500)),
              "restoring  [##------------------]  1,234 of 10,000");
    EXPECT_EQ(waiting_words(control::Busy{"comparing", 7, 7}, milliseconds(1500)),
              "comparing  [####################]  7 of 7");
    EXPECT_EQ(waiting_words(control::Busy{"comparing", 9, 7}, milliseconds(1500)),
              "comparing  [####################]  9 of 7");
    EXPECT_EQ(waiting_words(std::nullopt, milliseconds(3700)), "waiting for the daemon, 3 s");
    EXPECT_EQ(waiting_words(control::Busy{"checking", 0, 0}, milliseconds(2000)),
              "waiting for the daemon, 2 s");
}

/// Stands for stderr while it lives; what was written there can be read.
class FakeTerminal {
 public:
    FakeTerminal() : before_(::dup(STDERR_FILENO)) {
        terminal_ = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
        char name[64] = {};
        if (::grantpt(terminal_.get()) != 0 || ::unlockpt(terminal_.get()) != 0 ||
            ::ptsname_r(terminal_.get(), name, sizeof name) != 0)
            std::abort();
        inside_ = *sys::open_at(AT_FDCWD, name, O_RDWR | O_NOCTTY);
        ::dup2(inside_.get(), STDERR_FILENO);
    }
    ~FakeTerminal() { ::dup2(before_.get(), STDERR_FILENO); }
    FakeTerminal(const FakeTerminal&) = delete;
    FakeTerminal& operator=(const FakeTerminal&) = delete;

    std::string take() const {
        std::string text;
        struct pollfd poller = {terminal_.get(), POLLIN, 0};
        char room[256];
        while (::poll(&poller, 1, 0) > 0) {
            const ssize_t got = ::read(terminal_.get(), room, sizeof room);
            if (got <= 0) break;
            text.append(room, static_cast<std::size_t>(got));
        }
        return text;
    }

 private:
    UniqueFd before_;
    UniqueFd terminal_;
    UniqueFd inside_;
};

TEST(WaitingLine, IsDrawnAndWipedOutOnATerminal) {
    control::MountPoint mount;
    mount.id = "of-no-daemon";
    mount.owner = ::geteuid();
    const FakeTerminal terminal;
    ::setenv("TERM", "dumb", 1);
    EXPECT_FALSE(waiting_line(mount));
    ::setenv("TERM", "xterm", 1);
    const control::Patience patience = waiting_line(mount);
    ASSERT_TRUE(patience);
    patience(milliseconds(200));
    patience(std::nullopt);
    EXPECT_EQ(terminal.take(), "");
    patience(milliseconds(1200));
    EXPECT_EQ(terminal.take(), "\r\x1b[Kwaiting for the daemon, 1 s");
    patience(std::nullopt);
    EXPECT_EQ(terminal.take(), "\r\x1b[K");
    patience(std::nullopt);
    EXPECT_EQ(terminal.take(), "");
}

TEST(WorkingLineTest, IsThereWhileThisProcessWorks) {
    const FakeTerminal terminal;
    ::setenv("TERM", "xterm", 1);
    {
        WorkingLine line(milliseconds(0));
        std::string seen;
        {
            Progress work("restoring", 4);
            work.step();
            const std::string drawn = "\r\x1b[Krestoring  [#####---------------]  1 of 4";
            while (seen.find(drawn) == std::string::npos)
                seen += terminal.take();
        }
        // Wiped out before whoever worked can write anything.
        EXPECT_TRUE(terminal.take().ends_with("\r\x1b[K"));
        line.show(false);
        const Progress hidden("comparing", 4);
        EXPECT_EQ(terminal.take(), "");
    }
    EXPECT_EQ(terminal.take(), "");
    EXPECT_FALSE(Progress::now());
}

TEST(WorkingLineTest, NothingIsDrawnBeforeItTakesLong) {
    const FakeTerminal terminal;
    ::setenv("TERM", "xterm", 1);
    {
        const WorkingLine line(std::chrono::hours(1));
        const Progress work("restoring", 4);
    }
    EXPECT_EQ(terminal.take(), "");
}

}  // namespace
}  // namespace unwrite::cli
