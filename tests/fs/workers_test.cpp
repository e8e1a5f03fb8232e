// The threads that answer, and what must never wait for what.
#include <thread>
#include <vector>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

TEST(Workers, TwentyBlockedRequestsDoNotBlockAnother) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    constexpr int kBlocked = 20;
    for (int i = 0; i < kBlocked; ++i) {
        // One directory each: the kernel lets one removal into a directory at a time.
        std::filesystem::create_directory(served.path("d" + std::to_string(i)));
        served.write("d" + std::to_string(i) + "/f", "x");
    }
    ASSERT_EQ(served.order("hold"), "ok");
    std::vector<std::thread> blocked;
    for (int i = 0; i < kBlocked; ++i) {
        blocked.emplace_back(
            [&served, i] { std::filesystem::remove(served.path("d" + std::to_string(i) + "/f")); });
    }
    served.wait_until_held(kBlocked);
    EXPECT_FALSE(std::filesystem::exists(served.path("absent")));
    served.write("quick", "y");
    EXPECT_EQ(served.order("held"), std::to_string(kBlocked)) << "nobody waited for them";
    EXPECT_EQ(served.order("release"), "ok");
    for (std::thread& thread : blocked)
        thread.join();
    EXPECT_EQ(served.read("quick"), "y");
}

TEST(Workers, TheDaemonsOwnRequestsAreRefused) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "x");
    EXPECT_EQ(served.order("open f"), Error(EDEADLK).message());
    EXPECT_EQ(served.read("f"), "x");
}

TEST(Workers, ManyClientsAtOnce) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::vector<std::thread> clients;
    for (int client = 0; client < 8; ++client) {
        clients.emplace_back([&served, client] {
            for (int i = 0; i < 50; ++i) {
                const std::string name = std::to_string(client) + "." + std::to_string(i);
                served.write(name, name);
                EXPECT_EQ(served.read(name), name);
                if (i % 2 == 0) std::filesystem::remove(served.path(name));
            }
        });
    }
    for (std::thread& client : clients)
        client.join();
    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(served.path())) {
        EXPECT_EQ(served.read(entry.path().filename()), entry.path().filename());
        ++left;
    }
    EXPECT_EQ(left, 8U * 25U);
}

}  // namespace
}  // namespace unwrite::tests
