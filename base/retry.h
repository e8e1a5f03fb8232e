// What the files that implement syscalls.h share: a call is repeated while a signal interrupts it,
// and -1 becomes an Error.
#pragma once

#include <cerrno>
#include <utility>

#include "base/result.h"

namespace unwrite::sys {

template <class Call>
auto retry(Call&& call) {
    for (;;) {
        const auto value = call();
        if (value >= 0 || errno != EINTR) return value;
    }
}

/// For calls that answer 0 or -1.
template <class Call>
Result<> retry_done(Call&& call) {
    if (retry(std::forward<Call>(call)) < 0) return Error(errno);
    return {};
}

}  // namespace unwrite::sys
