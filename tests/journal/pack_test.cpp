// Data files that are compressed when they are cold.
#include "journal/pack.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/crash_point.h"
#include "base/crc32c.h"
#include "base/reflink.h"
#include "journal/codec.h"
#include "journal/delta_data.h"
#include "journal/delta_format.h"
#include "journal/journal.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

constexpr ObjectKey kFile{17, 1};
constexpr ObjectKey kOther{18, 1};

std::string words(std::size_t size, unsigned seed = 1) {
    std::minstd_rand random(seed);
    std::string text;
    while (text.size() < size)
        text += "word " + std::to_string(random() % 500) + (random() % 9 == 0 ? "\n" : ", ");
    text.resize(size);
    return text;
}

std::string noise(std::size_t size) {
    std::mt19937_64 random(7);
    std::string text(size, '\0');
    for (char& byte : text)
        byte = static_cast<char>(random());
    return text;
}

std::string all_of(const OpenData& data, std::size_t size) {
    std::string text(size, '?');
    const auto got = data->read_exactly(std::as_writable_bytes(std::span(text)), 0);
    EXPECT_TRUE(got.ok()) << got.error().message();
    return text;
}

class Packing : public ::testing::Test {
 protected:
    int deltas() const { return scratch_.fd(); }
    bool is_there(const std::string& name) const { return sys::stat_at(deltas(), name).ok(); }
    /// A delta whose only object was `text`.
    void capture(const std::string& text, DeltaNumber number = 7) const {
        scratch_.write("source", text);
        const UniqueFd source = scratch_.open("source", O_RDWR);
        DeltaWriter writer(deltas(), number);
        ASSERT_OK(writer.size(kFile, text.size(), 1));
        ASSERT_OK(writer.content(kFile, source.get(), 0, text.size()));
        // Where blocks are shared, they are the delta's alone from here on.
        ASSERT_OK(sys::truncate(source.get(), 0));
    }
    Packed pack(const PackRequest& request = {}, DeltaNumber number = 7) const {
        const auto packed = pack_delta_data(deltas(), number, request);
        EXPECT_TRUE(packed.ok()) << packed.error().message();
        return packed ? *packed : Packed::kStopped;
    }
    void flip(const std::string& name, std::uint64_t at) const {
        const UniqueFd file = scratch_.open(name, O_RDWR);
        std::byte byte{};
        ASSERT_OK(sys::read_exactly_at(file.get(), sys::Bytes(&byte, 1), at));
        byte ^= std::byte{0x40};
        ASSERT_OK(sys::write_all_at(file.get(), sys::ConstBytes(&byte, 1), at));
    }
    Scratch scratch_;
};

TEST_F(Packing, TheBytesAreTheSameAndTakeLess) {
    const std::string text = words(3'000'000);
    capture(text);
    const std::uint64_t before = delta_bytes(deltas(), 7);
    EXPECT_EQ(pack(), Packed::kDone);
    EXPECT_FALSE(is_there("7.dat"));
    EXPECT_FALSE(is_there("7.dat.zst.new"));
    EXPECT_LT(delta_bytes(deltas(), 7) * 2, before);
    ASSERT_ASSIGN(const std::uint64_t size, delta_data_size(deltas(), 7));
    EXPECT_EQ(size, text.size());
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 7));
    EXPECT_TRUE(all_of(data, text.size()) == text);
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        const std::size_t at = random() % text.size();
        std::string part(random() % (i % 10 == 0 ? 700'000 : 9000) + 1, '?');
        ASSERT_ASSIGN(const std::size_t got,
                      data->read(std::as_writable_bytes(std::span(part)), at));
        EXPECT_EQ(got, std::min(part.size(), text.size() - at));
        EXPECT_TRUE(part.substr(0, got) == text.substr(at, got));
    }
    EXPECT_EQ(pack(), Packed::kNotWorth) << "there is nothing more to do";
}

