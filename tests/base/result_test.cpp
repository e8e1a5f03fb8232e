#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace unwrite {
namespace {

Result<int> half(int value) {
    if (value % 2 != 0) return Error(ErrorKind::kUsage, EINVAL, "halve it: it is odd");
    return value / 2;
}

Result<int> quarter(int value) {
    TRY_ASSIGN(const int once, half(value));
    TRY_ASSIGN(const int twice, half(once));
    return twice;
}

Result<> check(int value) {
    TRY(quarter(value));
    return {};
}

TEST(Result, CarriesAValueOrAnError) {
    EXPECT_EQ(*quarter(8), 2);
    EXPECT_FALSE(quarter(6));
    EXPECT_EQ(quarter(6).error().kind(), ErrorKind::kUsage);
    EXPECT_TRUE(check(4).ok());
    EXPECT_EQ(check(2).error().message(), "halve it: it is odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
    Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
    const std::unique_ptr<int> taken = *std::move(made);
    EXPECT_EQ(*taken, 7);
}

TEST(Error, SpeaksTheWordsOfTheSystemWhenItHasNone) {
    EXPECT_EQ(Error(ENOENT).message(), "No such file or directory");
    const Error error = Error(ENOENT).with_context("open x").with_advice("make it");
    EXPECT_EQ(error.message(), "open x: No such file or directory");
    EXPECT_EQ(error.advice(), "make it");
    EXPECT_EQ(error.number(), ENOENT);
}

}  // namespace
}  // namespace unwrite
