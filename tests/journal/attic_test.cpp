#include "journal/attic.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

class AtticTest : public ::testing::Test {
 protected:
    void SetUp() override {
        ASSERT_OK(sys::make_directory(fd(), "attic", 0700));
        reopen();
    }
    void reopen() {
        auto opened = Attic::open(scratch_.open("attic", O_RDONLY | O_DIRECTORY));
        ASSERT_TRUE(opened.ok());
        attic_ = *std::move(opened);
    }
    int fd() const { return scratch_.fd(); }
    ObjectKey key_of(const std::string& name) const {
        const auto sx = sys::statx_at(fd(), name);
        EXPECT_TRUE(sx.ok()) << name;
        return sx ? ObjectKey{sx->st.st_ino, sx->birth} : ObjectKey{};
    }
    ObjectKey make_file(const std::string& name, std::string_view text = "x") const {
        scratch_.write(name, text);
        return key_of(name);
    }
    bool exists(const std::string& name) const { return sys::stat_at(fd(), name).ok(); }
    std::size_t attic_entries() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(scratch_.path() / "attic"), {}));
    }

    Scratch scratch_;
    std::unique_ptr<Attic> attic_;
};

TEST_F(AtticTest, DisplacesAndGivesBackFiles) {
    const ObjectKey key = make_file("f", "text");
    ASSERT_OK(attic_->displace(fd(), "f", key, false));
    EXPECT_FALSE(exists("f"));
    EXPECT_TRUE(attic_->contains(key));
    EXPECT_EQ(scratch_.read("attic/" + Attic::file_name(key)), "text");
    ASSERT_OK(attic_->move_out(key, fd(), "g"));
    EXPECT_FALSE(attic_->contains(key));
    EXPECT_EQ(key_of("g"), key);
    EXPECT_EQ(attic_entries(), 0U);
}

TEST_F(AtticTest, DisplacesAndGivesBackDirectoriesSymlinksAndFifos) {
    ASSERT_OK(sys::make_directory(fd(), "d", 0555));
    ASSERT_OK(sys::make_symlink(fd(), "s", "nowhere"));
    ASSERT_OK(sys::make_node(fd(), "p", S_IFIFO | 0600, 0));
    for (const std::string name : {"d", "s", "p"}) {
        const ObjectKey key = key_of(name);
        ASSERT_OK(attic_->displace(fd(), name, key, name == "d"));
        EXPECT_FALSE(exists(name));
        ASSERT_OK(attic_->move_out(key, fd(), name + "2"));
        EXPECT_EQ(key_of(name + "2"), key);
    }
}

TEST_F(AtticTest, AnAnchorKeepsTheObjectFindable) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(attic_->anchor(fd(), "f", key));
    ASSERT_OK(attic_->anchor(fd(), "f", key));
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(fd(), "f"));
    EXPECT_EQ(st.st_nlink, 2U);
    ASSERT_OK(attic_->displace(fd(), "f", key, false));
    EXPECT_TRUE(attic_->contains(key));
    ASSERT_OK(attic_->link_out(key, fd(), "g"));
    EXPECT_TRUE(attic_->contains(key));
    EXPECT_EQ(key_of("g"), key);
    EXPECT_NUMBER(EEXIST, attic_->link_out(key, fd(), "g"));
}

TEST_F(AtticTest, AnAnchorOfASymlinkIsTheSymlink) {
    ASSERT_OK(sys::make_symlink(fd(), "s", "nowhere"));
    const ObjectKey key = key_of("s");
    ASSERT_OK(attic_->anchor(fd(), "s", key));
    EXPECT_EQ(key_of("attic/" + Attic::file_name(key)), key);
}

TEST_F(AtticTest, DirectoriesHaveNoAnchor) {
    ASSERT_OK(sys::make_directory(fd(), "d", 0700));
    EXPECT_NUMBER(EPERM, attic_->anchor(fd(), "d", key_of("d")));
    EXPECT_FALSE(attic_->contains(key_of("d")));
}

TEST_F(AtticTest, AnAnchorMadeBehindItsBackIsNoObstacle) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(sys::link(fd(), "f", attic_->directory(), Attic::file_name(key)));
    ASSERT_OK(attic_->displace(fd(), "f", key, false));
    EXPECT_FALSE(exists("f"));
    EXPECT_TRUE(attic_->contains(key));
}

TEST_F(AtticTest, NothingIsReplacedOnTheWayOut) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(attic_->displace(fd(), "f", key, false));
    make_file("f", "newer");
    EXPECT_NUMBER(EEXIST, attic_->move_out(key, fd(), "f"));
    EXPECT_EQ(scratch_.read("f"), "newer");
    EXPECT_TRUE(attic_->contains(key));
}

