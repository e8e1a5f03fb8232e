// Changes that a person is asked about: who is asked, what an answer opens, and that nothing at all
// happens before it.
#include <gtest/gtest.h>
#include <linux/falloc.h>

#include <chrono>
#include <future>
#include <thread>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using namespace std::chrono_literals;
using overlay::Action;
using overlay::Question;
using overlay::Questioned;
using overlay::QuestionNumber;
using overlay::Subjects;
using overlay::Ticket;
using overlay::Watcher;

class Asked : public Looking {
 protected:
    void SetUp() override {
        before("asked/file", "file\n");
        before("asked/below/deep", "deep\n");
        before("other/file", "o\n");
        before("free", "free\n");
        before("dir/file", "file\n");
        begin_with(1h);
    }
    void begin_with(std::chrono::milliseconds patience) {
        world_.reset();
        overlay::SessionOptions options;
        std::vector<overlay::Rule> rules;
        for (const char* pattern : {"asked/**", "other/**", "*.ask"}) {
            overlay::Rule rule;
            rule.pattern = pattern;
            rule.action = Action::kAsk;
            rule.source = "test";
            rules.push_back(rule);
        }
        auto policy = overlay::Policy::compile(std::move(rules));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options.policy = *policy;
        options.ask_patience = patience;
        world_.emplace(raw().string(), options);
        begin_run();
        patient(::getpid());
        waiting().set_release([this](const std::vector<Ticket>& tickets, int error) {
            for (const Ticket ticket : tickets)
                released_[ticket] = error;
        });
        whole_ = world_->look();
    }
    overlay::Waiting& waiting() { return world_->session().waiting(); }
    overlay::Oversight& oversight() { return world_->session().oversight(); }
    /// Whose requests can wait.
    void patient(pid_t pid) { actor().set_caller({0, 0, pid, 0022, false, &question_}); }
    /// What the request must wait for; 0: it was refused.
    QuestionNumber question() { return std::exchange(question_, 0); }
    void somebody_is_there(const std::string& session = {}, std::uint64_t id = 1) {
        Watcher watcher;
        watcher.id = id;
        watcher.session = session;
        ASSERT_OK(oversight().questions(watcher));
    }
    std::vector<Question> questions() {
        auto all = oversight().questions({});
        EXPECT_TRUE(all.ok());
        return all ? all->questions : std::vector<Question>();
    }
    std::string state(QuestionNumber number) {
        for (const Question& one : questions())
            if (one.number == number) return one.state;
        return "none";
    }
    void answer(QuestionNumber number, bool approve, bool whole_rule = false) {
        const auto answered = oversight().answer({0, 77, ""}, number, approve, whole_rule);
        EXPECT_TRUE(answered.ok()) << answered.error().message();
    }
    void expect_untouched() {
        EXPECT_EQ(difference(whole_, world_->look()), "");
        EXPECT_EQ(changes(), Lines());
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.records, 0U) << "what was not allowed left a row in the journal";
    }
    std::vector<std::string> events() {
        std::vector<std::string> lines;
        const auto trail = oversight().audit(1000);
        EXPECT_TRUE(trail.ok());
        if (trail) {
            for (const auto& entry : trail->entries)
                lines.push_back(entry.event + " " + entry.operation + " " + entry.path);
        }
        return lines;
    }
    QuestionNumber question_ = 0;
    std::map<Ticket, int> released_;
    Snapshot whole_;
};

TEST_F(Asked, NothingHappensBeforeTheAnswer) {
    somebody_is_there();
    TreeActor& a = actor();
    const std::vector<std::function<int()>> all = {
        [&] { return a.write("asked/file", 0, "x"); },
        [&] { return a.append("asked/file", "x"); },
        [&] { return a.truncate("asked/file", 0); },
        [&] { return a.fallocate("asked/file", FALLOC_FL_KEEP_SIZE, 0, 9); },
        [&] { return a.copy("free", 0, "asked/file", 0, 4); },
        [&] { return a.chmod("asked/file", 0777); },
        [&] { return a.chown("asked/file", 1, 1); },
        [&] { return a.utimens("asked/file", 1); },
        [&] { return a.set_xattr("asked/file", "user.a", "b", 0); },
        [&] { return a.remove_xattr("asked/file", "user.a"); },
        [&] { return a.link("asked/file", "linked"); },
        [&] { return a.link("free", "asked/linked"); },
        [&] { return a.unlink("asked/file"); },
        [&] { return a.rename("asked/file", "elsewhere", 0); },
        [&] { return a.rename("free", "asked/file", 0); },
        [&] { return a.rename("free", "asked/file", RENAME_EXCHANGE); },
        [&] { return a.rename("dir", "asked/dir", 0); },
        [&] { return a.rename("asked", "moved", 0); },
        [&] { return a.create("asked/new", 0644); },
        [&] { return a.mkdir("asked/new", 0755); },
        [&] { return a.mknod("asked/new", S_IFIFO | 0600, 0); },
        [&] { return a.symlink("asked/new", "free"); },
        [&] { return a.temporary("", "x", "asked/new"); },
        [&] { return a.rmdir("asked/below"); },
        [&] { return a.create("new.ask", 0644); }};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i](), EACCES) << i;
        EXPECT_NE(question(), 0U) << i << " does not wait";
    }
    expect_untouched();
    EXPECT_EQ(a.write("free", 0, "F"), 0) << "what no rule is about needs no answer";
    EXPECT_EQ(a.read("asked/file").value_or(""), "file\n") << "reading neither";
}

