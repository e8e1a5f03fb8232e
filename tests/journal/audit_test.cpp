#include "journal/audit.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

AuditEntry entry(const std::string& path) {
    AuditEntry made;
    made.time_ns = 1'700'000'000'000'000'001;
    made.event = "refused";
    made.pid = 42;
    made.uid = 7;
    made.agent = true;
    made.operation = "write";
    made.path = path;
    made.executable = "/bin/a b";
    made.detail = "*.key (profile default): it may hold a secret";
    return made;
}

void write_entries(const Scratch& scratch, int count, std::uint64_t most = AuditLog::kMostBytes) {
    ASSERT_ASSIGN(const auto log, AuditLog::open(scratch.fd(), false, most));
    for (int i = 0; i < count; ++i)
        ASSERT_OK(log->append(entry("f" + std::to_string(i))));
}

TEST(Audit, WhatIsAppendedIsReadBack) {
    const Scratch scratch;
    const std::string odd("a%20\n\xff\0 b", 9);
    {
        ASSERT_ASSIGN(const auto log, AuditLog::open(scratch.fd(), false));
        ASSERT_OK(log->append(entry(odd)));
        ASSERT_OK(log->append(AuditEntry()));
    }
    ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
    EXPECT_EQ(trail.problems, std::vector<std::string>());
    ASSERT_EQ(trail.entries.size(), 2U);
    EXPECT_EQ(trail.entries[0], entry(odd));
    EXPECT_EQ(trail.entries[1], AuditEntry());
    const std::string text = scratch.read(AuditLog::kName);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "a name made a line of its own";
}

TEST(Audit, AnAbsentLogIsEmpty) {
    const Scratch scratch;
    ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
    EXPECT_TRUE(trail.entries.empty());
    EXPECT_TRUE(trail.problems.empty());
}

// Each byte of a log of three lines, changed; each line, taken out.
TEST(Audit, AChangedLineIsFound) {
    const Scratch scratch;
    write_entries(scratch, 3);
    const std::string good = scratch.read(AuditLog::kName);
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = bad[at] == '0' ? '1' : '0';
        if (at + 1 == good.size()) continue;  // without its newline it is a torn line
        scratch.write(AuditLog::kName, bad);
        ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
        EXPECT_FALSE(trail.problems.empty()) << "byte " << at;
    }
    const std::size_t first = good.find('\n') + 1;
    const std::size_t second = good.find('\n', first) + 1;
    for (const std::string& bad :
         {good.substr(first), good.substr(0, first) + good.substr(second)}) {
        scratch.write(AuditLog::kName, bad);
        ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
        EXPECT_FALSE(trail.problems.empty());
    }
}

// Cut after each byte, as a kill in the middle of a write leaves it.
TEST(Audit, ATornLastLineIsMended) {
    const Scratch scratch;
    write_entries(scratch, 2);
    const std::string whole = scratch.read(AuditLog::kName);
    const std::size_t first = whole.find('\n') + 1;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        scratch.write(AuditLog::kName, whole.substr(0, size));
        write_entries(scratch, 1);
        ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
        EXPECT_EQ(trail.problems, std::vector<std::string>()) << size;
        EXPECT_EQ(trail.entries.size(), size < first ? 1U : 2U) << size;
    }
}

TEST(Audit, ItIsBoundedAndTheChainGoesOnFromPartToPart) {
    const Scratch scratch;
    write_entries(scratch, 100, 1000);
    EXPECT_LT(scratch.read(AuditLog::kName).size(), 1500U);
    EXPECT_LT(scratch.read(AuditLog::kOldName).size(), 1500U);
    ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
    EXPECT_EQ(trail.problems, std::vector<std::string>());
    ASSERT_FALSE(trail.entries.empty());
    EXPECT_EQ(trail.entries.back().path, "f99");
    // Between the two, too.
    std::string old = scratch.read(AuditLog::kOldName);
    old.resize(old.rfind('\n', old.size() - 2) + 1);
    scratch.write(AuditLog::kOldName, old);
    ASSERT_ASSIGN(const AuditTrail cut, read_audit(scratch.fd()));
    EXPECT_EQ(cut.problems.size(), 1U);
}

TEST(Audit, AKillBetweenTwoPartsLosesNothing) {
    const Scratch scratch;
    write_entries(scratch, 3);
    scratch.write(AuditLog::kOldName, scratch.read(AuditLog::kName));
    scratch.write(AuditLog::kName, "");
    write_entries(scratch, 1);
    ASSERT_ASSIGN(const AuditTrail trail, read_audit(scratch.fd()));
    EXPECT_EQ(trail.problems, std::vector<std::string>());
    EXPECT_EQ(trail.entries.size(), 4U);
}

TEST(Audit, NobodyElseReadsItS167) {
    const Scratch scratch;
    write_entries(scratch, 1);
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(scratch.fd(), AuditLog::kName));
    EXPECT_EQ(st.st_mode & 0777U, 0600U);
}

}  // namespace
}  // namespace unwrite::journal
