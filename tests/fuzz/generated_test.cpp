// Generated patches: LP1 against a model of the grammar, unified diffs against `git apply` and
// patch(1). UNWRITE_SEED=N repeats a failure, UNWRITE_LONG=1 makes ten times as many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "edit/diff.h"
#include "edit/unified_patch.h"
#include "tests/fuzz/lp1_model.h"

namespace unwrite::fuzz {
namespace {

namespace fs = std::filesystem;
using edit::Random;

int cases() {
    constexpr int in_short = 10000;
    return std::getenv("UNWRITE_LONG") != nullptr ? 10 * in_short : in_short;
}

TEST(Generated, S155_S157_Lp1DoesWhatTheGrammarSays) {
    Random random(155);
    SCOPED_TRACE(random.trace());
    int done = 0;
    for (int run = 0; run < cases(); ++run) {
        const std::string bytes = random.text(7, {"\n", "\n", "\r\n"});
        const auto operations = random_operations(random, bytes);
        const std::string path = random.chance(3) ? "a \"b\\ c" : "dir/f.c";
        const std::string patch = rendered(random, path, operations);
        SCOPED_TRACE(patch);
        const auto sections = edit::parse_lp1(patch);
        ASSERT_TRUE(sections) << sections.error().message();
        ASSERT_EQ(sections->size(), 1U);
        ASSERT_EQ(sections->front().path, path);
        ASSERT_EQ(sections->front().operations.size(), operations.size());
        auto file = edit::read_text(bytes, edit::MixedEndings::kPreserve);
        ASSERT_TRUE(file);
        const auto targets = edit::apply_lp1(sections->front(), *file);
        const ModelOutcome expected = model_of(operations, bytes);
        ASSERT_EQ(targets ? "" : targets.error().message(), expected.error);
        if (!targets) continue;
        ASSERT_EQ(written(*file), expected.bytes);
        ++done;
    }
    EXPECT_GT(done, cases() / 3);
}

TEST(Generated, S155_WhatIsNotInTheGrammarIsRefused) {
    Random random(156);
    SCOPED_TRACE(random.trace());
    for (int run = 0; run < cases(); ++run) {
        const BrokenPatch wrong = broken(random);
        std::uint64_t line = 0;
        const auto sections = edit::parse_lp1(wrong.patch, &line);
        ASSERT_FALSE(sections) << wrong.patch;
        ASSERT_EQ(sections.error().message(), wrong.error) << wrong.patch;
        ASSERT_GE(line, 1U);
    }
}

// Files that the other programs work on, many at once and with several cases in each: a process or
// a file for each case would take minutes.
class AgainstOthers : public testing::Test {
 protected:
    static constexpr int kBatch = 100;
    static constexpr int kInOne = 10;

