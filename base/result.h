// Result<T>: a value or an Error. Every failure of this project travels as one; none is dropped
// ([[nodiscard]]). Errors are cheap to make (a kernel error carries no text until someone adds it).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace unwrite {

/// What kind of failure it was; callers decide on this, never on the text.
enum class ErrorKind {
    kSystem,       ///< a system call failed; `number` is its errno
    kUsage,        ///< the caller asked for something that makes no sense
    kNothing,      ///< nothing to do
    kRefused,      ///< policy or trust forbids it
    kConflict,     ///< the workspace changed since; nothing was done
    kNoWorkspace,  ///< no workspace here, or it is not mounted
    kRecovery,     ///< the session is wounded, or an earlier run was interrupted
    kCorrupt,      ///< a file of the state directory is damaged
    kNotFound,     ///< a node, name or path that does not exist
};

/// One failure. `number` is an errno (always set, so that every error can be answered to the
/// kernel); `text` is "<verb> <subject>: <reason>", `advice` says what to do. Both may be empty.
class [[nodiscard]] Error {
 public:
    Error() = default;
    explicit Error(int number) : number_(number) {}
    Error(ErrorKind kind, int number, std::string text, std::string advice = {})
        : kind_(kind), number_(number), text_(std::move(text)), advice_(std::move(advice)) {}

    ErrorKind kind() const { return kind_; }
    int number() const { return number_; }
    const std::string& text() const { return text_; }
    const std::string& advice() const { return advice_; }

    /// The text, or the errno's own words where there is none.
    std::string message() const;
    /// The same error with "<context>: " put before its message.
    Error with_context(std::string_view context) const;
    Error with_advice(std::string advice) const;

 private:
    ErrorKind kind_ = ErrorKind::kSystem;
    int number_ = 0;
    std::string text_;
    std::string advice_;
};

template <class T = void>
class [[nodiscard]] Result {
 public:
    using value_type = T;
    Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit by design
    Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

    explicit operator bool() const { return value_.has_value(); }
    bool ok() const { return value_.has_value(); }
    T& operator*() & { return *value_; }
    const T& operator*() const& { return *value_; }
    T&& operator*() && { return *std::move(value_); }
    T* operator->() { return &*value_; }
    const T* operator->() const { return &*value_; }
    const Error& error() const& { return error_; }
    Error&& error() && { return std::move(error_); }
    T value_or(T other) && { return value_ ? *std::move(value_) : std::move(other); }

 private:
    std::optional<T> value_;
    Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
    using value_type = void;
    Result() = default;
    Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT: implicit by design

    explicit operator bool() const { return !failed_; }
    bool ok() const { return !failed_; }
    const Error& error() const& { return error_; }
    Error&& error() && { return std::move(error_); }

 private:
    Error error_;
    bool failed_ = false;
};

/// For a failure that changes nothing for the caller; the reason stands at the call.
template <class T>
void ignore(const Result<T>& /*result*/, std::string_view /*reason*/) {}

}  // namespace unwrite

#define UNWRITE_JOIN_(a, b) a##b
#define UNWRITE_JOIN(a, b) UNWRITE_JOIN_(a, b)

/// Returns the error of a Result<> from the surrounding function.
#define TRY(...)                                            \
    do {                                                    \
        if (auto try_result = (__VA_ARGS__); !try_result) { \
            return std::move(try_result).error();           \
        }                                                   \
    } while (false)

/// `TRY_ASSIGN(auto x, call());`: the value of a Result<T>, or returns its error.
#define TRY_ASSIGN(target, ...)                                        \
    auto UNWRITE_JOIN(try_result_, __LINE__) = (__VA_ARGS__);          \
    if (!UNWRITE_JOIN(try_result_, __LINE__)) {                        \
        return std::move(UNWRITE_JOIN(try_result_, __LINE__)).error(); \
    }                                                                  \
    target = *std::move(UNWRITE_JOIN(try_result_, __LINE__))
