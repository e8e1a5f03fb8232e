// Delta debugging: makes a list of operations that fails shorter, by trying it without some of
// them.
#pragma once

#include <chrono>
#include <functional>

#include "tests/model/operation.h"

namespace unwrite::tests {

/// `fails` runs a list from the beginning. Returns a list that fails still, found within about
/// `limit`.
Operations minimise(Operations operations, const std::function<bool(const Operations&)>& fails,
                    std::chrono::seconds limit);

}  // namespace unwrite::tests
