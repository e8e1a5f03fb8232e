// What the policy refuses on a tree, whatever the way to it: each operation on each kind of
// protected name, as the user and as an agent; and that a refusal changes nothing.
#include <gtest/gtest.h>
#include <linux/falloc.h>

#include <fstream>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Action;
using overlay::Consent;
using overlay::Subjects;

class Policed : public Looking {
 protected:
    void SetUp() override {
        before(".env", "SECRET=1\n");
        before(".ssh/config", "Host *\n");
        before(".config/gcloud/token", "t\n");
        before(".config/other", "o\n");
        before(".git/hooks/pre-commit", "#!/bin/sh\n");
        before(".git/hooks/pre-commit.sample", "#!/bin/sh\n");
        before("free", "free\n");
        before("dir/file", "file\n");
        std::filesystem::create_hard_link(raw() / ".env", raw() / "alias");
        begin_with(overlay::default_rules(bind()));
    }
    /// Whom the rules bind.
    virtual Subjects bind() const { return Subjects::kEveryone; }
    void begin_with(std::vector<overlay::Rule> rules) {
        world_.reset();
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile(std::move(rules));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options.policy = *policy;
        world_.emplace(raw().string(), options);
        begin_run();
        as_user();
        whole_ = world_->look();
    }
    static overlay::Rule rule(const std::string& pattern, Action action,
                              Subjects subjects = Subjects::kEveryone) {
        overlay::Rule made;
        made.pattern = pattern;
        made.action = action;
        made.subjects = subjects;
        made.source = "test";
        return made;
    }
    /// Every change of what exists at `path`, by each system call.
    std::vector<std::pair<std::string, int>> all_changes(const std::string& path) {
        TreeActor& a = actor();
        return {{"write", a.write(path, 0, "x")},
                {"append", a.append(path, "x")},
                {"truncate", a.truncate(path, 0)},
                {"fallocate", a.fallocate(path, FALLOC_FL_KEEP_SIZE, 0, 9)},
                {"copy to", a.copy("free", 0, path, 0, 4)},
                {"chmod", a.chmod(path, 0777)},
                {"chown", a.chown(path, 1, 1)},
                {"utimens", a.utimens(path, 1)},
                {"setxattr", a.set_xattr(path, "user.a", "b", 0)},
                {"removexattr", a.remove_xattr(path, "user.a")},
                {"link from", a.link(path, "linked")}};
    }
    /// Every change of the name.
    std::vector<std::pair<std::string, int>> all_takings(const std::string& path) {
        TreeActor& a = actor();
        std::vector<std::pair<std::string, int>> all = {
            {"unlink", a.unlink(path)},
            {"rename from", a.rename(path, "elsewhere", 0)},
            {"rename to", a.rename("free", path, 0)},
            {"rename dir to", a.rename("dir", path, 0)},
            {"exchange", a.rename("free", path, RENAME_EXCHANGE)},
            {"exchange back", a.rename(path, "free", RENAME_EXCHANGE)},
            {"link to", a.link("free", path)},
            {"create", a.create(path, 0644)},
            {"mknod", a.mknod(path, S_IFIFO | 0600, 0)},
            {"symlink", a.symlink(path, "free")},
            {"tmpfile and link", a.temporary("", "x", path)}};
        // Agents may make an empty directory under a secret name (decision 0051).
        if (bind() == Subjects::kEveryone || stands(path))
            all.emplace_back("mkdir", a.mkdir(path, 0755));
        return all;
    }
    bool stands(const std::string& path) const {
        return std::filesystem::exists(std::filesystem::symlink_status(raw() / path));
    }
    void expect_untouched() {
        EXPECT_EQ(difference(whole_, world_->look()), "");
        EXPECT_EQ(changes(), Lines());
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.records, 0U) << "a refusal left a row in the journal";
    }
    Snapshot whole_;
};

/// The default rules, and whoever they bind: an agent, or, where the user wants that, the user.
class Bound : public Policed, public ::testing::WithParamInterface<Subjects> {
 protected:
    Subjects bind() const override { return GetParam(); }
    void SetUp() override {
        Policed::SetUp();
        if (GetParam() == Subjects::kAgents) as_agent();
    }
};
INSTANTIATE_TEST_SUITE_P(Each, Bound, ::testing::Values(Subjects::kAgents, Subjects::kEveryone),
                         [](const auto& one) {
                             return one.param == Subjects::kAgents ? "agents" : "everyone";
                         });

