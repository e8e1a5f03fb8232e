#include "base/tcp.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>

namespace unwrite::sys {
namespace {

bool leads_to_the_internet(const std::string& literal) {
    const auto addresses = addresses_of(literal, 443);
    return addresses && is_public(addresses->front());
}

TEST(Tcp, S167_addresses_that_are_not_of_the_internet) {
    for (const char* address :
         {"127.0.0.1",        "127.255.0.1",    "0.0.0.0",       "10.1.2.3",
          "172.16.0.1",       "172.31.255.255", "192.168.0.1",   "169.254.169.254",
          "100.64.0.1",       "198.18.0.1",     "224.0.0.1",     "255.255.255.255",
          "192.0.0.1",        "168.63.129.16",  "::1",           "::",
          "fe80::1",          "fc00::1",        "fd00::1",       "ff02::1",
          "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",   "64:ff9b::7f00:1",
          "64:ff9b::a00:1",   "64:ff9b:1::1",   "2002:7f00:1::", "2001::1",
          "2001:db8::1"})
        EXPECT_FALSE(leads_to_the_internet(address)) << address;
    for (const char* address : {"8.8.8.8", "172.32.0.1", "172.15.0.1", "100.128.0.1", "192.0.1.1",
                                "2606:4700::1111", "64:ff9b::808:808"})
        EXPECT_TRUE(leads_to_the_internet(address)) << address;
}

TEST(Tcp, S167_addresses_as_the_kernel_writes_them) {
    EXPECT_EQ(canonical_address("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(canonical_address("0:0:0::1"), "::1");
    for (const char* text : {"", "127.1", "0x7f.0.0.1", "127.0.0.01", "2130706433", "localhost",
                             "::1%lo", "1.2.3.4.5", " 127.0.0.1"})
        EXPECT_EQ(canonical_address(text), "") << text;
    EXPECT_EQ(canonical_address(std::string("127.0.0.1\0x", 11)), "");
    EXPECT_TRUE(is_loopback("127.0.0.1"));
    EXPECT_TRUE(is_loopback("127.9.9.9"));
    EXPECT_TRUE(is_loopback("::1"));
    EXPECT_FALSE(is_loopback("127.evil.example"));
    EXPECT_FALSE(is_loopback("10.0.0.1"));
}

TEST(Tcp, S167_a_connection) {
    const auto listener = listen_on("127.0.0.1", 0);
    ASSERT_TRUE(listener) << listener.error().message();
    const auto port = port_of(listener->get());
    ASSERT_TRUE(port);
    const auto addresses = addresses_of("127.0.0.1", *port);
    ASSERT_TRUE(addresses);
    const auto client = connect_to(addresses->front(), std::chrono::seconds(5));
    ASSERT_TRUE(client) << client.error().message();
    struct pollfd watched = {listener->get(), POLLIN, 0};
    ASSERT_EQ(::poll(&watched, 1, 5000), 1);
    const auto server = accept_from(listener->get());
    ASSERT_TRUE(server);
    ASSERT_TRUE(send_some(client->get(), "ab", 2));
    end_writing(client->get());
    watched.fd = server->get();
    ASSERT_EQ(::poll(&watched, 1, 5000), 1);
    std::array<char, 8> room = {};
    const auto got = receive(server->get(), room.data(), room.size());
    ASSERT_TRUE(got);
    EXPECT_EQ(std::string(room.data(), *got), "ab");
    EXPECT_FALSE(listen_on("example.com", 0));
}

}  // namespace
}  // namespace unwrite::sys
