// Who looks for requests: what takes long never keeps another request from being taken.
#include "fs/attendance.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "fs/event.h"
#include "fs/tuning.h"

namespace unwrite::tests {
namespace {

using std::chrono::milliseconds;

bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 4000 && !condition(); ++i)
        std::this_thread::sleep_for(milliseconds(5));
    return condition();
}

/// The same without a sleep: what is waited for comes in microseconds.
bool comes_soon(const std::function<bool()>& condition) {
    for (int i = 0; i < 20'000'000 && !condition(); ++i)
        std::this_thread::yield();
    return condition();
}

/// A device with nothing but a number of requests, and threads that take them.
class Attendances : public testing::Test {
 protected:
    void SetUp() override {
        device_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
        ASSERT_TRUE(device_);
        auto end = fs::Event::make();
        ASSERT_TRUE(end.ok());
        end_.emplace(std::move(*end));
        auto bell = fs::Doorbell::make(device_.get(), end_->fd());
        ASSERT_TRUE(bell.ok());
        attendance_.emplace(std::move(*bell), 1U);
    }
    void TearDown() override {
        stop_ = true;
        if (end_) end_->set();
        for (std::thread& thread : threads_)
            thread.join();
    }

    void start(int count) {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this] { work(); });
    }
    void send(std::uint64_t requests) const {
        ASSERT_EQ(::write(device_.get(), &requests, sizeof requests),
                  static_cast<ssize_t>(sizeof requests));
    }

    std::atomic<int> taken_{0};
    std::atomic<int> answered_{0};
    std::atomic<int> slow_{-1};  // the request of this number waits until let_go_
    std::atomic<bool> let_go_{false};

 private:
    int take() const {
        std::uint64_t one = 0;
        return ::read(device_.get(), &one, sizeof one) == sizeof one ? 1 : -EAGAIN;
    }
    void work() {
        fs::Attendance::Turn turn(
            *attendance_, [this] { return take(); }, stop_);
        while (!stop_) {
            if (turn.next() <= 0) {
                turn.sleep();
                continue;
            }
            const int number = taken_.fetch_add(1);
            while (number == slow_ && !let_go_ && !stop_)
                std::this_thread::sleep_for(milliseconds(1));
            answered_.fetch_add(1);
        }
    }

    UniqueFd device_;
    std::optional<fs::Event> end_;
    std::optional<fs::Attendance> attendance_;
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

/// Sends one request after the other, each when the one before it was answered.
#define SEND_ONE_BY_ONE(count)                                               \
    for (int sent = 0; sent < (count); ++sent) {                             \
        const int before = answered_;                                        \
        send(1);                                                             \
        ASSERT_TRUE(comes_soon([&] { return answered_ > before; })) << sent; \
    }

TEST_F(Attendances, WhatTakesLongKeepsNoOtherFromBeingTaken) {
    constexpr int kInTurn = static_cast<int>(fs::tuning::kAlone) * 4;
    start(3);
    SEND_ONE_BY_ONE(kInTurn)
    slow_ = kInTurn;
    send(1);
    ASSERT_TRUE(comes_true([&] { return taken_ == kInTurn + 1; }));
    send(1);
    EXPECT_TRUE(comes_true([&] { return answered_ == kInTurn + 1; })) << "while the slow one waits";
    SEND_ONE_BY_ONE(kInTurn)
    let_go_ = true;
    EXPECT_TRUE(comes_true([&] { return answered_ == 2 * kInTurn + 2; }));
}

TEST_F(Attendances, AllAreTakenHoweverTheyCome) {
    start(4);
    int sent = 0;
    for (int round = 0; round < 200; ++round) {
        const int burst = 1 + round % 7;
        send(static_cast<std::uint64_t>(burst));
        sent += burst;
        // Sometimes one by one, sometimes after all went to sleep, sometimes upon each other.
        if (round % 3 == 0) {
            ASSERT_TRUE(comes_soon([&] { return answered_ == sent; })) << round;
        } else if (round % 20 == 1) {
            std::this_thread::sleep_for(milliseconds(5));
        }
    }
    EXPECT_TRUE(comes_true([&] { return answered_ == sent; }));
}

TEST_F(Attendances, ManySendersAtATime) {
    start(4);
    constexpr int kEach = 3000;
    std::vector<std::thread> senders;
    for (int i = 0; i < 4; ++i) {
        senders.emplace_back([this] {
            for (int sent = 0; sent < kEach; ++sent) {
                send(1);
                if (sent % 4 == 0) std::this_thread::yield();
            }
        });
    }
    for (std::thread& sender : senders)
        sender.join();
    EXPECT_TRUE(comes_true([&] { return answered_ == 4 * kEach; }));
}

}  // namespace
}  // namespace unwrite::tests
