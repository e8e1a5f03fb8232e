// What the tests of keep-mine share: a text that an agent and the user change.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <string>

#include "tests/overlay/looking.h"
#include "tests/overlay/numbered.h"

namespace unwrite::tests {

class KeepMine : public Looking {
 protected:
    void start() {
        before("text", numbered({}));
        begin();
        run_ = begin_run();
    }
    void agent(const std::string& text) {
        as_agent();
        replace("text", text);
        as_user();
    }
    void user(const std::string& text) {
        as_user();
        replace("text", text);
    }
    /// As editors do: a new file, renamed over the old one.
    void agent_saves(const std::string& text, const std::string& path = "text") {
        as_agent();
        save(path, text);
        as_user();
    }
    void user_saves(const std::string& text, const std::string& path = "text") {
        as_user();
        save(path, text);
    }
    struct stat look(const std::string& path) const {
        struct stat found = {};
        EXPECT_EQ(::lstat((raw() / path).c_str(), &found), 0) << path;
        return found;
    }
    std::string text(const std::string& path = "text") {
        return actor().read(path).value_or("none");
    }
    void expect_left(const std::string& wanted, const std::string& path = "text") {
        const Snapshot was = world_->look();
        ASSERT_OK(operations().revert(World::asker(), ":agents", true));
        EXPECT_EQ(difference(was, world_->look()), "");
        ASSERT_OK(operations().revert(World::asker(), ":agents", false));
        EXPECT_EQ(text(path), wanted);
        const Snapshot kept = world_->look();
        ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(was, world_->look()), "");
        ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(kept, world_->look()), "");
        ASSERT_OK(operations().discard(World::asker(), false, overlay::Consent::kAll));
        EXPECT_EQ(text(), numbered({}));
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, std::vector<std::string>());
    }

    std::string run_;
};

}  // namespace unwrite::tests
