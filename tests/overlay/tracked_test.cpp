// Files under the names of secrets that git tracked when the task began: an agent may read them as
// they were then, and nothing that it writes makes another one readable.
#include <gtest/gtest.h>

#include "base/process.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Action;
using overlay::Subjects;

class TrackedSecrets : public Looking, public ::testing::WithParamInterface<const char*> {
 protected:
    void SetUp() override {
        before(".env.test", "A=1\n");
        before("certs/test.key", "KEY\n");
        before("certs/more.key", "MORE\n");
        before(".ssh/config", "Host *\n");
        before("private/server.key", "KEY\n");
        before(".env", "SECRET=1\n");
        git(std::string("init -q -b main --object-format=") + GetParam());
        git("add .env.test certs .ssh private");
        overlay::Rule mine;
        mine.pattern = "private/**";
        mine.action = Action::kDeny;
        mine.subjects = Subjects::kAgents;
        mine.source = "test";
        auto rules = overlay::default_rules();
        rules.push_back(mine);
        auto policy = overlay::Policy::compile(std::move(rules));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options_.policy = *policy;
        start();
    }
    void start() {
        world_.reset();
        world_.emplace(raw().string(), options_);
        begin_run();
        as_agent();
    }
    void git(const std::string& words) {
        ASSERT_EQ(run("cd '" + raw().string() + "' && GIT_CONFIG_GLOBAL=/dev/null git " + words), 0)
            << words;
    }
    int reads(const std::string& path) {
        const auto text = actor().read(path);
        return text ? 0 : text.error().number();
    }
    overlay::Explained explained(const std::string& path) {
        auto one = world_->session().oversight().explain(path);
        EXPECT_TRUE(one.ok());
        return one ? *one : overlay::Explained();
    }
    /// The index that git would write, put there through the tree by whoever the actor is.
    void write_index(const std::string& words) {
        const std::string copy = (scratch_.path() / "index").string();
        std::filesystem::copy_file(raw() / ".git/index", copy,
                                   std::filesystem::copy_options::overwrite_existing);
        ASSERT_EQ(run("cd '" + raw().string() + "' && GIT_INDEX_FILE='" + copy + "' git " + words),
                  0);
        save(".git/index", scratch_.read("index"), ".lock");
    }
    overlay::SessionOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Each, TrackedSecrets, ::testing::Values("sha1", "sha256"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(TrackedSecrets, AnAgentReadsThemAndDoesNotWriteThemS44S45) {
    for (const char* path : {".env.test", "certs/test.key", "certs/more.key"}) {
        EXPECT_EQ(reads(path), 0) << path;
        EXPECT_EQ(actor().write(path, 0, "x"), EACCES) << path;
        EXPECT_EQ(actor().unlink(path), EACCES) << path;
        EXPECT_EQ(actor().rename(path, "elsewhere", 0), EACCES) << path;
        EXPECT_EQ(actor().link(path, "linked"), EACCES) << path;
        EXPECT_TRUE(explained(path).tracked) << path;
        EXPECT_FALSE(explained(path).agent.may_read) << "what it was at other times";
    }
    EXPECT_EQ(reads(".env"), EACCES) << "git does not track it";
    EXPECT_FALSE(explained(".env").tracked);
    EXPECT_EQ(reads(".ssh/config"), EACCES) << "a directory is not a tracked file";
    EXPECT_EQ(reads("private/server.key"), EACCES) << "a rule of the user's own";
    EXPECT_FALSE(explained("private/server.key").tracked);
}

TEST_P(TrackedSecrets, OtherBytesAreASecretAgainS45) {
    as_user();
    replace(".env.test", "A=2\n");
    save("certs/test.key", "NEW\n");
    as_agent();
    EXPECT_EQ(reads(".env.test"), EACCES);
    EXPECT_EQ(reads("certs/test.key"), EACCES);
    as_user();
    replace(".env.test", "A=1\n");
    as_agent();
    EXPECT_EQ(reads(".env.test"), 0);
    EXPECT_EQ(reads("certs/more.key"), 0);
}

TEST_P(TrackedSecrets, NothingThatAnAgentWritesMakesASecretReadableS45) {
    write_index("add -f .env");
    EXPECT_EQ(reads(".env"), EACCES) << "though the index names the very bytes";
    EXPECT_EQ(reads(".env.test"), 0);
    start();
    EXPECT_EQ(reads(".env"), EACCES) << "nor in the next life of the same task";
    EXPECT_EQ(reads(".env.test"), 0);
    write_index("rm -q --cached .env.test");
    EXPECT_EQ(reads(".env.test"), 0) << "it was tracked when the task began";
    ASSERT_EQ(actor().unlink(".git/index"), 0);
    EXPECT_EQ(reads(".env.test"), 0);
    EXPECT_EQ(reads(".env"), EACCES);
}

TEST_P(TrackedSecrets, ATaskBeginsWithWhatIsTrackedThenS45) {
    as_user();
    write_index("add -f .env");
    as_agent();
    EXPECT_EQ(reads(".env"), EACCES);
    ASSERT_OK(operations().commit(World::asker(), "", false));
    EXPECT_EQ(reads(".env"), 0);
}

TEST_P(TrackedSecrets, AnotherNameOfTheFileIsJudgedByItselfS44S45) {
    as_user();
    ASSERT_EQ(actor().link(".env.test", "private/alias"), 0);
    as_agent();
    EXPECT_EQ(reads(".env.test"), EACCES);
    EXPECT_EQ(reads("private/alias"), EACCES);
}

}  // namespace
}  // namespace unwrite::tests