TEST_P(Bound, NobodyChangesAProtectedFileS44S82) {
    for (const char* path :
         {".env", ".git/hooks/pre-commit", ".ssh/config", ".config/gcloud/token"}) {
        for (const auto& [call, number] : all_changes(path))
            EXPECT_EQ(number, EACCES) << call << ' ' << path;
        for (const auto& [call, number] : all_takings(path))
            EXPECT_TRUE(number == EACCES || number == EEXIST)
                << call << ' ' << path << ' ' << number;
    }
    expect_untouched();
}

TEST_P(Bound, ANameThatIsNotThereYetIsProtectedTooS44) {
    for (const char* path :
         {".env.local", "dir/id_rsa", ".ssh/new", ".git/hooks/post-merge", "new.pem", ".ENV.x"}) {
        for (const auto& [call, number] : all_takings(path))
            EXPECT_TRUE(number == EACCES || number == ENOENT || number == EINVAL)
                << call << ' ' << path << ' ' << number;
    }
    expect_untouched();
}

TEST_P(Bound, AProtectedDirectoryStaysWhereItIsS44) {
    for (const char* path : {".ssh", ".config/gcloud"}) {
        EXPECT_EQ(actor().rename(path, "moved", 0), EACCES) << path;
        EXPECT_EQ(actor().rmdir(path), EACCES) << path;
        EXPECT_EQ(actor().chmod(path, 0700), EACCES) << path;
        EXPECT_EQ(actor().rename("dir", path, RENAME_EXCHANGE), EACCES) << path;
    }
    EXPECT_EQ(actor().rename(".config", "config", 0), EACCES) << "its ancestor takes it along";
    EXPECT_EQ(actor().rename("dir", ".config", RENAME_EXCHANGE), EACCES);
    expect_untouched();
    EXPECT_EQ(actor().write(".config/other", 0, "O"), 0);
    EXPECT_EQ(actor().rename("dir", "renamed", 0), 0);
}

TEST_P(Bound, ADirectoryThatMovesPlantsNothingS44) {
    later();
    ASSERT_EQ(actor().mkdir("plant", 0755), 0);
    ASSERT_EQ(actor().mkdir("plant/hooks", 0755), 0);
    ASSERT_EQ(actor().create("plant/hooks/post-commit", 0755), 0);
    EXPECT_EQ(actor().rename("plant", "dir/.git", 0), EACCES);
    ASSERT_EQ(actor().mkdir("dir/.git", 0755), 0);
    EXPECT_EQ(actor().rename("plant/hooks", "dir/.git/hooks", 0), EACCES);
    ASSERT_EQ(actor().unlink("plant/hooks/post-commit"), 0);
    EXPECT_EQ(actor().rename("plant/hooks", "dir/.git/hooks", 0), 0);
    EXPECT_EQ(actor().mkdir("dir/.git/hooks/post-commit.d", 0755), EACCES)
        << "names below it are judged by where it stands now";
    EXPECT_EQ(actor().create("dir/.git/hooks/post-commit.sample", 0755), 0);
}

