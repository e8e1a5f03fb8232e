// Whatever bytes stand in a file of the state directory, reading it ends with a value or an error.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "base/crc32c.h"
#include "base/log.h"
#include "journal/attic.h"
#include "journal/codec.h"
#include "journal/delta_format.h"
#include "journal/frames.h"
#include "journal/places.h"
#include "journal/store.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::bytes_of;
using tests::Scratch;

constexpr unsigned kSeed = 20240607;

std::string sample_log() {
    const ObjectKey file{17, 4};
    std::string log = encode_delta_header(7);
    const auto add = [&](DeltaRecord type, const std::string& payload) {
        log += make_frame(static_cast<std::uint8_t>(type), payload);
    };
    add(DeltaRecord::kName, encode_name({{{2, 1}, "name"}, file, S_IFREG}, 1));
    add(DeltaRecord::kAttributes,
        encode_attributes(file, {.mode = 0644, .xattrs = {{"user.a", "value"}}}, 1));
    add(DeltaRecord::kSize, encode_size(file, 70'000, 1));
    add(DeltaRecord::kContent, encode_content(file, {0, 65'536, 0}));
    add(DeltaRecord::kContent, encode_content(file, {65'536, 4'464, ContentImage::kHole}));
    add(DeltaRecord::kTouchName, encode_touch_name({{2, 1}, "name"}, 2));
    add(DeltaRecord::kTouchObject, encode_touch_object(file, 2));
    return log;
}

TEST(Damage, EveryTruncationOfADeltaIsAPrefixOfIt) {
    const std::string log = sample_log();
    ASSERT_ASSIGN(const ParsedDelta whole, parse_delta(bytes_of(log), 7));
    EXPECT_EQ(whole.records, 7U);
    std::uint64_t before = 0;
    for (std::size_t size = 0; size <= log.size(); ++size) {
        const auto parsed = parse_delta(bytes_of(std::string_view(log).substr(0, size)), 7);
        ASSERT_TRUE(parsed.ok()) << size << ": " << parsed.error().message();
        EXPECT_LE(parsed->end, size);
        EXPECT_GE(parsed->records, before);
        before = parsed->records;
    }
    EXPECT_EQ(before, 7U);
}

TEST(Damage, EveryFlippedBitOfADeltaIsNoticed) {
    const std::string log = sample_log();
    for (std::size_t bit = 0; bit < log.size() * 8; ++bit) {
        std::string damaged = log;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        const auto parsed = parse_delta(bytes_of(damaged), 7);
        // In the last record it looks like a torn tail; anywhere else it is told.
        if (parsed) {
            EXPECT_LT(parsed->records, 7U) << bit;
        }
    }
}

TEST(Damage, RandomBytesAreNoDelta) {
    std::mt19937 random(kSeed);
    RecordProperty("seed", kSeed);
    for (int round = 0; round < 3000; ++round) {
        std::string log = round % 2 == 0 ? encode_delta_header(7) : std::string();
        const std::size_t size = random() % 400;
        while (log.size() < size)
            log += static_cast<char>(random() % (round % 3 == 0 ? 4 : 256));
        const auto parsed = parse_delta(bytes_of(log), 7);
        if (parsed) {
            EXPECT_EQ(parsed->records, 0U) << "seed " << kSeed << " round " << round;
        }
    }
}

TEST(Damage, RecordsWithRightChecksumsAndWrongContentAreRefused) {
    std::mt19937 random(kSeed);
    RecordProperty("seed", kSeed);
    for (int round = 0; round < 5000; ++round) {
        std::string payload;
        const std::size_t size = random() % 120;
        while (payload.size() < size)
            payload += static_cast<char>(random() % 5);
        const auto type = static_cast<std::uint8_t>(random() % 9);
        const std::string log = encode_delta_header(7) + make_frame(type, payload);
        const auto parsed = parse_delta(bytes_of(log), 7);
        if (!parsed) continue;
        for (const auto& [at, state] : parsed->delta.names)
            EXPECT_TRUE(is_component(at.name));
        for (const auto& [key, image] : parsed->delta.objects) {
            EXPECT_TRUE(image.content.empty() || image.size);
        }
    }
}

TEST(Damage, NamesThatLeadElsewhereAreRefused) {
    for (const std::string& name : {std::string(".."), std::string("."), std::string("a/b"),
                                    std::string(), std::string("a\0b", 3)}) {
        const std::string log = encode_delta_header(7) +
                                make_frame(1, encode_name({{{2, 1}, name}, std::nullopt, 0}, 1));
        EXPECT_KIND(ErrorKind::kCorrupt, parse_delta(bytes_of(log), 7));
    }
}

TEST(Damage, RangesThatOverflowAreRefused) {
    const std::uint64_t huge = ~std::uint64_t{0} - 1;
    for (const ContentImage& image :
         {ContentImage{huge, 4, 0}, ContentImage{0, huge, 0}, ContentImage{0, 4, huge},
          ContentImage{0, 0, 0}, ContentImage{1ULL << 62, 1ULL << 62, ContentImage::kHole}}) {
        const std::string log = encode_delta_header(7) + make_frame(3, encode_size({1, 1}, 5, 1)) +
                                make_frame(4, encode_content({1, 1}, image));
        EXPECT_KIND(ErrorKind::kCorrupt, parse_delta(bytes_of(log), 7));
    }
}

TEST(Damage, ADeltaOfANewerVersionIsLeftToTheNewerProgram) {
    // As the header is written, with another version and its own checksum.
    const std::string current = encode_delta_header(7);
    Encoder newer;
    newer.put_bytes(current.substr(0, 8));
    newer.put(std::uint32_t{2});
    newer.put_bytes(current.substr(12, 12));
    const std::string front = newer.text();
    newer.put(crc32c(bytes_of(front)));
    const auto parsed = parse_delta(bytes_of(newer.text()), 7);
    EXPECT_KIND(ErrorKind::kRecovery, parsed);
    EXPECT_NE(parsed.error().text().find("version 2"), std::string::npos);
    EXPECT_NE(parsed.error().text().find("version 1"), std::string::npos);
}

TEST(Damage, AFrameIsFoundAgainBehindGarbage) {
    const std::string garbage(37, '\x05');
    const std::string text = make_frame(1, "one") + garbage + make_frame(2, "two");
    FrameReader reader(bytes_of(text), 0);
    ASSERT_EQ(reader.next(), FrameReader::Status::kFrame);
    ASSERT_EQ(reader.next(), FrameReader::Status::kDamaged);
    reader.skip_damage();
    ASSERT_EQ(reader.next(), FrameReader::Status::kFrame);
    EXPECT_EQ(reader.frame().type, 2);
    EXPECT_EQ(reader.next(), FrameReader::Status::kEnd);
}

TEST(Damage, PlacesSurviveAnything) {
    const Scratch scratch;
    std::mt19937 random(kSeed);
    RecordProperty("seed", kSeed);
    log::set_level(log::Level::kError);  // it warns, as it should, three hundred times
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        for (std::uint64_t i = 1; i <= 20; ++i)
            ASSERT_OK(places->set({i, 1}, {{2, 2}, "dir"}));
    }
    const std::string good = scratch.read("places.log");
    for (int round = 0; round < 300; ++round) {
        std::string text = good;
        const std::size_t from = round % 2 == 0 ? 16 : 0;  // spare the header in every second round
        const std::size_t at = from + random() % (text.size() - from);
        text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        if (round % 3 == 0) text.resize(random() % text.size());
        scratch.write("places.log", text);
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        ASSERT_OK(places->set({99, 1}, {{2, 2}, "after"}));
        ASSERT_ASSIGN(const auto again, Places::open(scratch.fd()));
        EXPECT_EQ(again->find({99, 1})->newest.name, "after") << "round " << round;
        if (round % 3 != 0) {
            int found = 0;
            for (std::uint64_t i = 1; i <= 20; ++i)
                found += again->contains({i, 1}) ? 1 : 0;
            EXPECT_GE(found, 19) << "one flipped bit costs one place at most, round " << round;
        }
    }
}

TEST(Damage, AtticNamesHaveOneSpelling) {
    const ObjectKey key{0x1a2b, 0xdeadbeef};
    EXPECT_EQ(Attic::file_name(key), "1a2b-deadbeef");
    EXPECT_EQ(Attic::parse_name("1a2b-deadbeef"), key);
    for (const char* name : {"", "-", "1a2b", "1a2b-", "-1", "01a2b-deadbeef", "1A2B-deadbeef",
                             "1a2b-deadbeef-1", "x-1", "1a2b-deadbeefg", "11111111111111111-1"}) {
        EXPECT_FALSE(Attic::parse_name(name)) << name;
    }
}

TEST(Damage, AStoreOfRandomBytesIsRefused) {
    std::mt19937 random(kSeed);
    RecordProperty("seed", kSeed);
    const Scratch scratch;
    std::string text;
    while (text.size() < 8192)
        text += static_cast<char>(random());
    scratch.write("journal.db", text);
    EXPECT_KIND(ErrorKind::kCorrupt, Store::open(scratch.fd(), false));
}

TEST(Damage, AStoreWithFlippedBitsFailsOrAnswers) {
    std::mt19937 random(kSeed);
    RecordProperty("seed", kSeed);
    const Scratch scratch;
    {
        ASSERT_ASSIGN(const auto store, Store::open(scratch.fd(), false));
        Store::Change change;
        for (int i = 0; i < 50; ++i)
            change.add_nodes.push_back({.parent = 1, .name = "some name"});
        ASSERT_OK(store->apply(change));
    }
    const std::string good = scratch.read("journal.db");
    for (int round = 0; round < 150; ++round) {
        std::string text = good;
        for (int flips = 0; flips < 4; ++flips) {
            const std::size_t at = random() % text.size();
            text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        }
        if (round % 5 == 0) text.resize(random() % text.size());
        for (const char* name : {"journal.db-wal", "journal.db-shm"}) {
            ignore(sys::unlink(scratch.fd(), name), "there may be none");
        }
        scratch.write("journal.db", text);
        auto store = Store::open(scratch.fd(), false);
        if (!store) continue;
        ignore((*store)->head(), "any answer does");
        ignore((*store)->nodes(), "any answer does");
        ignore((*store)->integrity_problems(), "any answer does");
        ignore((*store)->apply({.take_delta_number = true}), "any answer does");
    }
}

}  // namespace
}  // namespace unwrite::journal
