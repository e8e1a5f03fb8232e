#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cli/network/endpoint.h"
#include "cli/network/request.h"
#include "cli/network/traffic.h"

namespace unwrite::cli {
namespace {

using Words = std::vector<std::string>;

std::string read(std::string_view text, std::uint16_t usual = kHttps) {
    const std::optional<Endpoint> one = parse_endpoint(text, usual);
    return one ? one->host + " " + std::to_string(one->port) : "";
}
std::string nothing_set(const std::string& /*name*/) {
    return {};
}
std::string local_model(const std::string& name) {
    return name == "ANTHROPIC_BASE_URL" ? "http://127.0.0.1:8080/v1" : "";
}
KnownAgent claude() {
    return known_agents()[0];
}
std::string refusal(const KnownAgent* agent, const Words& named) {
    const auto all = endpoints_of(agent, named, nothing_set);
    return all ? "" : all.error().message() + "\n" + all.error().advice();
}
bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Endpoint, S167_names_ports_and_addresses) {
    EXPECT_EQ(read("api.anthropic.com"), "api.anthropic.com 443");
    EXPECT_EQ(read("API.Anthropic.COM."), "api.anthropic.com 443");
    EXPECT_EQ(read("api.example.com:8443"), "api.example.com 8443");
    EXPECT_EQ(read("127.0.0.1:1"), "127.0.0.1 1");
    EXPECT_EQ(read("[::1]:65535"), "::1 65535");
    EXPECT_EQ(read("[0:0::1]"), "::1 443");
    EXPECT_EQ(read("a_b.internal:080"), "a_b.internal 80");
    EXPECT_EQ(read("example.com:443", 0), "example.com 443");
    for (const Endpoint& one : {Endpoint{"a.example", 443}, {"::1", 443}, {"::1", 8}, {"b", 80}})
        EXPECT_EQ(parse_endpoint(words_of(one), kHttps), one);
}

TEST(Endpoint, S167_what_is_no_endpoint) {
    const Words bad = {"",
                       ".",
                       "..",
                       "a..b",
                       ".a",
                       "a:",
                       ":443",
                       "a:0",
                       "a:65536",
                       "a:99999999999",
                       "a:-1",
                       "a:+1",
                       "a: 1",
                       "a:1 ",
                       " a",
                       "a b",
                       "a/b",
                       "a@b",
                       "u:p@a:1",
                       "a:1:2",
                       "::1",
                       "[::1",
                       "[]",
                       "[]:1",
                       "[127.0.0.1]",
                       "[::1]x",
                       "[::1%lo]:1",
                       "[g::]",
                       "a#b",
                       "a?b",
                       "\xc3\xa4.de",
                       "a\nb",
                       "a\r",
                       "a%2eb",
                       "*",
                       "*.example.com",
                       std::string("a\0b", 3),
                       std::string("[::1\0]", 6),
                       std::string(254, 'a'),
                       std::string(64, 'a') + ".com"};
    for (const std::string& text : bad)
        EXPECT_EQ(read(text), "") << text;
    EXPECT_EQ(read("example.com", 0), "");
    EXPECT_EQ(read("[::1]", 0), "");
}

TEST(Endpoint, S167_of_a_url) {
    const auto of = [](std::string_view url) {
        const auto one = endpoint_of_url(url);
        return one ? words_of(*one) : "";
    };
    EXPECT_EQ(of("https://api.example.com/v1/x?y"), "api.example.com");
    EXPECT_EQ(of("HTTP://127.0.0.1:4010"), "127.0.0.1:4010");
    EXPECT_EQ(of("http://localhost/"), "localhost:80");
    for (const char* url : {"", "api.example.com", "ftp://a", "https://", "https:///x",
                            "https://u@a", "socks5://a:1", "://a"})
        EXPECT_EQ(of(url), "") << url;
}

TEST(Endpoint, S167_only_what_is_listed_is_allowed) {
    const std::vector<Endpoint> list = {{"api.example.com", 443}, {"127.0.0.1", 80, true}};
    EXPECT_TRUE(allowed(list, "api.example.com", 443));
    EXPECT_FALSE(allowed(list, "api.example.com", 80));
    EXPECT_FALSE(allowed(list, "example.com", 443));
    EXPECT_FALSE(allowed(list, "x.api.example.com", 443));
    EXPECT_FALSE(allowed(list, "api.example.com.evil.example", 443));
    EXPECT_FALSE(allowed(list, "127.0.0.2", 80));
    EXPECT_FALSE(allowed(list, "localhost", 80));
    EXPECT_FALSE(allowed({}, "api.example.com", 443));
    const std::vector<Endpoint> twice = {{"a.example", 443}, {"a.example", 443, true}};
    EXPECT_TRUE(allowed(twice, "a.example", 443)->is_own);
}

TEST(Endpoint, S167_those_of_an_agent) {
    KnownAgent agent = claude();
    agent.own_endpoints = {"mcp.example.com"};
    const auto all = endpoints_of(&agent, {"more.example:8443"}, local_model);
    ASSERT_TRUE(all);
    EXPECT_FALSE(allowed(*all, "api.anthropic.com", 443)->is_own);
    EXPECT_TRUE(allowed(*all, "127.0.0.1", 8080)->is_own);
    EXPECT_TRUE(allowed(*all, "mcp.example.com", 443)->is_own);
    EXPECT_TRUE(allowed(*all, "more.example", 8443)->is_own);
    EXPECT_FALSE(allowed(*all, "statsig.anthropic.com", 443));
}

TEST(Endpoint, S167_the_table_names_whole_endpoints) {
    for (const KnownAgent& agent : known_agents()) {
        EXPECT_FALSE(agent.endpoints.empty()) << agent.name;
        for (const std::string& text : agent.endpoints)
            EXPECT_TRUE(parse_endpoint(text, kHttps)) << text;
    }
}

TEST(Endpoint, S167_without_any_nothing_runs) {
    EXPECT_TRUE(has(refusal(nullptr, {}), "--endpoint"));
    KnownAgent other;
    other.name = "other";
    EXPECT_TRUE(has(refusal(&other, {}), "[agents.other]"));
    EXPECT_TRUE(has(refusal(nullptr, {"http://x"}), "--endpoint cannot be"));
    EXPECT_EQ(refusal(nullptr, Words(101, "x")), "");  // the same one, once
    Words many;
    for (int i = 0; i < 101; ++i)
        many.push_back("n" + std::to_string(i));
    EXPECT_TRUE(has(refusal(nullptr, many), "at most 100"));
    const KnownAgent agent = claude();
    const auto bad = endpoints_of(&agent, {}, [](const std::string&) { return std::string("x"); });
    ASSERT_FALSE(bad);
    EXPECT_TRUE(has(bad.error().message(), "ANTHROPIC_BASE_URL"));
}

TEST(ProxyRequest, S167_connect) {
    const auto one = parse_request("CONNECT API.Example.com.:443 HTTP/1.1\r\nHost: evil:1\r\n\r\n");
    ASSERT_TRUE(one);
    EXPECT_TRUE(one->is_tunnel);
    EXPECT_EQ(one->to, (Endpoint{"api.example.com", 443}));
    EXPECT_TRUE(parse_request("CONNECT [::1]:1 HTTP/1.0\r\n\r\n"));
}

TEST(ProxyRequest, S167_a_plain_request_names_one_server) {
    const auto one = parse_request(
        "POST http://A.example:8080/v1?x=1#f HTTP/1.1\r\nHost: evil.example\r\nhost: b\r\n"
        "Connection: keep-alive\r\nProxy-Authorization: x\r\nX-Key: y\r\nContent-Length: "
        "2\r\n\r\n");
    ASSERT_TRUE(one);
    EXPECT_FALSE(one->is_tunnel);
    EXPECT_EQ(one->to, (Endpoint{"a.example", 8080}));
    EXPECT_EQ(one->head,
              "POST /v1?x=1 HTTP/1.1\r\nHost: a.example:8080\r\nX-Key: y\r\nContent-Length: 2\r\n"
              "Connection: close\r\n\r\n");
    const auto bare = parse_request("GET http://a.example?x HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->to.port, kHttp);
    EXPECT_TRUE(bare->head.starts_with("GET /?x HTTP/1.1\r\nHost: a.example\r\n"));
}

TEST(ProxyRequest, S167_what_is_no_request) {
    const std::string end = "\r\n\r\n";
    const Words bad = {"",
                       "\r\n\r\n",
                       "CONNECT",
                       "CONNECT a:1" + end,
                       "CONNECT a:1 HTTP/1.1\r\n",
                       "CONNECT a HTTP/1.1" + end,
                       "CONNECT a: HTTP/1.1" + end,
                       "CONNECT :1 HTTP/1.1" + end,
                       "CONNECT a:0 HTTP/1.1" + end,
                       "CONNECT a:65536 HTTP/1.1" + end,
                       "CONNECT a:1 HTTP/2" + end,
                       "CONNECT  a:1 HTTP/1.1" + end,
                       "CONNECT a:1  HTTP/1.1" + end,
                       "CONNECT a:1\tHTTP/1.1" + end,
                       "CONNECT a:1 b:2 HTTP/1.1" + end,
                       "CONNECT http://a:1 HTTP/1.1" + end,
                       "CONNECT ::1:443 HTTP/1.1" + end,
                       "CONNECT u@a:1 HTTP/1.1" + end,
                       "CONNECT a:1/ HTTP/1.1" + end,
                       "CONNECT a:1 HTTP/1.1\nHost: b" + end,
                       "CONNECT a:1\r HTTP/1.1" + end,
                       "GET / HTTP/1.1" + end,
                       "GET https://a/ HTTP/1.1" + end,
                       "GET //a/ HTTP/1.1" + end,
                       "GET http:// HTTP/1.1" + end,
                       "GET http://u:p@a/ HTTP/1.1" + end,
                       "GET http://a:x/ HTTP/1.1" + end,
                       "GET ftp://a/ HTTP/1.1" + end,
                       "G(T http://a/ HTTP/1.1" + end,
                       " GET http://a/ HTTP/1.1" + end,
                       "GET http://a/ HTTP/1.1\r\nno header" + end,
                       "GET http://a/ HTTP/1.1\r\n X: folded" + end,
                       "GET http://a/ HTTP/1.1\r\nX: a\nHost: b" + end,
                       "GET http://a/ HTTP/1.1\r\nX : a" + end,
                       "GET http://a/ HTTP/1.1\r\n: a" + end,
                       "GET http://a/ HTTP/1.1" + end + "more",
                       "GET http://a/" + std::string(kLongestHead, 'x') + " HTTP/1.1" + end,
                       std::string("CONNECT a\0.b:1 HTTP/1.1\r\n\r\n", 27),
                       std::string("GET http://a/ HTTP/1.1\r\nX: \0\r\n\r\n", 31)};
    for (const std::string& text : bad)
        EXPECT_FALSE(parse_request(text)) << text.substr(0, 80);
}

// Whatever comes: what is taken leads to the host that it says, and the head has one line for it.
TEST(ProxyRequest, S167_any_bytes) {
    std::mt19937 random(1);
    const Words parts = {"CONNECT ",
                         "GET ",
                         "http://",
                         "a",
                         ".",
                         ":",
                         "443",
                         " HTTP/1.1",
                         "\r\n",
                         "\r\n\r\n",
                         "Host: b",
                         "[",
                         "::1",
                         "]",
                         "@",
                         "/",
                         std::string(1, '\0'),
                         "\n",
                         "\xff",
                         " ",
                         "-",
                         "Connection: x"};
    std::size_t taken = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string text = round % 2 == 0 ? "CONNECT a" : "GET http://a";
        for (std::size_t i = random() % 8; i > 0; --i)
            text += parts[random() % parts.size()];
        text += " HTTP/1.1\r\n";
        for (std::size_t i = random() % 3; i > 0; --i)
            text += parts[random() % parts.size()];
        text += "\r\n\r\n";
        const auto request = parse_request(text);
        if (!request) continue;
        ++taken;
        const std::string again = words_of(request->to);
        ASSERT_EQ(parse_endpoint(again, kHttps), request->to) << text;
        ASSERT_EQ(length_of_head(request->head), request->head.size()) << text;
        std::string small = request->head;
        std::ranges::transform(small, small.begin(),
                               [](unsigned char c) { return std::tolower(c); });
        ASSERT_EQ(small.find("\r\nhost:"), small.rfind("\r\nhost:")) << text;
    }
    EXPECT_GT(taken, 1000u);
}

TEST(Traffic, S167_words_and_the_way_through_a_pipe) {
    Traffic traffic;
    EXPECT_EQ(traffic_words(traffic), "");
    for (int i = 0; i < 12; ++i)
        traffic.add(Passed::kAllowed, "api.example.com", {1, 1024, 2048});
    for (int i = 0; i < 4; ++i)
        traffic.add(Passed::kRefused, "registry.example", {1, 0, 0});
    traffic.add(Passed::kFailed, "down.example:8443", {1, 0, 0});
    traffic.log = "/home/me/network 1.log";
    const std::string words =
        "Network: api.example.com 12 connections, 36.0 KiB; refused: registry.example (4); not "
        "reached: down.example:8443 (1)";
    EXPECT_EQ(traffic_words(traffic), words);
    const std::string text = encode_traffic(traffic);
    const Traffic read_again = decode_traffic(text);
    EXPECT_EQ(traffic_words(read_again), words);
    EXPECT_EQ(read_again.log, traffic.log);
    EXPECT_TRUE(read_again.is_whole);
    EXPECT_FALSE(decode_traffic(text.substr(0, text.size() - 3)).is_whole);
    EXPECT_FALSE(decode_traffic("").is_whole);
}

TEST(Traffic, S167_many_names_are_counted_together) {
    Traffic traffic;
    for (int i = 0; i < 1000; ++i)
        traffic.add(Passed::kRefused, "n" + std::to_string(i) + ".example", {1, 0, 0});
    EXPECT_EQ(traffic.refused.size(), kMostNames + 1);
    EXPECT_EQ(traffic.refused[std::string(kOthers)].connections, 1000 - kMostNames);
}

}  // namespace
}  // namespace unwrite::cli