TEST_F(Packing, HolesComeBackAsHoles) {
    const std::size_t size = 4 << 20;
    const UniqueFd source = scratch_.open("source", O_RDWR | O_CREAT);
    ASSERT_OK(sys::truncate(source.get(), size));
    const std::string text = words(400'000);
    ASSERT_OK(sys::write_all_at(source.get(), tests::bytes_of(text), 1 << 20));
    ASSERT_OK(sys::write_all_at(source.get(), tests::bytes_of(text), 3 << 20));
    // A data file with a hole in it that a record spans, as a copy in the kernel may leave one.
    const UniqueFd raw = scratch_.open("7.dat", O_RDWR | O_CREAT);
    ASSERT_OK(sys::copy_bytes(source.get(), 0, raw.get(), 0, size));
    const std::string log = encode_delta_header(7);
    scratch_.write("7.log", log);
    const auto copy_out = [&](const std::string& name) {
        const UniqueFd out = scratch_.open(name, O_RDWR | O_CREAT);
        EXPECT_TRUE(sys::truncate(out.get(), 2 << 20).ok());
        EXPECT_TRUE(sys::write_all_at(out.get(), tests::bytes_of(noise(100'000)), 5000).ok());
        const auto data = open_delta_data(deltas(), 7);
        EXPECT_TRUE((*data)->copy(8192, out.get(), 4096, size - 8192).ok());
        std::vector<std::uint64_t> runs;
        for (std::uint64_t at = 0; at < size - 4096;) {
            const sys::DataRun run = sys::next_data(out.get(), at, size - 4096);
            runs.push_back(run.begin);
            runs.push_back(run.finish);
            at = run.finish;
        }
        return runs;
    };
    const auto before = copy_out("before");
    const std::string whole = scratch_.read("source");
    EXPECT_EQ(pack({.always = true}), Packed::kDone);
    const auto after = copy_out("after");
    // Where blocks are shared, a copy of the raw file has those of its end.
    if (!sys::can_share_blocks(deltas())) {
        EXPECT_EQ(after, before);
    }
    EXPECT_TRUE(scratch_.read("before") == scratch_.read("after"));
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 7));
    EXPECT_TRUE(all_of(data, size) == whole);
}

TEST_F(Packing, WhatWouldNotShrinkStaysAsItIs) {
    const std::string text = noise(1'000'000);
    capture(text);
    EXPECT_EQ(pack(), Packed::kNotWorth);
    EXPECT_TRUE(is_there("7.dat"));
    EXPECT_FALSE(is_there("7.dat.zst"));
    EXPECT_FALSE(is_there("7.dat.zst.new"));
    capture(words(60'000), 8);
    EXPECT_EQ(pack({}, 8), Packed::kNotWorth) << "so small";
    EXPECT_EQ(pack({.least = 1}, 8), Packed::kDone);
    capture("x", 10);
    EXPECT_EQ(pack({.always = true}, 10), Packed::kDone);
    EXPECT_EQ(pack({}, 9), Packed::kNotWorth) << "there is no such delta";
}

TEST_F(Packing, WhatTakesNoSpaceStaysAsItIs) {
    capture(words(100'000));
    const UniqueFd raw = scratch_.open("7.dat", O_RDWR);
    ASSERT_OK(sys::truncate(raw.get(), 0));
    ASSERT_OK(sys::truncate(raw.get(), 10 << 20));
    EXPECT_EQ(pack(), Packed::kNotWorth);
}

TEST_F(Packing, WhoHasTheRawFileOpenGoesOnWithIt) {
    const std::string text = words(500'000);
    capture(text);
    ASSERT_ASSIGN(const OpenData before, open_delta_data(deltas(), 7));
    EXPECT_FALSE(before->is_outdated());
    EXPECT_EQ(pack(), Packed::kDone);
    EXPECT_TRUE(before->is_outdated());
    EXPECT_TRUE(all_of(before, text.size()) == text);
    ASSERT_ASSIGN(const OpenData after, open_delta_data(deltas(), 7));
    ASSERT_OK(remove_delta(deltas(), 7));
    EXPECT_TRUE(all_of(after, text.size()) == text);
    EXPECT_FALSE(after->is_outdated());
}

TEST_F(Packing, WhoReadsMeanwhileGetsTheBytes) {
    const std::string text = words(300'000);
    for (DeltaNumber number = 1; number <= 12; ++number)
        capture(text, number);
    std::atomic<bool> end = false;
    std::thread reader([&] {
        for (DeltaNumber number = 1; !end; number = number % 12 + 1) {
            const auto data = open_delta_data(deltas(), number);
            EXPECT_TRUE(data.ok() && *data);
            if (data && *data) {
                EXPECT_TRUE(all_of(*data, text.size()) == text);
            }
        }
    });
    for (DeltaNumber number = 1; number <= 12; ++number)
        EXPECT_EQ(pack({}, number), Packed::kDone);
    end = true;
    reader.join();
}

TEST_F(Packing, WhatIsSharedWithAnotherDeltaWaits) {
    const std::string text = words(500'000);
    capture(text);
    ASSERT_OK(derive_delta(deltas(), 7, 8, {}, {}));
    EXPECT_EQ(pack(), Packed::kShared);
    ASSERT_OK(remove_delta(deltas(), 7));
    EXPECT_EQ(pack({}, 8), Packed::kDone);
    ASSERT_OK(derive_delta(deltas(), 8, 9, {}, {}));
    ASSERT_OK(remove_delta(deltas(), 8));
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 9));
    EXPECT_TRUE(all_of(data, text.size()) == text);
    ASSERT_ASSIGN(const Delta delta, read_delta(deltas(), 9));
    EXPECT_EQ(delta.objects.at(kFile).content.size(), 1U);
    ASSERT_OK(remove_delta(deltas(), 9));
    ASSERT_ASSIGN(const auto left, list_deltas(deltas()));
    EXPECT_TRUE(left.empty());
}

TEST_F(Packing, NothingIsWrittenToWhatIsCompressed) {
    capture(words(500'000));
    EXPECT_EQ(pack(), Packed::kDone);
    scratch_.write("source", words(10'000));
    const UniqueFd source = scratch_.open("source", O_RDONLY);
    DeltaWriter writer(deltas(), 7);
    ASSERT_OK(writer.size(kOther, 500'000, 1));
    EXPECT_KIND(ErrorKind::kCorrupt, writer.content(kOther, source.get(), 0, 10'000));
    EXPECT_FALSE(is_there("7.dat"));
}

TEST_F(Packing, StopsWhenItIsTold) {
    capture(words(2'000'000));
    int left = 3;
    EXPECT_EQ(pack({.stop = [&] { return left-- == 0; }}), Packed::kStopped);
    EXPECT_TRUE(is_there("7.dat"));
    EXPECT_FALSE(is_there("7.dat.zst"));
    EXPECT_FALSE(is_there("7.dat.zst.new"));
}

TEST_F(Packing, ADeltaThatIsRemovedMeanwhileLeavesNothing) {
    capture(words(2'000'000));
    int left = 3;
    const auto remove = [&] {
        if (left-- == 0) {
            EXPECT_TRUE(remove_delta(deltas(), 7).ok());
        }
        return false;
    };
    EXPECT_EQ(pack({.stop = remove}), Packed::kStopped);
    EXPECT_EQ(left, -1) << "what nobody needs is not read to its end: it takes room until then";
    ASSERT_ASSIGN(const auto numbers, list_deltas(deltas()));
    EXPECT_TRUE(numbers.empty());
    EXPECT_FALSE(is_there("7.dat.zst.new"));
}

TEST_F(Packing, WhoeverRemovesItAtAnyMomentLeavesNothing) {
    for (int i = 0; i < 150; ++i) {
        capture(words(70'000));
        std::thread remover([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
            EXPECT_TRUE(remove_delta(deltas(), 7).ok());
        });
        const auto packed = pack_delta_data(deltas(), 7, {});
        EXPECT_TRUE(packed.ok()) << packed.error().message();
        remover.join();
        ASSERT_ASSIGN(const auto numbers, list_deltas(deltas()));
        EXPECT_TRUE(numbers.empty()) << i;
    }
}

TEST_F(Packing, ADamagedBlockIsNamedAndTheOthersAreRead) {
    const std::string text = words(1'000'000);
    capture(text);
    EXPECT_EQ(pack(), Packed::kDone);
    ASSERT_ASSIGN(const auto none, captured_problems(deltas(), 7, nullptr));
    EXPECT_TRUE(none.empty());
    ASSERT_ASSIGN(const PackedTable table,
                  read_packed_table(scratch_.open("7.dat.zst", O_RDONLY).get(), "it"));
    ASSERT_EQ(table.blocks.size(), 8U);
    flip("7.dat.zst", table.blocks[1].at + 100);
    ASSERT_ASSIGN(const auto problems, captured_problems(deltas(), 7, nullptr));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0],
              "read deltas/7.dat.zst: the block for bytes 131072 to 262144 is damaged");
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 7));
    std::string part(1000, '?');
    const sys::Bytes out = std::as_writable_bytes(std::span(part));
    ASSERT_OK(data->read_exactly(out, 1000));
    EXPECT_EQ(part, text.substr(1000, 1000));
    EXPECT_KIND(ErrorKind::kCorrupt, data->read_exactly(out, 200'000));
    EXPECT_KIND(ErrorKind::kCorrupt, data->read_exactly(out, 131'000));
    ASSERT_OK(data->read_exactly(out, 600'000));
    EXPECT_EQ(part, text.substr(600'000, 1000));
}

TEST_F(Packing, ADamagedTableIsAnErrorOfWhoReads) {
    capture(words(1'000'000));
    EXPECT_EQ(pack(), Packed::kDone);
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(deltas(), "7.dat.zst"));
    flip("7.dat.zst", static_cast<std::uint64_t>(st.st_size) - 40);
    ASSERT_ASSIGN(const auto problems, captured_problems(deltas(), 7, nullptr));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0], "read deltas/7.dat.zst: the table of its blocks is damaged");
    ASSERT_ASSIGN(const DeltaDataPtr data,
                  DeltaData::find(deltas(), 7, std::make_shared<DeltaDataPool>(nullptr)));
    ASSERT_TRUE(data);
    EXPECT_KIND(ErrorKind::kCorrupt, data->open());
    EXPECT_KIND(ErrorKind::kCorrupt, delta_data_size(deltas(), 7));
}

/// A table that is right by its checksum, before which nothing stands.
std::string lying(std::vector<PackedBlock> blocks, std::uint64_t raw_size) {
    return encode_packed_table({raw_size, std::move(blocks), {}});
}

TEST_F(Packing, ALyingTableIsRefused) {
    const std::vector<std::string> files = {
        "",
        std::string(40, '\0'),
        "a" + lying({}, 100),
        lying({{0, 0, 10, 1, 0}}, 10),
        "a" + lying({{0, 0, 0, 1, 0}}, 10),
        "a" + lying({{0, 0, 0xFFFF'FFFF, 1, 0}}, std::uint64_t{1} << 40),
        "a" + lying({{5, 0, 10, 1, 0}}, 10),
        "a" + lying({{~std::uint64_t{0}, 0, 10, 1, 0}}, 10),
        "aa" + lying({{5, 0, 10, 1, 0}, {14, 1, 1, 1, 0}}, 100),
        "a" + lying({{0, 0, 10, 1, 0}}, ~std::uint64_t{0}),
        "aaa" + lying({{0, 0, 10, 1, 0}}, 10),
        std::string(2000, 'a') + lying({{0, 0, 10, 2000, 0}}, 10),
    };
    for (const std::string& file : files) {
        scratch_.write("7.dat.zst", file);
        EXPECT_KIND(ErrorKind::kCorrupt, delta_data_size(deltas(), 7));
    }
    scratch_.write("7.dat.zst", "a" + lying({{0, 0, 10, 1, 0}}, 10));
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 7));
    std::byte byte{};
    EXPECT_KIND(ErrorKind::kCorrupt, data->read(sys::Bytes(&byte, 1), 0));
}

// What zstd itself says of the block is more than the table: nothing is made of it.
TEST_F(Packing, ABlockThatGrowsIsRefused) {
    capture(std::string(1'000'000, 'a'));
    EXPECT_EQ(pack(), Packed::kDone);
    const std::string whole = scratch_.read("7.dat.zst");
    ASSERT_ASSIGN(const PackedTable table,
                  read_packed_table(scratch_.open("7.dat.zst", O_RDONLY).get(), "it"));
    PackedBlock first = table.blocks[0];
    first.length = 10;
    scratch_.write("7.dat.zst", whole.substr(0, first.stored) + lying({first}, 10));
    ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas(), 7));
    std::byte byte{};
    EXPECT_KIND(ErrorKind::kCorrupt, data->read(sys::Bytes(&byte, 1), 0));
}

TEST_F(Packing, ANewerVersionIsNotTakenForDamage) {
    capture(words(100'000));
    EXPECT_EQ(pack(), Packed::kDone);
    std::string file = scratch_.read("7.dat.zst");
    const std::size_t footer = file.size() - 44;
    file[footer + 28] = 2;
    const std::size_t table = file.size() - 44 - 20;
    Encoder crc;
    crc.put(crc32c(tests::bytes_of(file).subspan(table, 20 + 32)));
    file.replace(footer + 32, 4, crc.text());
    scratch_.write("7.dat.zst", file);
    EXPECT_KIND(ErrorKind::kRecovery, open_delta_data(deltas(), 7));
}

/// Runs the packing in a child that dies at its n-th crash point; true when it came to its end.
bool survives(int passage, int deltas, bool durable) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("UNWRITE_CRASH_AT", ("*:" + std::to_string(passage)).c_str(), 1);
        reset_crash_points();
        const auto packed = pack_delta_data(deltas, 1, {.durable = durable});
        ::_exit(packed && *packed == Packed::kDone ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the work itself failed";
    return !WIFSIGNALED(status);
}

TEST(Crash, S67_AKillWhileItIsCompressedLosesNothing) {
    const std::string text = words(700'000);
    int passage = 1;
    for (bool alive = false; !alive; ++passage) {
        ASSERT_LT(passage, 20);
        const Scratch scratch;
        scratch.write("file", text);
        const UniqueFd source = scratch.open("file", O_RDWR);
        ASSERT_ASSIGN(const sys::StatX x, sys::statx_at(scratch.fd(), "file"));
        const ObjectKey key{x.st.st_ino, x.birth};
        {
            ASSERT_ASSIGN(const auto journal, Journal::open(scratch.fd(), {.create = true}));
            DeltaWriter writer(journal->state_dir().deltas(), 1);
            ASSERT_OK(writer.size(key, text.size(), 1));
            ASSERT_OK(writer.content(key, source.get(), 0, text.size()));
            ASSERT_OK(sys::truncate(source.get(), 0));
            ASSERT_OK(journal->attic().anchor(scratch.fd(), "file", key));
            Store::Change change;
            change.add_nodes = {{.parent = 1, .delta = 1}};
            change.take_delta_number = change.open_delta_is_new = true;
            change.current_is_added_node = true;
            ASSERT_ASSIGN(const DeltaSeal seal, writer.seal());
            change.seals.push_back(seal);
            ASSERT_OK(journal->store().apply(change));
            alive = survives(passage, journal->state_dir().deltas(), passage % 2 == 0);
            // A reader beside it finds the bytes, before anybody tidies up.
            ASSERT_ASSIGN(const OpenData data, open_delta_data(journal->state_dir().deltas(), 1));
            EXPECT_TRUE(all_of(data, text.size()) == text) << "passage " << passage;
        }
        ASSERT_ASSIGN(const auto journal, Journal::open(scratch.fd(), {}));
        const int deltas = journal->state_dir().deltas();
        ASSERT_ASSIGN(const OpenData data, open_delta_data(deltas, 1));
        EXPECT_TRUE(all_of(data, text.size()) == text) << "passage " << passage;
        ASSERT_ASSIGN(const CheckReport report, journal->check());
        EXPECT_EQ(report.problems, std::vector<std::string>()) << "passage " << passage;
        ASSERT_ASSIGN(const auto damaged, journal->check_captured());
        EXPECT_EQ(damaged, std::vector<std::string>()) << "passage " << passage;
        EXPECT_FALSE(sys::stat_at(deltas, "1.dat.zst.new").ok()) << "passage " << passage;
        const bool raw = sys::stat_at(deltas, "1.dat").ok();
        EXPECT_NE(raw, sys::stat_at(deltas, "1.dat.zst").ok()) << "passage " << passage;
        EXPECT_EQ(report.bytes, delta_bytes(deltas, 1));
        ASSERT_ASSIGN(const Packed again, pack_delta_data(deltas, 1, {}));
        EXPECT_EQ(again, raw ? Packed::kDone : Packed::kNotWorth);
        ASSERT_OK(remove_delta(deltas, 1));
        ASSERT_ASSIGN(const auto left, list_deltas(deltas));
        EXPECT_TRUE(left.empty());
    }
    EXPECT_EQ(passage, 8) << "six points, and the one that comes to its end";
}

}  // namespace
}  // namespace unwrite::journal
