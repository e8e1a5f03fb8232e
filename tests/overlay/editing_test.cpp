// Files as the tools reach them, and the record of an edit; without a mount.
#include "overlay/editing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/syscalls.h"

namespace unwrite::overlay {
namespace {

namespace fs = std::filesystem;

class EditFilesTest : public testing::Test {
 protected:
    void SetUp() override {
        std::string name = (fs::canonical(fs::temp_directory_path()) / "editing-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        top_ = name;
        root_ = name + "/root";
        fs::create_directories(root_ + "/d/e");
        write(top_ + "/secret", "secret");
        write(root_ + "/d/f", "text");
        fs::create_symlink("d", root_ + "/link");
        fs::create_symlink("..", root_ + "/up");
        fs::create_symlink(top_ + "/secret", root_ + "/out");
        files_ = open();
    }
    void TearDown() override {
        std::error_code failure;
        fs::remove_all(top_, failure);
    }
    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
    }
    static std::string read(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::unique_ptr<EditFiles> open(EditJudge* judge = nullptr) {
        auto fd = sys::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY);
        EXPECT_TRUE(fd);
        auto files = EditFiles::open(*std::move(fd), {root_, judge});
        EXPECT_TRUE(files);
        return *std::move(files);
    }
    std::string reason(const std::string& path) {
        const auto state = files_->look(path, 1000);
        return state ? "" : state.error().message();
    }
    std::string where(const std::string& path) {
        const auto state = files_->look(path, 1000);
        return state ? state->path : "?" + state.error().message();
    }

    std::string top_;
    std::string root_;
    std::unique_ptr<EditFiles> files_;
};

TEST_F(EditFilesTest, S163_a_file_has_one_path_however_it_is_named) {
    EXPECT_EQ(where("d/f"), "d/f");
    EXPECT_EQ(where("./d//f"), "d/f");
    EXPECT_EQ(where("link/f"), "d/f");
    EXPECT_EQ(where(root_ + "/d/f"), "d/f");
    EXPECT_EQ(where("link/new/file"), "d/new/file");
}

TEST_F(EditFilesTest, S163_absolute_links_that_lead_into_the_root_are_followed) {
    fs::create_symlink(root_ + "/d", root_ + "/absolute");
    fs::create_symlink(root_ + "/absolute/e", root_ + "/d/twice");
    fs::create_symlink(root_ + "/b", root_ + "/a");
    fs::create_symlink(root_ + "/a", root_ + "/b");
    fs::create_symlink(top_, root_ + "/top");
    EXPECT_EQ(where("absolute/f"), "d/f");
    EXPECT_EQ(where("absolute/twice/new"), "d/e/new");
    EXPECT_EQ(where("link/twice/x"), "d/e/x");
    for (const std::string path : {"a/f", "top/secret"})
        EXPECT_TRUE(reason(path).starts_with("Path outside sandbox") ||
                    reason(path).find("symbolic links") != std::string::npos)
            << reason(path);
}

TEST_F(EditFilesTest, S142_S163_nothing_outside_is_reached) {
    for (const std::string path : {"../secret", "d/../d/f", "up/secret"})
        EXPECT_TRUE(reason(path).starts_with("Path outside sandbox")) << path << reason(path);
    EXPECT_TRUE(reason(top_ + "/secret").starts_with("Path outside sandbox"));
    EXPECT_TRUE(reason(root_ + "x/secret").starts_with("Path outside sandbox"));
    const auto link = files_->look("out", 1000);
    ASSERT_TRUE(link);
    EXPECT_EQ(link->kind, edit::FileKind::kOther);
    EXPECT_FALSE(files_->put("up/made", std::nullopt, "x", std::nullopt));
    EXPECT_FALSE(fs::exists(top_ + "/made"));
}

TEST_F(EditFilesTest, S168_unsafe_characters_are_refused) {
    EXPECT_EQ(reason("d/\xe2\x80\xae"
                     "f"),
              "Bad args: path contains invalid control characters");
    EXPECT_EQ(reason("d\nf"), "Bad args: path contains invalid control characters");
}

TEST_F(EditFilesTest, S141_a_replacement_keeps_the_mode_and_leaves_no_other_name) {
    fs::permissions(root_ + "/d/f", fs::perms(0751));
    ASSERT_TRUE(files_->put("d/f", digest_of("text"), "more", std::nullopt));
    EXPECT_EQ(read(root_ + "/d/f"), "more");
    EXPECT_EQ(fs::status(root_ + "/d/f").permissions(), fs::perms(0751));
    EXPECT_EQ(std::distance(fs::directory_iterator(root_ + "/d"), {}), 2);
}

TEST_F(EditFilesTest, S23_S145_what_is_not_expected_is_not_replaced) {
    EXPECT_FALSE(files_->put("d/f", digest_of("other"), "x", std::nullopt));
    EXPECT_FALSE(files_->put("d/f", std::nullopt, "x", std::nullopt));
    EXPECT_FALSE(files_->put("d/e", std::nullopt, "x", std::nullopt));
    EXPECT_FALSE(files_->remove("d/f", digest_of("other")));
    EXPECT_EQ(read(root_ + "/d/f"), "text");
    EXPECT_EQ(std::distance(fs::directory_iterator(root_ + "/d"), {}), 2);
}

// Answers what it is told, and counts.
class Judge final : public EditJudge {
 public:
    Result<MayEdit> may_edit(const EditAttempt& attempt) override {
        ++asked;
        if (attempt.path == "d/f" || (!attempt.write && !hides)) return MayEdit{};
        MayEdit now = answer;
        now.hidden = hides;
        const bool ask = attempt.ask;
        if (ask && waits > 0 && waits-- > 0) now.waits = true;
        if (ask && waits == 0 && then_granted) now = MayEdit{};
        return now;
    }