// So that a template with a hook does not make `git clone` fail.
TEST_P(Bound, AHookOfANewRepositoryIsThereAndCannotBeExecutedS44) {
    later();
    ASSERT_EQ(actor().mkdir("made", 0755), 0);
    ASSERT_EQ(actor().mkdir("made/.git", 0755), 0);
    ASSERT_EQ(actor().mkdir("made/.git/hooks", 0755), 0);
    const std::string hook = "made/.git/hooks/pre-commit";
    ASSERT_EQ(actor().create(hook, 0777), 0);
    const auto mode = [&] { return actor().stat(hook)->st_mode & 07777U; };
    EXPECT_EQ(mode() & 0111U, 0U);
    EXPECT_EQ(actor().write(hook, 0, "#!/bin/sh\n"), 0);
    EXPECT_EQ(actor().chmod(hook, 0600), 0);
    EXPECT_EQ(actor().chmod(hook, 0700), EACCES);
    EXPECT_EQ(actor().chmod(hook, 0601), EACCES);
    EXPECT_EQ(actor().set_xattr(hook, "user.a", "b", 0), EACCES);
    EXPECT_EQ(actor().link(hook, "linked"), EACCES);
    EXPECT_EQ(actor().rename(hook, "moved", 0), EACCES);
    ASSERT_EQ(actor().create("made/x", 0755), 0);
    EXPECT_EQ(actor().rename("made/x", hook, 0), EACCES);
    EXPECT_EQ(actor().link("made/x", "made/.git/hooks/post-merge"), EACCES);
    EXPECT_EQ(actor().symlink("made/.git/hooks/post-merge", "../../x"), EACCES);
    EXPECT_EQ(actor().mknod("made/.git/hooks/post-merge", S_IFREG | 0644, 0), EACCES);
    EXPECT_EQ(mode(), 0600U);
    EXPECT_EQ(actor().create(".git/hooks/post-merge", 0644), EACCES) << "it was there before";
    std::filesystem::permissions(raw() / hook, std::filesystem::perms{0755});
    EXPECT_EQ(actor().write(hook, 0, "x"), EACCES) << "what somebody made executable";
    EXPECT_EQ(actor().truncate(hook, 0), EACCES);
    EXPECT_EQ(actor().unlink(hook), 0);
}

TEST_P(Bound, AHardLinkThatWasThereBeforeIsTheSameFileS44) {
    for (const auto& [call, number] : all_changes("alias"))
        EXPECT_EQ(number, EACCES) << call;
    as_agent();
    EXPECT_EQ(actor().read("alias").error().number(), EACCES);
    expect_untouched();
}

class PolicedAgents : public Policed {
 protected:
    Subjects bind() const override { return Subjects::kAgents; }
};

TEST_F(PolicedAgents, TheUserIsFreeAndTakesItBackS40S42S44) {
    for (const char* path :
         {".env", ".git/hooks/pre-commit", ".ssh/config", ".config/gcloud/token", "alias"}) {
        for (const auto& [call, number] : all_changes(path))
            EXPECT_TRUE(number == 0 || (call == "removexattr" && number == ENODATA) ||
                        (call == "link from" && number == EEXIST))
                << call << ' ' << path << ' ' << number;
    }
    make("core", "dump\n");
    make(".env.local", "A=1\n");
    make(".git/hooks/post-merge", "#!/bin/sh\n");
    EXPECT_EQ(actor().rename(".config", "config", 0), 0);
    EXPECT_EQ(actor().rename("dir", ".aws", 0), 0);
    EXPECT_EQ(actor().unlink("alias"), 0);
    save(".env", "SECRET=2\n");
    as_agent();
    EXPECT_EQ(actor().read(".env").error().number(), EACCES) << "what the user saved anew";
    EXPECT_EQ(actor().read(".aws/file").error().number(), EACCES) << "what the user moved there";
    EXPECT_EQ(actor().write("core", 0, "x"), EACCES);
    as_user();
    ASSERT_OK(discard_all());
    EXPECT_EQ(difference(whole_, world_->look()), "");
}

TEST_F(PolicedAgents, ADirectoryCalledCoreIsNoCoreDumpS44S164) {
    for (const bool agent : {false, true}) {
        agent ? as_agent() : as_user();
        ASSERT_EQ(actor().mkdir("core", 0755), 0);
        make("core/a", "a");
        ASSERT_EQ(actor().mkdir("core/core.1", 0755), 0);
        make("core/core.1/b", "b");
        EXPECT_EQ(actor().rename("core", "dir/core", 0), 0);
        EXPECT_EQ(actor().symlink("core", "dir/core"), 0);
        EXPECT_EQ(actor().unlink("core"), 0) << "a link is no dump";
        EXPECT_EQ(actor().unlink("dir/core/a"), 0);
        EXPECT_EQ(actor().unlink("dir/core/core.1/b"), 0);
        EXPECT_EQ(actor().rmdir("dir/core/core.1"), 0);
        EXPECT_EQ(actor().rmdir("dir/core"), 0);
    }
    for (const char* dump : {"core", "core.4711", "dir/core"}) {
        EXPECT_EQ(actor().create(dump, 0600), EACCES) << dump;
        EXPECT_EQ(actor().rename("free", dump, 0), EACCES) << dump;
        EXPECT_EQ(actor().link("free", dump), EACCES) << dump;
    }
    EXPECT_EQ(actor().create("core.js", 0600), 0);
    as_user();
    make("core", "dump");
    as_agent();
    EXPECT_EQ(actor().unlink("core"), EACCES);
    EXPECT_EQ(actor().write("core", 0, "x"), EACCES);
    ASSERT_EQ(actor().symlink("link", "free"), 0);
    EXPECT_EQ(actor().rename("link", "core", 0), EACCES) << "it would take the dump away";
    ASSERT_EQ(actor().mkdir("moved", 0755), 0);
    EXPECT_EQ(actor().rename("moved", "core", RENAME_EXCHANGE), EACCES);
    EXPECT_EQ(actor().read("core").value_or(""), "dump");
}

