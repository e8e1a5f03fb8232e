#include "control/fields.h"

#include <cerrno>
#include <limits>
#include <utility>

namespace unwrite::control {

Fields::Fields(const Json& json) : json_(json) {
    if (!json.is_object()) fail("object");
}

void Fields::fail(const char* key) {
    if (outcome_) {
        outcome_ = Error(ErrorKind::kUsage, EINVAL,
                         std::string("cannot read the message: bad member \"") + key + "\"");
    }
}

const Json* Fields::find(const char* key) {
    if (!outcome_) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
}

Result<> Fields::done() {
    return std::move(outcome_);
}

Fields& Fields::get(const char* key, std::string& value) {
    if (const Json* found = find(key)) {
        Result<std::string> text = decode_bytes(*found);
        if (text) {
            value = *std::move(text);
        } else {
            fail(key);
        }
    }
    return *this;
}

Fields& Fields::get(const char* key, bool& value) {
    if (const Json* found = find(key)) {
        if (found->is_boolean()) {
            value = found->get<bool>();
        } else {
            fail(key);
        }
    }
    return *this;
}

Fields& Fields::get(const char* key, std::uint64_t& value) {
    if (const Json* found = find(key)) {
        if (found->is_number_unsigned()) {
            value = found->get<std::uint64_t>();
        } else {
            fail(key);
        }
    }
    return *this;
}

Fields& Fields::get(const char* key, std::int64_t& value) {
    if (const Json* found = find(key)) {
        const bool fits =
            found->is_number_integer() &&
            (!found->is_number_unsigned() || found->get<std::uint64_t>() <= std::uint64_t{1} << 62);
        if (fits) {
            value = found->get<std::int64_t>();
        } else {
            fail(key);
        }
    }
    return *this;
}

Fields& Fields::get(const char* key, std::uint32_t& value) {
    std::uint64_t wide = value;
    get(key, wide);
    if (wide > std::numeric_limits<std::uint32_t>::max()) fail(key);
    if (outcome_) value = static_cast<std::uint32_t>(wide);
    return *this;
}

Fields& Fields::get(const char* key, std::vector<std::string>& values) {
    const Json* found = find(key);
    if (found == nullptr) return *this;
    if (!found->is_array()) fail(key);
    values.clear();
    for (const Json& one : *found) {
        Result<std::string> text = decode_bytes(one);
        if (!text) {
            fail(key);
            break;
        }
        values.push_back(*std::move(text));
    }
    return *this;
}

Fields& Fields::get(const char* key, std::vector<std::uint64_t>& values) {
    const Json* found = find(key);
    if (found == nullptr) return *this;
    if (!found->is_array()) fail(key);
    values.clear();
    for (const Json& one : *found) {
        if (!one.is_number_unsigned()) {
            fail(key);
            break;
        }
        values.push_back(one.get<std::uint64_t>());
    }
    return *this;
}

}  // namespace unwrite::control
