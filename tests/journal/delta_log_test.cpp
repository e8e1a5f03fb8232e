#include "journal/delta_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::bytes_of;
using tests::Scratch;

constexpr ObjectKey kRoot{2, 100};
constexpr ObjectKey kFile{17, 1'700'000'000'123'456'789};
constexpr ObjectKey kOther{18, 0};

NameImage absent(const std::string& name) {
    return {{kRoot, name}, std::nullopt, 0};
}

NameImage present(const std::string& name, const ObjectKey& object) {
    return {{kRoot, name}, object, S_IFREG};
}

class DeltaLog : public ::testing::Test {
 protected:
    Delta read(DeltaNumber number = 7) const {
        auto delta = read_delta(scratch_.fd(), number);
        EXPECT_TRUE(delta.ok()) << delta.error().message();
        return delta ? *std::move(delta) : Delta();
    }
    UniqueFd source(std::string_view text) const {
        scratch_.write("source", text);
        return scratch_.open("source", O_RDWR);
    }
    /// The bytes an object's content images say, laid over spaces.
    std::string content(const Delta& delta, const ObjectKey& key, std::size_t size) const {
        std::string text(size, ' ');
        auto data = open_delta_data(scratch_.fd(), 7);
        EXPECT_TRUE(data.ok());
        for (const ContentImage& image : delta.objects.at(key).content) {
            std::string part(image.length, '\0');
            if (image.position != ContentImage::kHole) {
                const auto got =
                    (*data)->read_exactly(std::as_writable_bytes(std::span(part)), image.position);
                EXPECT_TRUE(got.ok());
            }
            text.replace(image.offset, image.length, part);
        }
        return text;
    }
    Scratch scratch_;
};

TEST_F(DeltaLog, NothingMakesNoFiles) {
    const DeltaWriter writer(scratch_.fd(), 7);
    EXPECT_TRUE(writer.empty());
    EXPECT_TRUE(read().empty());
    ASSERT_ASSIGN(const auto numbers, list_deltas(scratch_.fd()));
    EXPECT_TRUE(numbers.empty());
    ASSERT_ASSIGN(const OpenData data, open_delta_data(scratch_.fd(), 7));
    EXPECT_FALSE(data);
}

TEST_F(DeltaLog, ReadsBackEveryKindOfRecord) {
    DeltaWriter writer(scratch_.fd(), 7);
    const Attributes attributes{S_IFREG | 04711,
                                12,
                                34,
                                -5,
                                999'999'999,
                                {{"user.a", std::string("\0x", 2)}, {"user.b", ""}}};
    ASSERT_OK(writer.name(absent("new\nline\xff"), 3));
    ASSERT_OK(writer.name(present("b", kFile), 3));
    ASSERT_OK(writer.attributes(kFile, attributes, 4));
    ASSERT_OK(writer.size(kFile, 1ULL << 40, 4));
    ASSERT_OK(writer.touch_name({kRoot, "b"}, 5));
    ASSERT_OK(writer.touch_object(kFile, 6));
    EXPECT_FALSE(writer.empty());

    const Delta delta = read();
    ASSERT_EQ(delta.names.size(), 2U);
    const NameState& b = delta.names.at({kRoot, "b"});
    EXPECT_EQ(b.image.object, kFile);
    EXPECT_EQ(b.image.type, std::uint32_t{S_IFREG});
    EXPECT_EQ(b.origins, (std::set<OriginNumber>{3, 5}));
    EXPECT_FALSE(delta.names.at({kRoot, "new\nline\xff"}).image.object);
    const ObjectImage& file = delta.objects.at(kFile);
    EXPECT_EQ(file.attributes, attributes);
    EXPECT_EQ(file.size, 1ULL << 40);
    EXPECT_EQ(file.origins, (std::set<OriginNumber>{4, 6}));
    EXPECT_EQ(delta.mentioned(), (std::set<ObjectKey>{kRoot, kFile}));
}

TEST_F(DeltaLog, TheFirstImageWinsS48) {
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.name(present("a", kFile), 1));
    ASSERT_OK(writer.name(absent("a"), 2));
    ASSERT_OK(writer.size(kFile, 10, 1));
    ASSERT_OK(writer.size(kFile, 20, 1));
    ASSERT_OK(writer.attributes(kFile, {.mode = 0600}, 1));
    ASSERT_OK(writer.attributes(kFile, {.mode = 0644}, 1));
    const Delta delta = read();
    EXPECT_EQ(delta.names.at({kRoot, "a"}).image.object, kFile);
    EXPECT_EQ(delta.objects.at(kFile).size, 10U);
    EXPECT_EQ(delta.objects.at(kFile).attributes->mode, 0600U);
}