    MayEdit answer{.granted = false, .pattern = "d/*.pem", .source = "x.toml:1", .reason = "why"};
    int asked = 0;
    int waits = 0;
    bool then_granted = false;
    bool hides = false;
};

TEST_F(EditFilesTest, S10_S21_a_denied_path_is_refused_with_its_pattern) {
    Judge judge;
    const auto files = open(&judge);
    const auto denied = files->may_write("d/a.pem", nullptr, true);
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().message(),
              "Path 'd/a.pem' matched denied pattern 'd/*.pem' (x.toml:1): why");
    EXPECT_EQ(files->allowed("d/a.pem", nullptr).error().message(), "denied pattern");
    EXPECT_TRUE(files->allowed("d/f", nullptr));
}

TEST_F(EditFilesTest, S10_S143_where_a_person_is_asked_the_edit_waits_for_the_answer) {
    Judge judge;
    judge.answer.asks = true;
    judge.answer.question = 7;
    const auto files = open(&judge);
    const auto refused = files->may_write("d/a.pem", nullptr, true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Path 'd/a.pem' needs the user's approval: 'd/*.pem' (x.toml:1): why");
    EXPECT_EQ(refused.error().advice(),
              "Ask the user to run `unwrite approve 7`, and make the same call again.");
    EXPECT_TRUE(files->may_write("d/a.pem", nullptr, false)) << "only foreseen: nobody is asked";
    judge.asked = 0;
    judge.waits = 2;
    judge.then_granted = true;
    EXPECT_TRUE(files->may_write("d/a.pem", nullptr, true));
    EXPECT_GE(judge.asked, 2);
}

TEST_F(EditFilesTest, S10_S132_after_a_no_nobody_is_asked_again) {
    Judge judge;
    judge.answer.asks = true;
    judge.answer.question = 7;
    judge.answer.denied = true;
    const auto files = open(&judge);
    const auto refused = files->may_write("d/a.pem", nullptr, true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Path 'd/a.pem' was denied by the user: 'd/*.pem' (x.toml:1): why");
    EXPECT_EQ(refused.error().advice(),
              "The user said no to this change. Do not try it again. Go on without it, or ask the "
              "user what to do instead.");
    EXPECT_EQ(files->allowed("d/a.pem", nullptr).error().message(), "denied by the user");
}

TEST_F(EditFilesTest, S21_S132_a_hidden_file_is_as_if_it_were_not_there) {
    Judge judge;
    judge.hides = true;
    const auto files = open(&judge);
    write(root_ + "/d/a.pem", "secret");
    const auto seen = files->look("d/a.pem", 1000);
    ASSERT_TRUE(seen) << seen.error().message();
    EXPECT_EQ(seen->kind, edit::FileKind::kAbsent);
    EXPECT_EQ(seen->path, "d/a.pem");
    const auto made = files->may_write("d/a.pem", nullptr, true);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message(), "d/a.pem: permission denied");
    EXPECT_EQ(made.error().advice().find("policy"), std::string::npos);
}

TEST(EditRecord, S166_what_an_edit_is_about_to_do_can_be_read_back) {
    EditRecord record;
    record.token = "0123abcd";
    record.files.push_back({"a b\n\xff {\"begun\":", digest_of("x"), true, 1});
    record.files.push_back({"gone", std::nullopt, true});
    record.directories = {"new"};
    const auto back = record_of(record_text("edit", record));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->token, record.token);
    ASSERT_EQ(back->files.size(), 2u);
    EXPECT_EQ(back->files[0].path, record.files[0].path);
    EXPECT_EQ(back->files[0].after, record.files[0].after);
    EXPECT_EQ(back->files[0].size, 1U);
    EXPECT_FALSE(back->files[1].after);
    EXPECT_EQ(back->directories, record.directories);
}

TEST(EditRecord, S69_people_read_words) {
    EditRecord record;
    record.token = "0123abcd";
    record.files.push_back({"a {\"begun\":", digest_of("x"), true});
    EXPECT_EQ(words_of_step(record_text("edit", record)), "edit a {\"begun\":");
    EXPECT_EQ(words_of_step("edited a [ended 0123abcd]"), "edited a");
    for (const std::string plain : {"", "edit a", "a {\"begun\":", "a {\"begun\":1} b"})
        EXPECT_EQ(words_of_step(plain), plain);
}

TEST(EditRecord, other_texts_are_no_records) {
    for (const char* text : {"", "edit a", "x {\"begun\":", "x {\"begun\":{}}",
                             "x {\"begun\":{\"token\":\"../x\",\"files\":[]}}",
                             "x {\"begun\":{\"token\":\"ab\",\"files\":[{\"path\":\"%4\"}]}}",
                             "x {\"begun\":{\"token\":\"ab\",\"files\":[1]}}"})
        EXPECT_FALSE(record_of(text)) << text;
}

}  // namespace
}  // namespace unwrite::overlay
