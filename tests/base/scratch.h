// A scratch directory below the system's temporary directory, removed afterwards.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/syscalls.h"

namespace unwrite::tests {

class Scratch {
 public:
    Scratch() {
        std::string pattern = (std::filesystem::temp_directory_path() / "unwrite-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
        path_ = pattern;
        auto fd = sys::open_at(AT_FDCWD, pattern, O_RDONLY | O_DIRECTORY);
        if (!fd) throw std::runtime_error("open " + pattern);
        fd_ = *std::move(fd);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }
    int fd() const { return fd_.get(); }

    void write(const std::string& name, std::string_view text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
    }
    std::string read(const std::string& name) const {
        // An iterator over the bytes takes more time than all the rest of some tests.
        std::ifstream in(path_ / name, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return std::move(text).str();
    }
    UniqueFd open(const std::string& name, int flags) const {
        auto fd = sys::open_at(this->fd(), name, flags, 0600);
        EXPECT_TRUE(fd.ok()) << name << ": " << fd.error().message();
        return fd ? *std::move(fd) : UniqueFd();
    }

 private:
    std::filesystem::path path_;
    UniqueFd fd_;
};

inline sys::ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The message of a failure; "" when there is none.
template <class T>
std::string failure_of(const Result<T>& result) {
    return result ? std::string() : result.error().message();
}

/// The errno of a failure; 0 when there is none.
template <class T>
int number_of(const Result<T>& result) {
    return result ? 0 : result.error().number();
}

template <class T>
std::optional<ErrorKind> kind_of(const Result<T>& result) {
    return result ? std::nullopt : std::optional(result.error().kind());
}

}  // namespace unwrite::tests

/// The value of a Result<T>, or the end of the test.
#define ASSERT_ASSIGN(target, ...)                                   \
    auto UNWRITE_JOIN(assert_result_, __LINE__) = (__VA_ARGS__);     \
    ASSERT_TRUE(UNWRITE_JOIN(assert_result_, __LINE__).ok())         \
        << UNWRITE_JOIN(assert_result_, __LINE__).error().message(); \
    target = *std::move(UNWRITE_JOIN(assert_result_, __LINE__))

#define ASSERT_OK(...) ASSERT_EQ(::unwrite::tests::failure_of(__VA_ARGS__), "")

#define EXPECT_NUMBER(number, ...) EXPECT_EQ(::unwrite::tests::number_of(__VA_ARGS__), number)
#define EXPECT_KIND(kind, ...) EXPECT_EQ(::unwrite::tests::kind_of(__VA_ARGS__), kind)
