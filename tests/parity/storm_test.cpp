// Sixty-four threads on one mount: no update is lost, nothing hangs, and all of it is taken back.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/parity/runner.h"

namespace unwrite::tests::parity {
namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kRecords = 60;
constexpr std::size_t kRecord = 16;

std::string record(unsigned thread, unsigned number) {
    std::array<char, kRecord + 1> text{};
    EXPECT_EQ(std::snprintf(text.data(), text.size(), "%07u %07u\n", thread, number), 16);
    return text.data();
}

class Storm : public ::testing::Test {
 protected:
    void SetUp() override {
        if (const std::string why = why_not_here(); !why.empty()) GTEST_SKIP() << why;
        for (const char* name : {"work", "home"})
            std::filesystem::create_directory(scratch_.path() / name);
        for (int d = 0; d < 8; ++d) {
            const std::string directory = work() + "/d" + std::to_string(d);
            std::filesystem::create_directory(directory);
            for (int f = 0; f < 4; ++f)
                std::ofstream(directory + "/f" + std::to_string(f)) << std::string(100'000, 'o');
        }
        std::ofstream(work() + "/counter") << 0;
        before_ = snapshot(work());
        mounted_ = std::make_unique<Mounted>(work(), (scratch_.path() / "home").string());
        ASSERT_EQ(mounted_->failure(), "");
    }
    std::string work() const { return (scratch_.path() / "work").string(); }

    /// Runs `body` in all threads, and `meanwhile` until the last of them has ended.
    void run(const std::function<void(unsigned)>& body, const std::function<void()>& meanwhile) {
        std::atomic<unsigned> running = kThreads;
        threads_.clear();
        for (unsigned i = 0; i < kThreads; ++i) {
            threads_.emplace_back([&, i] {
                body(i);
                --running;
            });
        }
        while (running > 0)
            meanwhile();
        for (std::thread& thread : threads_)
            thread.join();
    }

    void expect_all_taken_back() {
        EXPECT_EQ(mounted_->command({"discard", "--yes"}), "");
        const std::string back = difference(before_, snapshot(mounted_->raw()));
        EXPECT_TRUE(back.empty()) << "a: before, b: discarded\n" << back;
        EXPECT_EQ(mounted_->command({"check"}), "");
    }

    Scratch scratch_;
    Snapshot before_;
    std::unique_ptr<Mounted> mounted_;
    std::vector<std::thread> threads_;
};

// Appends to one file, stores in another at places of their own, counts in a third under a lock.
void add_records(const std::string& work, unsigned thread) {
    const int log = ::open((work + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    const int table = ::open((work + "/table").c_str(), O_WRONLY | O_CREAT, 0644);
    const int counter = ::open((work + "/counter").c_str(), O_RDWR);
    for (unsigned i = 0; i < kRecords; ++i) {
        const std::string text = record(thread, i);
        EXPECT_EQ(::write(log, text.data(), kRecord), ssize_t{kRecord});
        const auto at = static_cast<off_t>((i * kThreads + thread) * kRecord);
        EXPECT_EQ(::pwrite(table, text.data(), kRecord, at), ssize_t{kRecord});
        EXPECT_EQ(::flock(counter, LOCK_EX), 0);
        std::array<char, 32> digits{};
        EXPECT_GT(::pread(counter, digits.data(), digits.size() - 1, 0), 0);
        const std::string next = std::to_string(std::strtoul(digits.data(), nullptr, 10) + 1);
        EXPECT_EQ(::pwrite(counter, next.data(), next.size(), 0),
                  static_cast<ssize_t>(next.size()));
        EXPECT_EQ(::flock(counter, LOCK_UN), 0);
    }
    for (const int fd : {log, table, counter})
        ::close(fd);
}

TEST_F(Storm, S49_S60_no_update_of_sixty_four_threads_is_lost) {
    run([&](unsigned thread) { add_records(work(), thread); },
        [&] { EXPECT_EQ(mounted_->command({"checkpoint"}), ""); });
    const std::string log = scratch_.read("work/log");
    const std::string table = scratch_.read("work/table");
    ASSERT_EQ(log.size(), kThreads * kRecords * kRecord);
    std::multiset<std::string> found;
    for (std::size_t at = 0; at < log.size(); at += kRecord)
        found.insert(log.substr(at, kRecord));
    std::string wanted;
    for (unsigned i = 0; i < kRecords; ++i) {
        for (unsigned thread = 0; thread < kThreads; ++thread) {
            wanted += record(thread, i);
            EXPECT_EQ(found.count(record(thread, i)), 1U) << record(thread, i);
        }
    }
    EXPECT_TRUE(table == wanted);
    EXPECT_EQ(scratch_.read("work/counter"), std::to_string(kThreads * kRecords));
    expect_all_taken_back();
}

/// What a plain directory never answers to these calls, however many make them.
class Astonishing {
 public:
    explicit Astonishing(int expected) : expected_(expected) {}
    void note(const char* call, long answer) {
        if (answer >= 0) return;
        static const std::set<int> known = {EPERM, ENOENT, EEXIST, ENOTEMPTY, ENOTDIR, EISDIR,
                                            EINTR, EINVAL, ELOOP,  ENODATA,   EMLINK};
        const int number = errno;
        if (known.contains(number) || number == expected_) return;
        const std::lock_guard lock(mutex_);
        ++seen_[std::string(call) + ": " + std::strerror(number)];
    }
    std::string text() const {
        std::string all;
        for (const auto& [what, count] : seen_)
            all += what + " (" + std::to_string(count) + " times)\n";
        return all;
    }

 private:
    const int expected_;  ///< besides, or 0
    std::mutex mutex_;
    std::map<std::string, unsigned> seen_;
};

enum class Below { kFiles, kDirectoriesToo };

/// Random calls on few names, so that threads meet.
class Weather {
 public:
    Weather(std::string work, unsigned seed, Below below, Astonishing& astonishing)
        : work_(std::move(work)), random_(seed), below_(below), astonishing_(astonishing) {}

    void blow() {
        const std::string a = path();
        const std::string b = path();
        switch (random_() % 12) {
            case 0:
                return note("rename", ::rename(a.c_str(), b.c_str()));
            case 1:
                return note("exchange", ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2));
            case 2:
                return note("link", ::link(a.c_str(), b.c_str()));
            case 3:
                return note("unlink", ::unlink(a.c_str()));
            case 4:
                if (below_ == Below::kFiles) return write(a);
                return note("mkdir", ::mkdir(a.c_str(), 0755));
            case 5:
                return note("rmdir", ::rmdir(a.c_str()));
            case 6:
                return note("symlink", ::symlink("f0", a.c_str()));
            case 7:
                return note("chmod", ::chmod(a.c_str(), 0600 | (random_() % 64)));
            case 8:
                return note("truncate", ::truncate(a.c_str(), place(200'000)));
            case 9:
                return note("setxattr", ::setxattr(a.c_str(), "user.storm", "x", 1, 0));
            case 10:
                return list(a);
            default:
                return write(a);
        }
    }

 private:
    std::string path() {
        return work_ + "/d" + std::to_string(random_() % 8) + "/f" + std::to_string(random_() % 6);
    }
    off_t place(unsigned most) { return static_cast<off_t>(random_() % most); }
    void note(const char* call, long answer) { astonishing_.note(call, answer); }
    void list(const std::string& path) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::filesystem::path(path).parent_path(), error)) {
            struct stat st {};
            note("lstat", ::lstat(entry.path().c_str(), &st));
        }
    }
    void write(const std::string& path) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
        note("open", fd);
        if (fd < 0) return;
        const std::string data(1 + random_() % 5'000, 'w');
        note("pwrite", ::pwrite(fd, data.data(), data.size(), place(150'000)));
        std::array<char, 4096> out{};
        note("pread", ::pread(fd, out.data(), out.size(), place(150'000)));
        note("fsync", random_() % 8 == 0 ? ::fsync(fd) : 0);
        note("close", ::close(fd));
    }

    const std::string work_;
    std::mt19937 random_;
    const Below below_;
    Astonishing& astonishing_;
};

/// The kernel forgets what it knows of names, all at once.
void drop_names() {
    std::ofstream("/proc/sys/vm/drop_caches") << 2;
}

class States : public Storm {
 protected:
    /// Storms until every way was gone some times, and says what was astonishing.
    std::string storm(Below below, const std::vector<std::vector<std::string>>& ways,
                      int expected = 0) {
        // Waiting calls are interrupted: this handler does not restart them.
        struct sigaction quiet {};
        quiet.sa_handler = [](int) {};
        EXPECT_EQ(::sigaction(SIGUSR1, &quiet, nullptr), 0);
        const unsigned seed = std::random_device()();
        std::cout << "seed " << seed << '\n';
        Astonishing astonishing(expected);
        std::atomic<bool> stop = false;
        std::mt19937 random(seed);
        std::size_t round = 0;
        const auto blow = [&](unsigned thread) {
            Weather weather(work(), seed + thread, below, astonishing);
            while (!stop)
                weather.blow();
        };
        run(blow, [&] {
            // Undo and redo may find nothing, or somebody else's work: an answer is all they owe.
            const std::string said = mounted_->command(ways[round % ways.size()]);
            EXPECT_EQ(said.find("internal"), std::string::npos) << said;
            for (int i = 0; i < 20 && !stop; ++i)
                ::pthread_kill(threads_[random() % kThreads].native_handle(), SIGUSR1);
            if (round % 8 == 7) drop_names();
            stop = ++round >= 20;
        });
        return astonishing.text();
    }
    const std::vector<std::vector<std::string>> back_and_forth_ = {
        {"checkpoint"}, {"undo"}, {"redo"}, {"checkpoint"}, {"rollback"}};
};

TEST_F(States, S49_S60_sixty_four_threads_while_checkpoints_are_made) {
    EXPECT_EQ(storm(Below::kDirectoriesToo, {{"checkpoint"}}), "");
    expect_all_taken_back();
}

TEST_F(States, S49_S57_sixty_four_threads_while_states_come_and_go) {
    EXPECT_EQ(storm(Below::kFiles, back_and_forth_), "");
    expect_all_taken_back();
}

// A directory that comes back at another name is known to the kernel by its old one. To rename it
// in its memory the kernel needs locks; when a rename that is under way has them, it says ESTALE.
TEST_F(States, S49_S57_sixty_four_threads_while_directories_come_and_go) {
    EXPECT_EQ(storm(Below::kDirectoriesToo, back_and_forth_, ESTALE), "");
    expect_all_taken_back();
}

}  // namespace
}  // namespace unwrite::tests::parity