    void SetUp() override {
        if (std::system("(git --version && patch --version && diff --version) >/dev/null 2>&1"))
            GTEST_SKIP() << "no git, patch or diff";
        std::string name = (fs::temp_directory_path() / "generated-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        top_ = name;
    }
    void TearDown() override {
        std::error_code failure;
        if (!top_.empty()) fs::remove_all(top_, failure);
    }
    void put(const std::string& path, const std::string& bytes) const {
        fs::create_directories((top_ / path).parent_path());
        std::ofstream(top_ / path, std::ios::binary) << bytes;
    }
    std::string get(const std::string& path) const {
        std::ifstream file(top_ / path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    int sh(const std::string& script) const {
        const std::string clean =
            "export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES='" +
            top_.parent_path().string() + "' LC_ALL=C TZ=UTC; cd '" + top_.string() + "' && ";
        return std::system((clean + "( " + script + " ) >out 2>err").c_str());
    }
    void begin_batch(Random& random, int in_one) {
        fs::remove_all(top_);
        fs::create_directories(top_);
        before_.assign(kBatch, "");
        after_.assign(kBatch, "");
        for (int i = 0; i < kBatch; ++i) {
            const auto at = static_cast<std::size_t>(i);
            for (int one = 0; one < in_one; ++one) {
                const std::string text = random.text(14, {"\n", "\n", "\n", "\r\n"});
                const bool last = one + 1 == in_one;
                before_[at] += text + (last ? "" : divider(one));
                after_[at] += changed(random, text) + (last ? "" : divider(one));
            }
            put("a/" + name(i), before_[at]);
            put("b/" + name(i), after_[at]);
        }
    }
    /// So many lines, as they are nowhere else, that what is beside them is a hunk of its own.
    static std::string divider(int number) {
        std::string lines = "\n";
        for (int i = 0; i < 8; ++i)
            lines += "case " + std::to_string(number) + " line " + std::to_string(i) + "\n";
        return lines;
    }
    static std::string name(int i) { return "f" + std::to_string(i); }
    static std::string changed(Random& random, std::string text) {
        for (std::size_t count = random.below(4); count > 0; --count) {
            const std::size_t at = text.rfind('\n', random.below(text.size() + 1));
            const std::size_t begin = at == std::string::npos ? 0 : at + 1;
            if (random.chance(2)) {
                text.insert(begin, random.text(2, {"\n"}));
            } else {
                text.erase(begin, text.find('\n', begin) - begin + (random.chance(2) ? 1 : 0));
            }
        }
        return text;
    }
    /// Our diff of one file of the batch; empty when nothing differs.
    std::string diff_of(int i) const {
        const std::size_t at = static_cast<std::size_t>(i);
        const std::string file = name(i);
        const auto diff = edit::unified_diff({file, before_[at]}, {file, after_[at]});
        EXPECT_TRUE(diff);
        return diff ? *diff : "";
    }
    void expect_applied(const std::string& patch, unsigned strip) const {
        const auto files = edit::parse_unified(patch, strip);
        if (patch.empty()) return;
        ASSERT_TRUE(files) << files.error().message() << "\n" << patch.substr(0, 2000);
        std::vector<std::string> now = before_;
        for (const edit::FilePatch& file : *files) {
            const auto at = static_cast<std::size_t>(std::stoi(file.old_path->substr(1)));
            const auto made = edit::apply_hunks(file.hunks, before_[at]);
            ASSERT_TRUE(made) << *file.old_path << ": " << made.error().message();
            now[at] = *made;
            const auto back = edit::apply_hunks(edit::reversed(file.hunks), *made);
            ASSERT_TRUE(back) << *file.old_path << ": " << back.error().message();
            ASSERT_EQ(*back, before_[at]) << *file.old_path;
        }
        EXPECT_EQ(now, after_);
    }

    fs::path top_{};
    std::vector<std::string> before_{};
    std::vector<std::string> after_{};
};

TEST_F(AgainstOthers, S159_EachTakesThePatchesOfTheOthers) {
    Random random(159);
    SCOPED_TRACE(random.trace());
    for (int run = 0; run < cases(); run += kBatch * kInOne) {
        begin_batch(random, kInOne);
        ASSERT_TRUE(sh("git diff --no-index --no-color --no-renames a b") >= 0);
        expect_applied(get("out"), 2);
        const std::string context = std::to_string(random.below(3) + 1);
        ASSERT_TRUE(sh("diff -r -U " + context + " a b") >= 0);
        expect_applied(get("out"), 1);
        std::string patch;
        for (int i = 0; i < kBatch; ++i)
            patch += diff_of(i);
        put("patch", patch);
        ASSERT_EQ(sh("cp -r a g && cp -r a p && cd g && git apply --whitespace=nowarn ../patch"), 0)
            << get("err");
        ASSERT_EQ(sh("cd p && patch --binary -s -f -F0 -p1 <../patch"), 0)
            << get("out") << get("err");
        for (int i = 0; i < kBatch; ++i) {
            ASSERT_EQ(get("g/" + name(i)), after_[static_cast<std::size_t>(i)]) << diff_of(i);
            ASSERT_EQ(get("p/" + name(i)), after_[static_cast<std::size_t>(i)]) << diff_of(i);
        }
    }
}

// The files are others than those that the patches were made for. Whoever applies a patch does the
// same to them. We are stricter where it fits in several places, and where the file goes on behind
// a line that the patch has as the last, without an ending. One file a case, so these are fewer.
TEST_F(AgainstOthers, S159_NobodyPutsAHunkSomewhereElse) {
    Random random(160);
    SCOPED_TRACE(random.trace());
    int both = 0;
    const int all = cases() / 5;
    for (int run = 0; run < all; run += kBatch) {
        begin_batch(random, 1);
        std::string patch;
        std::vector<std::string> patches;
        for (int i = 0; i < kBatch; ++i) {
            patches.push_back(diff_of(i));
            patch += patches.back();
            std::string& text = before_[static_cast<std::size_t>(i)];
            if (!random.chance(3)) text = changed(random, text);
            put("a/" + name(i), text);
        }
        put("patch", patch);
        sh("cp -r a g && cd g && git apply --reject --whitespace=nowarn ../patch");
        for (int i = 0; i < kBatch; ++i) {
            const std::size_t at = static_cast<std::size_t>(i);
            if (patches[at].empty()) continue;
            const auto files = edit::parse_unified(patches[at], 1);
            ASSERT_TRUE(files);
            const auto made = edit::apply_hunks(files->front().hunks, before_[at]);
            const bool git = !fs::exists(top_ / ("g/" + name(i) + ".rej"));
            SCOPED_TRACE(patches[at] + "---- on:\n" + before_[at]);
            if (git && made) {
                ASSERT_EQ(*made, get("g/" + name(i)));
                ++both;
            } else if (git && patches[at].find("\n\\ No newline") == std::string::npos) {
                const std::string why = made.error().message();
                EXPECT_NE(why.find("in more than one place"), std::string::npos) << why;
            }
        }
    }
    EXPECT_GT(both, all / 4);
}

}  // namespace
}  // namespace unwrite::fuzz