TEST_F(PolicedAgents, WhatPackageManagersUnpackIsFreeS44) {
    as_agent();
    for (const char* directory : {"node_modules", "site-packages", "vendor"}) {
        ASSERT_EQ(actor().mkdir(directory, 0755), 0);
        for (const char* name : {".env", "server.key", ".npmrc", "id_rsa.pub", "core"}) {
            const std::string path = std::string(directory) + "/" + name;
            make(path, "x");
            EXPECT_EQ(actor().read(path).value_or(""), "x");
            EXPECT_EQ(actor().rename(path, path + ".moved", 0), 0);
            EXPECT_EQ(actor().rename(path + ".moved", path, 0), 0);
        }
        EXPECT_EQ(actor().rename(directory, "elsewhere", 0), EACCES) << "that would plant them";
        EXPECT_EQ(actor().rename(std::string(directory) + "/.env", ".env", 0), EACCES);
    }
}

// Their maker is not known: the user's, unless an agent may have mapped the file.
TEST_F(PolicedAgents, StoresThroughAMappingAreJudgedByTheInodeS42S44) {
    begin_with({rule("*.md", Action::kDenyWrite, Subjects::kAgents)});
    before("a.md", "a\n");
    auto& tree = world_->tree();
    const auto of_user = tree.lookup({0, 0, ::getpid(), 0022}, overlay::kRootId, "a.md");
    const auto of_agent = tree.lookup({0, 0, kAgent, 0022}, overlay::kRootId, "a.md");
    ASSERT_TRUE(of_user && of_agent);
    EXPECT_EQ(of_user->id, of_agent->id);
    EXPECT_EQ(of_user->audience, overlay::Audience::kOthers);
    EXPECT_EQ(of_agent->audience, overlay::Audience::kAgents);
    const auto store = [&](overlay::Audience audience) {
        overlay::Caller nobody{0, 0, 0, 0022};
        nobody.audience = audience;
        const auto bytes = std::as_bytes(std::span("b", 1));
        const auto written = tree.write(nobody, of_user->id, bytes, 0, false);
        return written ? 0 : written.error().number();
    };
    EXPECT_EQ(store(overlay::Audience::kOthers), 0);
    EXPECT_EQ(store(overlay::Audience::kAgents), EACCES);
    EXPECT_EQ(store(overlay::Audience::kEveryone), EACCES) << "it may be an agent's from before";
    ASSERT_OK(operations().end_run(status().current));
    EXPECT_EQ(store(overlay::Audience::kOthers), 0);
    EXPECT_EQ(store(overlay::Audience::kAgents), EACCES);
    EXPECT_EQ(store(overlay::Audience::kEveryone), 0) << "no agent is left";
    const auto of_nobody = tree.lookup({0, 0, 0, 0022}, overlay::kRootId, "a.md");
    ASSERT_TRUE(of_nobody.ok());
    EXPECT_EQ(of_nobody->audience, overlay::Audience::kAgents) << "when in doubt";
}

