// Writes that fail half-way, as on a full disk: a limit on the size of files stands in for it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "journal/data_file.h"
#include "journal/delta_log.h"
#include "journal/places.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

constexpr ObjectKey kFile{17, 1};
constexpr ObjectKey kRoot{2, 1};

void limit_file_size(rlim_t bytes) {
    struct rlimit limit {};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// Runs `body` in a child whose limits do not matter to others; what it answers is expected to be
/// true.
bool in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(FullDisk, ContentThatDoesNotFitIsNotRecordedS165) {
    const Scratch scratch;
    const std::string text(300'000, 'x');
    scratch.write("source", text);
    const UniqueFd source = scratch.open("source", O_RDONLY);
    EXPECT_TRUE(in_child([&] {
        DeltaWriter writer(scratch.fd(), 7);
        bool well = writer.size(kFile, text.size(), 1).ok();
        limit_file_size(100'000);
        well = well && writer.content(kFile, source.get(), 0, 65'536).ok();
        well =
            well && writer.content(kFile, source.get(), 65'536, 65'536).error().number() == EFBIG;
        well =
            well && writer.content(kFile, source.get(), 65'536, 200'000).error().number() == EFBIG;
        limit_file_size(RLIM_INFINITY);
        return well && writer.content(kFile, source.get(), 200'000, 65'536).ok();
    }));
    ASSERT_ASSIGN(const Delta delta, read_delta(scratch.fd(), 7));
    const auto& images = delta.objects.at(kFile).content;
    ASSERT_EQ(images.size(), 2U);
    EXPECT_EQ(images[0].offset, 0U);
    EXPECT_EQ(images[1].offset, 200'000U);
    ASSERT_ASSIGN(const OpenData data, open_delta_data(scratch.fd(), 7));
    std::string found(65'536, '\0');
    ASSERT_OK(data->read_exactly(std::as_writable_bytes(std::span(found)), images[1].position));
    EXPECT_TRUE(found == text.substr(0, 65'536));
    ASSERT_ASSIGN(const std::uint64_t size, delta_data_size(scratch.fd(), 7));
    EXPECT_LT(size, 150'000U) << "the space of what failed was given back";
}

TEST(FullDisk, ARecordThatDoesNotFitLeavesNoTrace) {
    const Scratch scratch;
    EXPECT_TRUE(in_child([&] {
        DeltaWriter writer(scratch.fd(), 7);
        bool well = writer.name({{kRoot, "before"}, kFile, S_IFREG}, 1).ok();
        const auto st = sys::stat_at(scratch.fd(), "7.log");
        limit_file_size(static_cast<rlim_t>(st->st_size) + 20);
        const auto refused = writer.name({{kRoot, "refused"}, kFile, S_IFREG}, 1);
        well = well && refused.error().number() == EFBIG;
        const auto after = sys::stat_at(scratch.fd(), "7.log");
        well = well && after->st_size == st->st_size;
        limit_file_size(RLIM_INFINITY);
        return well && writer.name({{kRoot, "after"}, kFile, S_IFREG}, 1).ok();
    }));
    ASSERT_ASSIGN(const Delta delta, read_delta(scratch.fd(), 7));
    EXPECT_EQ(delta.names.size(), 2U);
    EXPECT_TRUE(delta.names.contains({kRoot, "after"}));
    EXPECT_FALSE(delta.names.contains({kRoot, "refused"}));
}

TEST(FullDisk, APlaceThatDoesNotFitIsNotRemembered) {
    const Scratch scratch;
    EXPECT_TRUE(in_child([&] {
        const auto places = Places::open(scratch.fd());
        if (!places || !(*places)->set(kFile, {kRoot, "a"})) return false;
        const auto st = sys::stat_at(scratch.fd(), "places.log");
        limit_file_size(static_cast<rlim_t>(st->st_size) + 10);
        const bool refused = !(*places)->set(kFile, {kRoot, "b"}).ok();
        const bool same = (*places)->find(kFile)->newest.name == "a";
        limit_file_size(RLIM_INFINITY);
        return refused && same && (*places)->set(kFile, {kRoot, "c"}).ok();
    }));
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    EXPECT_EQ(places->find(kFile)->newest.name, "c");
    EXPECT_EQ(places->find(kFile)->before->name, "a");
}

}  // namespace
}  // namespace unwrite::journal
