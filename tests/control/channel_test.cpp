#include "control/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

namespace unwrite::control {
namespace {

using std::chrono::milliseconds;

struct Pair {
    Pair() {
        int sockets[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
        near = std::make_unique<Channel>(UniqueFd(sockets[0]));
        far = UniqueFd(sockets[1]);
    }
    void put(std::string_view text) const {
        EXPECT_EQ(::send(far.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    std::unique_ptr<Channel> near;
    UniqueFd far;
};

TEST(Channel, LinesAreTakenApart) {
    const Pair pair;
    pair.put("one\n\ntwo\nth");
    EXPECT_EQ(*pair.near->read_line(100, milliseconds(0), milliseconds(0)), "one");
    EXPECT_EQ(*pair.near->read_line(100, milliseconds(0), milliseconds(0)), "");
    EXPECT_EQ(*pair.near->read_line(100, milliseconds(0), milliseconds(0)), "two");
    pair.put("ree\n");
    EXPECT_EQ(*pair.near->read_line(100, milliseconds(0), milliseconds(0)), "three");
}

TEST(Channel, SilenceAndSlownessEnd) {
    const Pair pair;
    EXPECT_EQ(pair.near->read_line(9, milliseconds(5), milliseconds(5)).error().number(),
              ETIMEDOUT);
    pair.put("abc");
    EXPECT_EQ(pair.near->read_line(9, milliseconds(5), milliseconds(5)).error().number(),
              ETIMEDOUT);
}

TEST(Channel, LongLinesEnd) {
    const Pair pair;
    pair.put("0123456789\n");
    EXPECT_EQ(pair.near->read_line(9, milliseconds(5), milliseconds(5)).error().number(), EMSGSIZE);
    const Pair other;
    other.put("0123456789");
    EXPECT_EQ(other.near->read_line(9, milliseconds(5), milliseconds(5)).error().number(),
              EMSGSIZE);
}

TEST(Channel, TheEndBetweenLinesDiffersFromTheEndWithinOne) {
    Pair pair;
    pair.far.reset();
    EXPECT_EQ(pair.near->read_line(9, milliseconds(5), milliseconds(5)).error().kind(),
              ErrorKind::kNothing);
    Pair other;
    other.put("abc");
    other.far.reset();
    EXPECT_EQ(other.near->read_line(9, milliseconds(5), milliseconds(5)).error().number(), EPIPE);
}

TEST(Channel, WritingToNobodyEndsWithoutASignal) {
    Pair pair;
    pair.far.reset();
    EXPECT_FALSE(pair.near->write_line("x", milliseconds(5)));
}

TEST(Channel, WritingToSomeoneWhoDoesNotReadEnds) {
    const Pair pair;
    EXPECT_EQ(pair.near->write_line(std::string(std::size_t{8} << 20, 'x'), milliseconds(50))
                  .error()
                  .number(),
              ETIMEDOUT);
}

TEST(Channel, LongLinesPassWhole) {
    Pair pair;
    Channel far(std::move(pair.far));
    const std::string text(std::size_t{8} << 20, 'x');
    std::thread writer([&] { EXPECT_TRUE(far.write_line(text, milliseconds(20000))); });
    const Result<std::string> line =
        pair.near->read_line(text.size(), milliseconds(20000), milliseconds(20000));
    writer.join();
    ASSERT_TRUE(line);
    EXPECT_EQ(*line, text);
}

}  // namespace
}  // namespace unwrite::control