// Its locks and its shared memory are those of one inode.
TEST_F(PolicedAgents, StoresThroughAMappingOfADatabaseByWhoMetItS42S44) {
    auto databases = rule("*.md", Action::kAsk, Subjects::kAgents);
    databases.existing_only = true;
    begin_with({databases});
    before("a.md", "a\n");
    const overlay::Caller user{0, 0, ::getpid(), 0022};
    const overlay::Caller agent{0, 0, kAgent, 0022};
    const overlay::Caller nobody{0, 0, 0, 0022};
    auto& tree = world_->tree();
    const auto met = tree.lookup(user, overlay::kRootId, "a.md");
    ASSERT_TRUE(met.ok());
    EXPECT_EQ(met->audience, overlay::Audience::kEveryone);
    const auto store = [&] {
        const auto bytes = std::as_bytes(std::span("b", 1));
        const auto written = tree.write(nobody, met->id, bytes, 0, false);
        return written ? 0 : written.error().number();
    };
    EXPECT_TRUE(met->personal) << "each look-up is to be seen";
    EXPECT_EQ(store(), 0);
    overlay::Caller listing = agent;
    listing.listing = true;
    ASSERT_TRUE(tree.lookup(listing, overlay::kRootId, "a.md").ok());
    EXPECT_EQ(store(), 0) << "that a directory lists it opens nothing";
    ASSERT_TRUE(tree.lookup(agent, overlay::kRootId, "a.md").ok());
    EXPECT_EQ(store(), EACCES);
    ASSERT_OK(operations().end_run(status().current));
    EXPECT_EQ(store(), 0) << "no agent is left";
}

TEST_F(Policed, AnAgentDoesNotReadASecretAndTheUserDoesS45) {
    EXPECT_EQ(actor().read(".env").value_or(""), "SECRET=1\n");
    EXPECT_EQ(actor().read(".ssh/config").value_or(""), "Host *\n");
    as_agent();
    EXPECT_EQ(actor().read(".env").error().number(), EACCES);
    EXPECT_EQ(actor().read(".ssh/config").error().number(), EACCES);
    EXPECT_EQ(actor().copy(".env", 0, "free", 0, 4), EACCES);
    EXPECT_EQ(actor().link(".env", "mine"), EACCES);
    EXPECT_EQ(actor().read(".git/hooks/pre-commit").value_or(""), "#!/bin/sh\n");
    EXPECT_EQ(actor().write("free", 0, "F"), 0);
    as_user();
    EXPECT_EQ(actor().read(".env").value_or(""), "SECRET=1\n");
}

TEST_F(Policed, WhatNobodyMayWriteShowsAsReadOnly) {
    EXPECT_EQ(actor().stat(".env")->st_mode & 0777U, 0444U);
    EXPECT_EQ(actor().stat("free")->st_mode & 0777U, 0644U);
}

TEST_F(Policed, WhatIsHiddenIsNotThereS44) {
    begin_with({rule("/secret", Action::kHide), rule("*.hid", Action::kHide)});
    before("secret/x", "x");
    before("dir/a.hid", "a");
    whole_ = world_->look();
    EXPECT_EQ(actor().stat("secret").error().number(), ENOENT);
    EXPECT_EQ(actor().stat("dir/a.hid").error().number(), ENOENT);
    EXPECT_EQ(actor().create("dir/b.hid", 0644), EACCES);
    EXPECT_EQ(actor().mkdir("secret", 0755), EACCES);
    ASSERT_ASSIGN(const auto listed, world_->tree().read_directory(overlay::kRootId, 0, 1000));
    for (const auto& entry : listed)
        EXPECT_NE(entry.name, "secret");
    expect_untouched();
}

TEST_F(Policed, RulesForAgentsAloneBindAlsoStoresOfNobodyKnownS44) {
    begin_with({rule("*.md", Action::kDenyWrite, Subjects::kAgents)});
    before("a.md", "a\n");
    EXPECT_EQ(actor().write("a.md", 0, "u"), 0);
    as_agent();
    EXPECT_EQ(actor().write("a.md", 0, "x"), EACCES);
    EXPECT_EQ(actor().read("a.md").value_or(""), "u\n");
    actor().set_caller({0, 0, 0, 0022});  // a mapping's write-back
    EXPECT_EQ(actor().write("a.md", 0, "x"), EACCES);
}

TEST_F(Policed, ACheckpointRelaxesNothingAndARestoreGoesOnS65) {
    checkpoint("one");
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    ASSERT_EQ(actor().write("free", 0, "changed"), 0);
    ASSERT_EQ(actor().unlink("dir/file"), 0);
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    EXPECT_EQ(difference(whole_, world_->look()), "");
}

}  // namespace
}  // namespace unwrite::tests
