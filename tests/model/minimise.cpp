#include "tests/model/minimise.h"

#include <algorithm>

namespace unwrite::tests {

namespace {

Operations without(const Operations& all, std::size_t begin, std::size_t end) {
    Operations rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
    rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
    return rest;
}

}  // namespace

// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002),
// complements only; from the end backwards, for the operation that fails is the last.
Operations minimise(Operations operations, const std::function<bool(const Operations&)>& fails,
                    std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    const auto late = [&] { return std::chrono::steady_clock::now() > until; };
    std::size_t chunk = std::max<std::size_t>(operations.size() / 2, 1);
    for (;;) {
        bool shorter = false;
        for (std::size_t end = operations.size(); end > 0 && !late();) {
            const std::size_t begin = end > chunk ? end - chunk : 0;
            Operations rest = without(operations, begin, end);
            if (fails(rest)) {
                operations = std::move(rest);
                shorter = true;
                end = std::min(begin, operations.size());
            } else {
                end = begin;
            }
        }
        if (late() || (chunk == 1 && !shorter)) return operations;
        if (!shorter || chunk > operations.size()) chunk = std::max<std::size_t>(chunk / 2, 1);
    }
}

}  // namespace unwrite::tests
