// Names through the mount: what git, editors and hostile programs do with them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

namespace stdfs = std::filesystem;

TEST(Names, AnAtomicSaveLandsInTheRealDirectory) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("config", "old");
    {
        auto lock =
            sys::open_at(AT_FDCWD, served.path("config.lock"), O_WRONLY | O_CREAT | O_EXCL, 0666);
        ASSERT_OK(lock);
        ASSERT_OK(sys::write_all_at(lock->get(), bytes_of("new"), 0));
        ASSERT_OK(sys::sync(lock->get()));
        EXPECT_NUMBER(EEXIST, sys::open_at(AT_FDCWD, served.path("config.lock"),
                                           O_WRONLY | O_CREAT | O_EXCL, 0666));
    }
    stdfs::rename(served.path("config.lock"), served.path("config"));
    EXPECT_EQ(served.read("config"), "new");
    EXPECT_EQ(served.read_raw("config"), "new");
    EXPECT_FALSE(stdfs::exists(served.path("config.lock")));
}

TEST(Names, LinksDirectoriesAndExchanges) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("a", "A");
    served.write("b", "B");
    stdfs::create_hard_link(served.path("a"), served.path("a2"));
    EXPECT_EQ(stdfs::hard_link_count(served.path("a")), 2U);
    stdfs::create_symlink("a2", served.path("s"));
    EXPECT_EQ(stdfs::read_symlink(served.path("s")), "a2");
    EXPECT_EQ(served.read("s"), "A");
    ASSERT_OK(sys::rename(AT_FDCWD, served.path("a"), AT_FDCWD, served.path("b"), RENAME_EXCHANGE));
    EXPECT_EQ(served.read_raw("b"), "A");
    EXPECT_NUMBER(EEXIST, sys::rename(AT_FDCWD, served.path("a"), AT_FDCWD, served.path("b"),
                                      RENAME_NOREPLACE));
    stdfs::create_directories(served.path("d/e"));
    EXPECT_NUMBER(ENOTEMPTY, sys::remove_directory(AT_FDCWD, served.path("d")));
    stdfs::rename(served.path("d/e"), served.path("e"));
    stdfs::remove(served.path("d"));
    EXPECT_TRUE(stdfs::is_directory(served.path("e")));
}

TEST(Names, AreBytes) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const std::string names[] = {
        std::string(255, 'x'), "two\nlines", "\xff\xfe not utf-8", " ", "-rf", "quote'\"`$", "\\"};
    for (const std::string& name : names) {
        served.write(name, name);
        EXPECT_EQ(served.read(name), name);
        EXPECT_EQ(served.read_raw(name), name);
    }
    std::size_t seen = 0;
    for (const auto& entry : stdfs::directory_iterator(served.path())) {
        EXPECT_NE(std::find(std::begin(names), std::end(names), entry.path().filename()),
                  std::end(names));
        ++seen;
    }
    EXPECT_EQ(seen, std::size(names));
    EXPECT_NUMBER(ENAMETOOLONG,
                  sys::open_at(AT_FDCWD, served.path(std::string(256, 'x')), O_RDONLY));
}

TEST(Names, TheStateDirectoryIsOutOfReach) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    ASSERT_OK(sys::stat_at(served.raw(), ".unwrite"));
    EXPECT_FALSE(stdfs::exists(served.path(".unwrite")));
    for (const auto& entry : stdfs::directory_iterator(served.path())) {
        EXPECT_NE(entry.path().filename(), ".unwrite");
    }
}

TEST(Names, GitWorksOnTheMount) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
    const std::string script =
        "cd '" + served.path().string() +
        "' && git init -q . && "
        "git config user.email a@b && git config user.name n && "
        "for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; done && git add . && git commit -q -m one "
        "&& "
        "git mv f1 g1 && echo more >> f2 && git commit -q -am two && git checkout -q HEAD~1 && "
        "test -e f1 && git checkout -q - && test -e g1 && git gc -q && git fsck --strict && "
        "test -z \"$(git status --porcelain)\"";
    EXPECT_EQ(std::system(("(" + script + ") > /dev/null 2>&1").c_str()), 0);
}

}  // namespace
}  // namespace unwrite::tests