TEST_F(Asked, WithNobodyThereItIsRefusedAtOnce) {
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 0U);
    expect_untouched();
    ASSERT_EQ(questions().size(), 1U);
    EXPECT_EQ(questions()[0].state, "unasked");
    EXPECT_EQ(questions()[0].path, "asked/file");
    EXPECT_EQ(questions()[0].operation, "write");
    EXPECT_EQ(events().back(), "refused write asked/file");
    answer(questions()[0].number, true);
    EXPECT_EQ(actor().write("asked/file", 0, "x"), 0) << "the next try may";
}

TEST_F(Asked, WhoCannotWaitIsRefusedAtOnce) {
    somebody_is_there();
    as_user();
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    actor().set_caller({0, 0, 0, 0022, false, &question_});
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES) << "a mapping's store has no maker";
    EXPECT_EQ(question(), 0U);
    expect_untouched();
}

TEST_F(Asked, OneQuestionForManyWritesAndManyWaiters) {
    somebody_is_there();
    for (int i = 0; i < 500; ++i) {
        ASSERT_EQ(actor().write("asked/file", static_cast<std::uint64_t>(i), "x"), EACCES);
        ASSERT_EQ(question(), 1U);
        ASSERT_TRUE(waiting().await(1, static_cast<Ticket>(100 + i)));
    }
    ASSERT_EQ(questions().size(), 1U);
    EXPECT_EQ(questions()[0].waiting, 500U);
    EXPECT_EQ(actor().write("other/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 2U) << "another file is another question";
    answer(1, true);
    EXPECT_EQ(released_.size(), 500U);
    EXPECT_EQ(released_[100], 0);
    EXPECT_EQ(actor().write("asked/file", 0, "y"), 0);
    EXPECT_EQ(actor().unlink("asked/file"), 0);
    EXPECT_EQ(actor().create("asked/file", 0644), 0) << "the leave is for the path";
    EXPECT_EQ(actor().write("other/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 2U);
}

TEST_F(Asked, ADenialHoldsUntilItIsTakenBack) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 5));
    answer(1, false);
    EXPECT_EQ(released_, (std::map<Ticket, int>{{5, EACCES}}));
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 0U);
    expect_untouched();
    answer(1, true);
    EXPECT_EQ(actor().write("asked/file", 0, "x"), 0);
}

TEST_F(Asked, AnAnswerIsForTheOneWhoAsked) {
    somebody_is_there();
    patient(kAgent);
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    const QuestionNumber agents = question();
    EXPECT_EQ(questions()[0].session, "agent");
    EXPECT_TRUE(questions()[0].agent);
    answer(agents, true);
    EXPECT_EQ(actor().write("asked/file", 0, "x"), 0);
    patient(::getpid());
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES) << "the user was not asked";
    EXPECT_NE(question(), 0U);
}

TEST_F(Asked, AWatcherOfOneRunIsNobodyToOthers) {
    somebody_is_there("agent");
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 0U);
    patient(kAgent);
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 2U);
    Watcher agents;
    agents.session = "agent";
    ASSERT_ASSIGN(const Questioned seen, oversight().questions(agents));
    ASSERT_EQ(seen.questions.size(), 1U) << "it sees its own run's alone";
    EXPECT_EQ(seen.questions[0].number, 2U);
}

TEST_F(Asked, AWatcherThatGoesIsNotThere) {
    somebody_is_there();
    Watcher going;
    going.id = 1;
    going.present = false;
    ASSERT_OK(oversight().questions(going));
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 0U);
}

TEST_F(Asked, AWatcherThatCannotAskPassesItOver) {
    somebody_is_there("", 1);
    somebody_is_there("", 2);
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 9));
    ASSERT_OK(oversight().pass_over(1, 1));
    EXPECT_EQ(state(1), "open") << "the other one is there";
    Watcher going;
    going.id = 2;
    going.present = false;
    ASSERT_OK(oversight().questions(going));
    ASSERT_OK(oversight().pass_over(1, 1));
    EXPECT_EQ(state(1), "unasked");
    EXPECT_EQ(released_, (std::map<Ticket, int>{{9, EACCES}}));
}