TEST_F(DeltaLog, OverlappingContentKeepsTheFirst) {
    DeltaWriter writer(scratch_.fd(), 7);
    const UniqueFd file = source("aaaaaaaaaaaaaaaaaaaa");
    ASSERT_OK(writer.size(kFile, 20, 1));
    ASSERT_OK(writer.content(kFile, file.get(), 4, 4));
    ASSERT_OK(writer.content(kFile, file.get(), 12, 2));
    ASSERT_OK(sys::write_all_at(file.get(), bytes_of("bbbbbbbbbbbbbbbbbbbb"), 0));
    ASSERT_OK(writer.content(kFile, file.get(), 2, 16));
    ASSERT_OK(writer.content(kFile, file.get(), 3, 4));
    const Delta delta = read();
    EXPECT_EQ(content(delta, kFile, 20), "  bbaaaabbbbaabbbb  ");
    std::uint64_t total = 0;
    for (const ContentImage& image : delta.objects.at(kFile).content)
        total += image.length;
    EXPECT_EQ(total, 16U) << "no byte twice";
}

TEST_F(DeltaLog, SmallAndLargeContentComesBack) {
    std::string text(700'000, 'x');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 31 >> 3);
    DeltaWriter writer(scratch_.fd(), 7);
    const UniqueFd file = source(text);
    ASSERT_OK(writer.size(kFile, text.size(), 1));
    ASSERT_OK(writer.content(kFile, file.get(), 0, 65'536));
    ASSERT_OK(writer.content(kFile, file.get(), 65'536, 500'001));
    ASSERT_OK(writer.content(kFile, file.get(), 565'537, text.size() - 565'537));
    ASSERT_OK(writer.content(kFile, file.get(), 0, 0));
    EXPECT_TRUE(content(read(), kFile, text.size()) == text);
}

TEST_F(DeltaLog, HolesStayHoles) {
    const UniqueFd file = source("");
    ASSERT_OK(sys::truncate(file.get(), 8 << 20));
    ASSERT_OK(sys::write_all_at(file.get(), bytes_of("island"), 4 << 20));
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.size(kFile, 8 << 20, 1));
    ASSERT_OK(writer.content(kFile, file.get(), 0, 65'536));  // small, and zero
    ASSERT_OK(writer.content(kFile, file.get(), 65'536, (8 << 20) - 65'536));
    const Delta delta = read();
    const auto& images = delta.objects.at(kFile).content;
    EXPECT_EQ(std::count_if(images.begin(), images.end(),
                            [](const auto& i) { return i.position == ContentImage::kHole; }),
              3);
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(scratch_.fd(), delta_data_name(7)));
    EXPECT_LT(st.st_size, 65'536);
    std::string expected(8 << 20, '\0');
    expected.replace(4 << 20, 6, "island");
    EXPECT_TRUE(content(delta, kFile, 8 << 20) == expected);
}

TEST_F(DeltaLog, WhatCannotBeReadIsNotRecorded) {
    DeltaWriter writer(scratch_.fd(), 7);
    const UniqueFd file = source("short");
    ASSERT_OK(writer.size(kFile, 5, 1));
    EXPECT_NUMBER(EIO, writer.content(kFile, file.get(), 0, 6));
    EXPECT_NUMBER(EIO, writer.content(kFile, file.get(), 0, 1 << 20));
    const UniqueFd unreadable = scratch_.open("source", O_WRONLY);
    EXPECT_NUMBER(EBADF, writer.content(kFile, unreadable.get(), 0, 5));
    EXPECT_TRUE(read().objects.at(kFile).content.empty());
}

TEST_F(DeltaLog, ALaterLifeContinues) {
    {
        DeltaWriter writer(scratch_.fd(), 7);
        ASSERT_OK(writer.size(kFile, 6, 1));
        ASSERT_OK(writer.content(kFile, source("first!").get(), 0, 6));
    }
    DeltaWriter writer(scratch_.fd(), 7);
    EXPECT_FALSE(writer.empty());
    ASSERT_OK(writer.size(kOther, 6, 2));
    ASSERT_OK(writer.content(kOther, source("second").get(), 0, 6));
    const Delta delta = read();
    EXPECT_EQ(content(delta, kFile, 6), "first!");
    EXPECT_EQ(content(delta, kOther, 6), "second");
}

// Of a delta that was being removed when the process was killed; another delta may share the file.
TEST_F(DeltaLog, DataWithoutALogIsWrittenBehind) {
    scratch_.write("7.dat", "left");
    scratch_.write("7.dat.zst", "left, too");
    DeltaWriter writer(scratch_.fd(), 7);
    EXPECT_TRUE(writer.empty());
    ASSERT_OK(writer.size(kFile, 6, 1));
    ASSERT_OK(writer.content(kFile, source("first!").get(), 0, 6));
    EXPECT_EQ(content(read(), kFile, 6), "first!");
    EXPECT_EQ(scratch_.read("7.dat"), "leftfirst!");
}

TEST_F(DeltaLog, ATornTailIsCutAndWrittenOver) {
    {
        DeltaWriter writer(scratch_.fd(), 7);
        ASSERT_OK(writer.name(absent("a"), 1));
        ASSERT_OK(writer.name(absent("long-long-long-long-long"), 1));
    }
    const std::string text = scratch_.read("7.log");
    scratch_.write("7.log", std::string_view(text).substr(0, text.size() - 3));
    EXPECT_EQ(read().names.size(), 1U);
    {
        DeltaWriter writer(scratch_.fd(), 7);
        EXPECT_FALSE(writer.empty());
        ASSERT_OK(writer.name(absent("b"), 1));
    }
    const Delta delta = read();
    EXPECT_EQ(delta.names.size(), 2U);
    EXPECT_TRUE(delta.names.contains({kRoot, "b"}));
}

TEST_F(DeltaLog, AHeaderCutShortIsAnEmptyDelta) {
    const std::string header = encode_delta_header(7);
    for (std::size_t size = 0; size <= header.size(); ++size) {
        scratch_.write("7.log", std::string_view(header).substr(0, size));
        EXPECT_TRUE(read().empty()) << size;
        DeltaWriter writer(scratch_.fd(), 7);
        EXPECT_TRUE(writer.empty()) << size;
        ASSERT_OK(writer.name(absent("a"), 1));
        EXPECT_EQ(read().names.size(), 1U) << size;
    }
}

TEST_F(DeltaLog, DamageInTheMiddleIsToldWithItsPosition) {
    {
        DeltaWriter writer(scratch_.fd(), 7);
        for (const char* name : {"a", "b", "c"})
            ASSERT_OK(writer.name(absent(name), 1));
    }
    const std::string text = scratch_.read("7.log");
    const std::size_t record = (text.size() - kDeltaHeader) / 3;
    for (std::size_t at = kDeltaHeader; at < kDeltaHeader + 2 * record; ++at) {
        std::string damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        scratch_.write("7.log", damaged);
        const auto delta = read_delta(scratch_.fd(), 7);
        ASSERT_FALSE(delta.ok()) << at;
        EXPECT_EQ(delta.error().kind(), ErrorKind::kCorrupt);
        const std::size_t begin = kDeltaHeader + (at - kDeltaHeader) / record * record;
        EXPECT_NE(delta.error().text().find("at byte " + std::to_string(begin)), std::string::npos)
            << delta.error().text();
        DeltaWriter writer(scratch_.fd(), 7);
        EXPECT_KIND(ErrorKind::kCorrupt, writer.name(absent("d"), 1));
        EXPECT_FALSE(writer.empty());
    }
    EXPECT_TRUE(scratch_.read("7.log").size() == text.size()) << "damaged files are left alone";
}

TEST_F(DeltaLog, TheHeaderIsThisDeltasOwn) {
    scratch_.write("7.log", encode_delta_header(8));
    EXPECT_KIND(ErrorKind::kCorrupt, read_delta(scratch_.fd(), 7));
    scratch_.write("7.log", std::string(100, 'x'));
    EXPECT_KIND(ErrorKind::kCorrupt, read_delta(scratch_.fd(), 7));
    scratch_.write("7.log", "x");
    EXPECT_KIND(ErrorKind::kCorrupt, read_delta(scratch_.fd(), 7));
}

TEST_F(DeltaLog, ContentWithoutASizeIsDamage) {
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.content(kFile, source("x").get(), 0, 1));
    EXPECT_KIND(ErrorKind::kCorrupt, read_delta(scratch_.fd(), 7));
}

TEST_F(DeltaLog, TouchesOfUnknownNamesMakeNoImage) {
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.touch_name({kRoot, "never"}, 1));
    ASSERT_OK(writer.touch_object(kFile, 2));
    const Delta delta = read();
    EXPECT_TRUE(delta.names.empty());
    EXPECT_EQ(delta.objects.at(kFile).origins, std::set<OriginNumber>{2});
    EXPECT_TRUE(delta.mentioned().empty());
}

TEST_F(DeltaLog, FilesAreListedAndRemoved) {
    DeltaWriter two(scratch_.fd(), 2);
    ASSERT_OK(two.size(kFile, 1, 1));
    ASSERT_OK(two.content(kFile, source("x").get(), 0, 1));
    DeltaWriter eleven(scratch_.fd(), 11);
    ASSERT_OK(eleven.touch_object(kFile, 1));
    for (const char* other : {"x.log", "07.log", "3.txt", "-1.log", ".log", "5.log.bak"}) {
        scratch_.write(other, "");
    }
    ASSERT_ASSIGN(const auto numbers, list_deltas(scratch_.fd()));
    EXPECT_EQ(numbers, (std::vector<DeltaNumber>{2, 11}));
    ASSERT_OK(remove_delta(scratch_.fd(), 2));
    ASSERT_OK(remove_delta(scratch_.fd(), 2));
    ASSERT_ASSIGN(const auto left, list_deltas(scratch_.fd()));
    EXPECT_EQ(left, std::vector<DeltaNumber>{11});
}

TEST_F(DeltaLog, WhoFollowsReadsWhatIsAppendedEachTimeS64) {
    Delta delta;
    DeltaFollower follower(scratch_.fd(), 7, delta);
    ASSERT_ASSIGN(const auto nothing, follower.read_on());
    EXPECT_TRUE(nothing.names.empty() && nothing.content.empty() && delta.empty());
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.name(absent("a"), 1));
    ASSERT_OK(writer.size(kFile, 6, 1));
    ASSERT_ASSIGN(const auto first, follower.read_on());
    ASSERT_EQ(first.names.size(), 1U);
    EXPECT_EQ(first.names[0]->image.at.name, "a");
    EXPECT_TRUE(first.content.empty());
    ASSERT_OK(writer.name(present("a", kFile), 2));  // not the first image of it
    ASSERT_OK(writer.name(present("b", kFile), 2));
    ASSERT_OK(writer.content(kFile, source("abcdef").get(), 0, 6));
    ASSERT_ASSIGN(const auto second, follower.read_on());
    ASSERT_EQ(second.names.size(), 1U);
    EXPECT_EQ(second.names[0], &delta.names.at({kRoot, "b"}));
    EXPECT_EQ(second.content, std::vector<ObjectKey>{kFile});
    EXPECT_FALSE(delta.names.at({kRoot, "a"}).image.object);
    EXPECT_EQ(content(delta, kFile, 6), "abcdef");
    // What is cut short is read when it is whole.
    const std::string whole = scratch_.read("7.log");
    ASSERT_OK(writer.name(absent("c"), 1));
    const std::string more = scratch_.read("7.log");
    scratch_.write("7.log", more.substr(0, whole.size() + 11));
    ASSERT_ASSIGN(const auto torn, follower.read_on());
    EXPECT_TRUE(torn.names.empty());
    scratch_.write("7.log", more);
    ASSERT_ASSIGN(const auto last, follower.read_on());
    ASSERT_EQ(last.names.size(), 1U);
    EXPECT_EQ(last.names[0]->image.at.name, "c");
    EXPECT_EQ(delta.names.size(), read().names.size());
}

TEST_F(DeltaLog, ManyThreadsMayAppend) {
    std::string text(4 * 50 * 4096, '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i / 4096 + 1);
    const UniqueFd file = source(text);
    DeltaWriter writer(scratch_.fd(), 7);
    ASSERT_OK(writer.size(kFile, text.size(), 1));
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (std::uint64_t i = 0; i < 50; ++i) {
                const std::uint64_t at = (i * 4 + thread) * 4096;
                EXPECT_TRUE(writer.content(kFile, file.get(), at, 4096).ok());
                EXPECT_TRUE(writer.name(absent(std::to_string(at)), thread).ok());
                if (i % 10 == 0) {
                    EXPECT_TRUE(writer.sync().ok());
                }
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    const Delta delta = read();
    EXPECT_EQ(delta.names.size(), 200U);
    EXPECT_TRUE(content(delta, kFile, text.size()) == text);
}

}  // namespace
}  // namespace unwrite::journal
