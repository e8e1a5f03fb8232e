#include "cli/parentage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/agent_session.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

namespace fs = std::filesystem;

// Run by the tests below, as a descendant of what they start.
TEST(ParentageBelow, S40_says_who_is_above) {
    const char* const directory = std::getenv("UNWRITE_TEST_DIRECTORY");
    if (directory == nullptr) return;  // not one of those descendants
    const pid_t above = agent_above("claude");
    std::ofstream(std::string(directory) + "/said") << process_name(above) << ' ' << above << '\n';
}

class Parentage : public ::testing::Test {
 protected:
    /// Runs a script of this name that starts this program again, by `words`; not for the shard
    /// that this one runs, in which that test may not be.
    std::string above(const std::string& name, const std::string& words) {
        const std::string self = fs::read_symlink("/proc/self/exe").string();
        scratch_.write(
            name, "#!/bin/sh\necho $$ >\"$UNWRITE_TEST_DIRECTORY/" + name +
                      ".pid\"\nunset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX\n" + words + " " + self +
                      " "
                      "--gtest_filter=ParentageBelow.S40_says_who_is_above >/dev/null\n:\n");
        fs::permissions(scratch_ / name, fs::perms::owner_all);
        ::setenv("UNWRITE_TEST_DIRECTORY", scratch_.path().c_str(), 1);
        const int status = std::system((scratch_ / name).c_str());
        EXPECT_EQ(WEXITSTATUS(status), 0);
        return scratch_.read("said");
    }
    std::string pid_of(const std::string& name) const { return scratch_.read(name + ".pid"); }
    const Scratch scratch_;
};

TEST_F(Parentage, S40_an_agent_is_found_by_its_name) {
    const std::string said = above("claude", "");
    EXPECT_EQ(said, "claude " + pid_of("claude"));
}

TEST_F(Parentage, S40_also_behind_shells_and_other_programs) {
    for (const char* words : {"sh -c '\"$@\"; :' sh env", "timeout 60"}) {
        const std::string said = above("claude", words);
        EXPECT_EQ(said, "claude " + pid_of("claude")) << words;
    }
}

TEST_F(Parentage, S40_another_agent_is_not_this_one) {
    const std::string said = above("codex", "");
    EXPECT_EQ(said.find("claude"), std::string::npos) << said;
}

TEST_F(Parentage, S40_a_process_has_the_name_of_its_program) {
    EXPECT_EQ(process_name(::getpid()), "cli_test");
    EXPECT_EQ(process_name(0x7ffffff), "process");
}

// Nothing is mounted there, and it is no place that a hook would mount.
TEST(AgentSession, S1_hooks_say_once_that_nothing_can_be_taken_back) {
    const Scratch scratch;
    // The sandboxes of agents leave empty directories of this name, also in /tmp.
    fs::create_directory(scratch / ".git");
    const auto answer = [&](HookEvent event, bool again) {
        Context context{scratch.path(), false, Output(-1), Output(-1), "hook", {}};
        return answer_hook(context, {"claude", event, "0bb4bacb-1", "Do it", again});
    };
    const HookAnswer first = answer(HookEvent::kStart, false);
    EXPECT_NE(first.for_user.find("nothing can be taken back in this session"), std::string::npos);
    EXPECT_NE(first.for_user.find("is not in a git work tree"), std::string::npos);
    EXPECT_NE(first.for_user.find("hint: unwrite mount"), std::string::npos);
    EXPECT_EQ(first.for_model, "");
    EXPECT_EQ(answer(HookEvent::kStart, true).for_user, "");
    for (const HookEvent event : {HookEvent::kPrompt, HookEvent::kStop, HookEvent::kEnd}) {
        EXPECT_EQ(answer(event, false).for_user, "");
        EXPECT_EQ(answer(event, false).for_model, "");
    }
    EXPECT_FALSE(fs::exists(scratch / ".unwrite"));
}

}  // namespace
}  // namespace unwrite::cli
