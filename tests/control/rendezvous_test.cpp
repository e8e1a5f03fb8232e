#include "control/rendezvous.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/control/runtime.h"

namespace unwrite::control {
namespace {

TEST(Rendezvous, IdsDiffer) {
    const Result<std::string> one = new_session_id();
    const Result<std::string> other = new_session_id();
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one->size(), 16u);
    EXPECT_NE(*one, *other);
}

TEST(Rendezvous, TheSocketIsPrivate) {
    const TemporaryRuntime runtime;
    ::umask(0);
    const Result<Listening> listening = listen_at("00ff", "");
    ASSERT_TRUE(listening) << listening.error().message();
    EXPECT_EQ(listening->path, runtime.path() / "unwrite/00ff.sock");
    struct stat st = {};
    ASSERT_EQ(::lstat(listening->path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600u);
    ASSERT_EQ(::lstat((runtime.path() / "unwrite").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0700u);
    EXPECT_TRUE(connect_to("00ff", ::geteuid()));
}

TEST(Rendezvous, NobodyThere) {
    const TemporaryRuntime runtime;
    for (const char* id : {"00ff", "../../etc/x", "", "a b", "/"}) {
        const Result<UniqueFd> socket = connect_to(id, ::geteuid());
        ASSERT_FALSE(socket);
        EXPECT_EQ(socket.error().kind(), ErrorKind::kNoWorkspace);
    }
}

TEST(Rendezvous, DirectoriesOpenToOthersAndSymlinksAreNotUsed) {
    const TemporaryRuntime runtime;
    const std::filesystem::path open = runtime.path() / "open";
    ASSERT_EQ(::mkdir(open.c_str(), 0700), 0);
    EXPECT_TRUE(open_private_directory(open, ::geteuid()));
    ASSERT_EQ(::chmod(open.c_str(), 0750), 0);
    EXPECT_EQ(open_private_directory(open, ::geteuid()).error().kind(), ErrorKind::kRefused);
    ASSERT_EQ(::chmod(open.c_str(), 0700), 0);
    EXPECT_EQ(open_private_directory(open, ::geteuid() + 1).error().kind(), ErrorKind::kRefused);
    std::filesystem::create_symlink(open, runtime.path() / "link");
    EXPECT_FALSE(open_private_directory(runtime.path() / "link", ::geteuid()));
    std::ofstream(runtime.path() / "file") << "x";
    EXPECT_FALSE(open_private_directory(runtime.path() / "file", ::geteuid()));
}

TEST(Rendezvous, ADirectoryBelowTheMountIsPassedOver) {
    const TemporaryRuntime runtime;
    const Result<Listening> listening = listen_at("0aff0", runtime.path().string());
    if (!listening) GTEST_SKIP() << "no other runtime directory here";
    EXPECT_FALSE(listening->path.starts_with(runtime.path().string()));
    ::unlink(listening->path.c_str());
}

TEST(Rendezvous, NobodySweepsAwayWhatBeginsToListen) {
    const TemporaryRuntime runtime;
    constexpr int kEach = 60;
    const auto listen_often = [](char kind, std::vector<Listening>& listening) {
        for (int i = 0; i < kEach; ++i) {
            Result<Listening> one = listen_at(kind + std::to_string(i), "");
            if (one) listening.push_back(*std::move(one));
        }
    };
    std::array<std::vector<Listening>, 4> listening;
    std::vector<std::thread> threads;
    for (std::size_t kind = 0; kind < listening.size(); ++kind)
        threads.emplace_back(listen_often, static_cast<char>('a' + kind),
                             std::ref(listening[kind]));
    for (std::thread& thread : threads)
        thread.join();
    for (std::size_t kind = 0; kind < listening.size(); ++kind) {
        ASSERT_EQ(listening[kind].size(), std::size_t{kEach});
        for (const Listening& one : listening[kind])
            EXPECT_TRUE(std::filesystem::exists(one.path)) << one.path;
    }
}

TEST(Rendezvous, SocketsOfDeadDaemonsAreSwept) {
    const TemporaryRuntime runtime;
    { const Result<Listening> dead = listen_at("dead", ""); }
    const Result<Listening> alive = listen_at("a11fe", "");
    ASSERT_TRUE(std::filesystem::exists(alive->path));
    EXPECT_FALSE(std::filesystem::exists(runtime.path() / "unwrite/dead.sock"));
    const Result<Listening> another = listen_at("a11fe2", "");
    EXPECT_TRUE(std::filesystem::exists(alive->path));
    // The name of a socket that is in use is not taken over.
    EXPECT_FALSE(std::filesystem::exists(runtime.path() / "unwrite/dead.sock"));
}

}  // namespace
}  // namespace unwrite::control
