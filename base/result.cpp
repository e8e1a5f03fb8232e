#include "base/result.h"

#include <cstring>

namespace unwrite {

std::string Error::message() const {
    if (!text_.empty()) return text_;
    char buffer[128];
    return strerror_r(number_, buffer, sizeof buffer);
}

Error Error::with_context(std::string_view context) const {
    return Error(kind_, number_, std::string(context) + ": " + message(), advice_);
}

Error Error::with_advice(std::string advice) const {
    return Error(kind_, number_, message(), std::move(advice));
}

}  // namespace unwrite