TEST_F(Asked, NobodyAnswersInTime) {
    begin_with(1ms);
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    const QuestionNumber number = question();
    ASSERT_TRUE(waiting().await(number, 9));
    while (waiting().expire())
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(state(number), "expired");
    EXPECT_EQ(released_, (std::map<Ticket, int>{{9, EACCES}}));
    EXPECT_FALSE(waiting().await(number, 10)) << "it is not open any more";
    expect_untouched();
    EXPECT_EQ(actor().write("asked/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), number + 1) << "the next try is asked about anew";
}

TEST_F(Asked, WhatNobodyWaitsForIsWithdrawn) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 1));
    ASSERT_TRUE(waiting().await(1, 2));
    waiting().leave(1, 1);
    EXPECT_EQ(state(1), "open");
    waiting().leave(1, 2);
    EXPECT_EQ(state(1), "none");
    EXPECT_EQ(oversight().answer({}, 1, true, false).error().kind(), ErrorKind::kNotFound);
    EXPECT_EQ(events().back(), "withdrawn write asked/file");
}

TEST_F(Asked, TheEndRefusesAllThatWaits) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 1));
    waiting().close();
    EXPECT_EQ(released_, (std::map<Ticket, int>{{1, EACCES}}));
    somebody_is_there();
    EXPECT_EQ(actor().write("other/file", 0, "x"), EACCES);
    EXPECT_EQ(question(), 0U) << "nothing waits from now on";
    expect_untouched();
}

TEST_F(Asked, AllThatTheRuleAsksAbout) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 1));
    actor().write("asked/below/deep", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 2));
    answer(1, true, true);
    EXPECT_EQ(released_, (std::map<Ticket, int>{{1, 0}, {2, 0}}));
    EXPECT_EQ(actor().write("asked/below/deep", 0, "x"), 0);
    EXPECT_EQ(actor().create("asked/new", 0644), 0);
    EXPECT_EQ(actor().write("other/file", 0, "x"), EACCES) << "another rule";
}

TEST_F(Asked, ADirectoryThatMovesInOrOutIsAskedAbout) {
    somebody_is_there();
    EXPECT_EQ(actor().rename("asked/below", "below", 0), EACCES);
    answer(question(), true);
    EXPECT_EQ(actor().rename("asked/below", "below", 0), 0) << "with what is below it";
    EXPECT_EQ(actor().rename("dir", "asked/dir", 0), EACCES);
    answer(question(), true);
    // What it carries along is another question: of where it comes from.
    EXPECT_EQ(actor().rename("dir", "asked/dir", 0), EACCES);
    answer(question(), true);
    EXPECT_EQ(actor().rename("dir", "asked/dir", 0), 0);
}

TEST_F(Asked, ALinkThatWasAllowedIsAskedAboutToo) {
    somebody_is_there();
    EXPECT_EQ(actor().link("asked/file", "linked"), EACCES);
    answer(question(), true);
    EXPECT_EQ(actor().link("asked/file", "linked"), 0);
    EXPECT_EQ(actor().write("linked", 0, "x"), EACCES) << "it is the same file";
    EXPECT_NE(question(), 0U);
}

TEST_F(Asked, AnAllowanceLetsWhatWaitsTryAgain) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    ASSERT_TRUE(waiting().await(question(), 1));
    ASSERT_OK(oversight().allow({}, "asked/file", false, 0));
    EXPECT_EQ(released_, (std::map<Ticket, int>{{1, 0}}));
    EXPECT_EQ(actor().write("asked/file", 0, "x"), 0);
}

TEST_F(Asked, EachQuestionAndAnswerIsInTheAuditLog) {
    somebody_is_there();
    actor().write("asked/file", 0, "x");
    answer(question(), true);
    actor().unlink("other/file");
    answer(question(), false);
    EXPECT_EQ(events(), (Lines{"asked write asked/file", "approved write asked/file",
                               "asked unlink other/file", "denied unlink other/file"}));
    const auto trail = oversight().audit(1000);
    EXPECT_EQ(trail->entries[1].pid, 77) << "who answered";
}

TEST_F(Asked, WhoLooksHearsOfAChange) {
    ASSERT_ASSIGN(const Questioned now, oversight().questions({}));
    auto later = std::async(std::launch::async, [&] {
        Watcher watcher;
        watcher.id = 3;
        watcher.seen = now.version;
        watcher.wait_ms = 15'000;
        return oversight().questions(watcher);
    });
    // Until it is there, the question is refused at once, which is news as well.
    while (later.wait_for(0s) != std::future_status::ready)
        actor().write("asked/file", 0, "x");
    const auto heard = later.get();
    ASSERT_TRUE(heard.ok());
    EXPECT_GT(heard->version, now.version);
    EXPECT_EQ(heard->questions.size(), 1U);
}

}  // namespace
}  // namespace unwrite::tests
