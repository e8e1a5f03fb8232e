// A world in which a person is there to be asked: an agent and a user whose requests may wait for
// an answer.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "tests/overlay/looking.h"

namespace unwrite::tests {

class Asking : public Looking {
 protected:
    /// Begins with a run, as its agent; somebody watches for questions.
    void begin_asking(const overlay::SessionOptions& options) {
        world_.emplace(raw().string(), options);
        begin_run();
        agent();
        world_->session().waiting().set_release([](const auto&, int) {});
        overlay::Watcher watcher;
        watcher.id = 1;
        ASSERT_OK(world_->session().oversight().questions(watcher));
    }
    void agent() { actor().set_caller({0, 0, kAgent, 0022, false, &question_}); }
    void user() { actor().set_caller({0, 0, ::getpid(), 0022, false, &question_}); }
    /// The question that the last request waits for; 0: none.
    overlay::QuestionNumber question() { return std::exchange(question_, 0); }

 private:
    overlay::QuestionNumber question_ = 0;
};

}  // namespace unwrite::tests
