#include "base/write_hold.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/writers.h"
#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::Scratch;

class WriteHold : public ::testing::Test {
 protected:
    struct Shared {
        std::atomic<std::uint64_t> done;
        std::atomic<bool> stop;
    };
    void SetUp() override {
        scratch_.write("f", "0123456789");
        auto hold = sys::WriteHold::start(scratch_.fd());
        if (!hold) GTEST_SKIP() << "not here: " << hold.error().message();
        hold_ = *std::move(hold);
        fd_ = scratch_.open("f", O_PATH);
        void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(at, MAP_FAILED);
        shared_ = new (at) Shared{};
    }
    void TearDown() override {
        if (child_ > 0) {
            shared_->stop = true;
            int status = 0;
            ::waitpid(child_, &status, 0);
            EXPECT_EQ(status, 0);
        }
        if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
    }
    /// Another process writes to it all the time.
    void begin_to_write() {
        child_ = ::fork();
        if (child_ == 0) {
            const UniqueFd fd = scratch_.open("f", O_WRONLY);
            while (!shared_->stop && ::pwrite(fd.get(), "x", 1, 0) == 1)
                ++shared_->done;
            ::_exit(shared_->stop ? 0 : 1);
        }
        expect_writes();
    }
    void expect_writes() const {
        const std::uint64_t before = shared_->done;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (shared_->done < before + 3 && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_GE(shared_->done, before + 3);
    }
    /// But for one that had been let through, which may end as late as it likes.
    void expect_no_writes() const {
        const std::uint64_t before = shared_->done;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_LE(shared_->done, before + 1);
    }

    Scratch scratch_;
    std::unique_ptr<sys::WriteHold> hold_;
    UniqueFd fd_;
    Shared* shared_ = nullptr;
    pid_t child_ = -1;
};

TEST_F(WriteHold, S48_WhoWritesWaitsWhileHeldAndThenGoesOn) {
    ASSERT_OK(hold_->watch(fd_.get()));
    begin_to_write();
    for (int i = 0; i < 3; ++i) {
        hold_->hold({fd_.get()});
        expect_no_writes();
        const UniqueFd own = scratch_.open("f", O_RDWR);
        ASSERT_OK(sys::write_all_at(own.get(), std::as_bytes(std::span("own", 3)), 3));
        EXPECT_EQ(scratch_.read("f").substr(3, 3), "own") << "this process is never held";
        hold_->release({fd_.get()});
        expect_writes();
    }
}

TEST_F(WriteHold, S48_ItsEndLetsEverybodyGoOn) {
    ASSERT_OK(hold_->watch(fd_.get()));
    begin_to_write();
    hold_->hold({fd_.get()});
    expect_no_writes();
    hold_.reset();
    expect_writes();
}

TEST_F(WriteHold, S48_OtherFilesAreNotHeld) {
    scratch_.write("g", "");
    const UniqueFd other = scratch_.open("g", O_PATH);
    ASSERT_OK(hold_->watch(other.get()));
    begin_to_write();
    hold_->hold({other.get()});
    expect_writes();
    hold_->release({other.get()});
}

TEST_F(WriteHold, S48_WhatIsUnwatchedIsNotHeld) {
    ASSERT_OK(hold_->watch(fd_.get()));
    hold_->unwatch(fd_.get());
    begin_to_write();
    expect_writes();
}

TEST_F(WriteHold, WhoCanStillWriteIsTold) {
    const auto open = [&] { return sys::is_open_for_writing(fd_.get()); };
    ASSERT_TRUE(open().ok());
    EXPECT_FALSE(*open());
    begin_to_write();
    EXPECT_TRUE(*open());
}

TEST_F(WriteHold, WhoMappedItCanWriteAfterHeClosedIt) {
    UniqueFd file = scratch_.open("f", O_RDWR);
    void* const at = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(at, MAP_FAILED);
    file.reset();
    EXPECT_TRUE(*sys::is_open_for_writing(fd_.get()));
    ::munmap(at, 1);
    EXPECT_FALSE(*sys::is_open_for_writing(fd_.get()));
}

}  // namespace
}  // namespace unwrite
