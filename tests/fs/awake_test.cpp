// Processors that are kept awake, and the bell that idle workers sleep on.
#include "fs/awake.h"

#include <cstring>

#include "fs/doorbell.h"
#include "fs/event.h"
#include "tests/base/scratch.h"

namespace unwrite::tests {
namespace {

using std::chrono::milliseconds;

/// What was asked for last, in microseconds; -1 for nothing.
std::int32_t asked(const Scratch& scratch) {
    const std::string text = scratch.read("latency");
    std::int32_t latency = -1;
    if (text.size() == sizeof latency) std::memcpy(&latency, text.data(), sizeof latency);
    return latency;
}

bool comes_to(const Scratch& scratch, std::int32_t latency) {
    for (int i = 0; i < 2000 && asked(scratch) != latency; ++i)
        std::this_thread::sleep_for(milliseconds(5));
    return asked(scratch) == latency;
}

constexpr std::int32_t kAny = 2'000'000'000;

TEST(Awake, FromTheFirstRequestOnUntilNoneComes) {
    const Scratch scratch;
    scratch.write("latency", "");
    ASSERT_ASSIGN(sys::IdleLatency latency, sys::IdleLatency::open(scratch.path() / "latency"));
    ASSERT_ASSIGN(const auto awake, fs::Awake::start(std::move(latency)));
    EXPECT_EQ(asked(scratch), -1) << "nothing yet";
    for (int round = 0; round < 3; ++round) {
        // It may be released again before we look.
        bool seen = false;
        for (int i = 0; i < 10'000 && !seen; ++i) {
            awake->came();
            seen = asked(scratch) == 0;
        }
        EXPECT_TRUE(seen);
        EXPECT_TRUE(comes_to(scratch, kAny)) << "no request came any more";
    }
}

TEST(Awake, NotWhereItIsNotWanted) {
    EXPECT_EQ(fs::Awake::make(fs::Idle::kAsleep), nullptr);
}

TEST(Awake, TheDeviceOfTheKernelTakesIt) {
    auto latency = sys::IdleLatency::open();
    if (!latency) GTEST_SKIP() << latency.error().message();
    ASSERT_OK(latency->hold());
    ASSERT_ASSIGN(const UniqueFd reader,
                  sys::open_at(AT_FDCWD, sys::IdleLatency::kDevice, O_RDONLY));
    std::int32_t now = -1;
    ASSERT_ASSIGN(const std::size_t got,
                  sys::read_at(reader.get(), std::as_writable_bytes(std::span(&now, 1)), 0));
    EXPECT_EQ(got, sizeof now);
    EXPECT_EQ(now, 0) << "what holds for all";
    ASSERT_OK(latency->release());
}

/// Sleepers on one bell, which say when they were woken.
class Sleepers {
 public:
    explicit Sleepers(const fs::Doorbell& bell, int count) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this, &bell] {
                bell.wait();
                woken_.fetch_add(1);
            });
        }
        std::this_thread::sleep_for(milliseconds(50));
    }
    ~Sleepers() {
        for (std::thread& thread : threads_)
            thread.join();
    }
    bool come_to(int count) const {
        for (int i = 0; i < 2000 && woken_ < count; ++i)
            std::this_thread::sleep_for(milliseconds(5));
        std::this_thread::sleep_for(milliseconds(50));  // and no more than these
        return woken_ == count;
    }

 private:
    std::atomic<int> woken_{0};
    std::vector<std::thread> threads_;
};

class Bells : public testing::Test {
 protected:
    void SetUp() override {
        auto device = fs::Event::make();
        auto end = fs::Event::make();
        ASSERT_TRUE(device.ok() && end.ok());
        device_.emplace(std::move(*device));
        end_.emplace(std::move(*end));
        auto bell = fs::Doorbell::make(device_->fd(), end_->fd());
        ASSERT_OK(bell);
        bell_.emplace(std::move(*bell));
    }
    std::optional<fs::Event> device_, end_;
    std::optional<fs::Doorbell> bell_;
};

TEST_F(Bells, RingForOneSleeperUntilListenedFor) {
    const Sleepers sleepers(*bell_, 3);
    device_->set();
    EXPECT_TRUE(sleepers.come_to(1));
    bell_->listen();
    EXPECT_TRUE(sleepers.come_to(2)) << "what came meanwhile rings at once";
    device_->clear();
    bell_->listen();
    EXPECT_TRUE(sleepers.come_to(2)) << "there is nothing";
    device_->set();
    EXPECT_TRUE(sleepers.come_to(3));
}

TEST_F(Bells, AreMuteWhileSomebodyLooks) {
    bell_->mute();
    const Sleepers sleepers(*bell_, 2);
    device_->set();
    EXPECT_TRUE(sleepers.come_to(0));
    bell_->listen();
    EXPECT_TRUE(sleepers.come_to(1));
    end_->set();
}

TEST_F(Bells, TheClockWakesOneEachTime) {
    bell_->mute();
    const Sleepers sleepers(*bell_, 2);
    bell_->set_clock(std::chrono::microseconds(500));
    EXPECT_TRUE(sleepers.come_to(2)) << "it goes on after the first time";
    bell_->set_clock(std::chrono::microseconds(0));
}

TEST_F(Bells, TheEndWakesAll) {
    bell_->mute();
    const Sleepers sleepers(*bell_, 5);
    end_->set();
    EXPECT_TRUE(sleepers.come_to(5));
}

}  // namespace
}  // namespace unwrite::tests