TEST_F(AtticTest, IsReadAgainWhenOpened) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(attic_->anchor(fd(), "f", key));
    scratch_.write("attic/unknown", "");
    reopen();
    EXPECT_TRUE(attic_->contains(key));
    EXPECT_EQ(attic_->list(), std::vector<ObjectKey>{key});
}

TEST_F(AtticTest, RemovesFilesAndWhatIsAbsent) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(attic_->displace(fd(), "f", key, false));
    ASSERT_OK(attic_->remove(key));
    EXPECT_FALSE(attic_->contains(key));
    ASSERT_OK(attic_->remove(key));
    EXPECT_EQ(attic_entries(), 0U);
}

/// A chain of directories of any depth; paths cannot be that long.
void make_chain(int parent, int depth) {
    auto at = sys::duplicate(parent);
    for (int i = 0; i < depth; ++i) {
        ASSERT_OK(sys::make_directory(at->get(), "nested", 0700));
        ASSERT_OK(sys::make_symlink(at->get(), "out", "/"));
        at = sys::open_at(at->get(), "nested", O_RDONLY | O_DIRECTORY);
        ASSERT_TRUE(at.ok()) << at.error().message();
    }
}

TEST_F(AtticTest, RemovesATreeFourThousandDeep) {
    ASSERT_OK(sys::make_directory(fd(), "d", 0700));
    make_chain(scratch_.open("d", O_RDONLY).get(), 4000);
    const ObjectKey key = key_of("d");
    ASSERT_OK(attic_->displace(fd(), "d", key, true));
    ASSERT_OK(attic_->remove(key));
    EXPECT_EQ(attic_entries(), 0U);
}

TEST_F(AtticTest, RemovesAWideTree) {
    ASSERT_OK(sys::make_directory(fd(), "d", 0700));
    const UniqueFd d = scratch_.open("d", O_RDONLY);
    for (int i = 0; i < 9000; ++i) {
        ASSERT_OK(sys::make_node(d.get(), "f" + std::to_string(i), S_IFREG | 0600, 0));
    }
    for (int i = 0; i < 300; ++i) {
        const std::string name = "d" + std::to_string(i);
        ASSERT_OK(sys::make_directory(d.get(), name, 0700));
        if (i % 2 == 0) {
            ASSERT_OK(sys::make_directory(d.get(), name + "/sub", 0700));
        }
    }
    const ObjectKey key = key_of("d");
    ASSERT_OK(attic_->displace(fd(), "d", key, true));
    ASSERT_OK(attic_->remove(key));
    EXPECT_EQ(attic_entries(), 0U);
}

TEST_F(AtticTest, FinishesInterruptedRemovals) {
    ASSERT_OK(sys::make_directory(fd(), "attic/x-1", 0700));
    ASSERT_OK(sys::make_directory(fd(), "attic/x-1/deeper", 0700));
    scratch_.write("attic/x-1/deeper/f", "");
    ASSERT_OK(sys::make_directory(fd(), "attic/x-7", 0700));
    const ObjectKey key = make_file("f");
    ASSERT_OK(attic_->anchor(fd(), "f", key));
    reopen();
    ASSERT_OK(attic_->remove_leftovers());
    EXPECT_EQ(attic_entries(), 1U);
    EXPECT_TRUE(attic_->contains(key));
}

/// Runs `body` in a child without privileges; it says whether all went well.
template <class Body>
bool as_nobody(Body&& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        const bool dropped = ::setgid(65534) == 0 && ::setuid(65534) == 0;
        ::_exit(dropped && body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(AtticTest, ModesAreNoObstacleForTheOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    ASSERT_EQ(::chown(scratch_.path().c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chown((scratch_.path() / "attic").c_str(), 65534, 65534), 0);
    EXPECT_TRUE(as_nobody([&] {
        const bool made = sys::make_directory(fd(), "d", 0700).ok() &&
                          sys::make_directory(fd(), "d/closed", 0700).ok() &&
                          sys::make_directory(fd(), "d/closed/in", 0700).ok() &&
                          sys::make_directory(fd(), "d/closed/in/er", 0555).ok();
        scratch_.write("d/closed/f", "x");
        const bool closed = sys::change_mode(scratch_.open("d/closed/in", O_PATH).get(), 0).ok() &&
                            sys::change_mode(scratch_.open("d/closed", O_PATH).get(), 0555).ok() &&
                            sys::change_mode(scratch_.open("d", O_PATH).get(), 0555).ok();
        const ObjectKey key = key_of("d");
        const bool moved = attic_->displace(fd(), "d", key, true).ok();
        const auto there = sys::stat_at(attic_->directory(), Attic::file_name(key));
        const bool mode_kept = there.ok() && (there->st_mode & 07777U) == 0555U;
        const bool removed = attic_->remove(key).ok();
        return made && closed && moved && mode_kept && removed && attic_entries() == 0;
    }));
}

}  // namespace
}  // namespace unwrite::journal
