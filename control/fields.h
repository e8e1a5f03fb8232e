// Fields: reads the members of a JSON object of which nothing is known yet.
#pragma once

#include <vector>

#include "control/protocol.h"

namespace unwrite::control {

/// The members of a request's arguments or an answer. The first failure is kept; reads after it do
/// nothing.
class Fields {
 public:
    explicit Fields(const Json& json);
    /// Absent members leave `value` as it was.
    Fields& get(const char* key, std::string& value);
    Fields& get(const char* key, bool& value);
    Fields& get(const char* key, std::uint64_t& value);
    Fields& get(const char* key, std::int64_t& value);
    Fields& get(const char* key, std::uint32_t& value);
    Fields& get(const char* key, std::vector<std::string>& values);
    Fields& get(const char* key, std::vector<std::uint64_t>& values);
    /// These two decode by the functions of wire.h, where they are defined.
    template <class T>
    Fields& get_object(const char* key, T& value);
    template <class T>
    Fields& get_list(const char* key, std::vector<T>& values);
    const Json* find(const char* key);
    void fail(const char* key);
    Result<> done();

 private:
    const Json& json_;
    Result<> outcome_;
};

}  // namespace unwrite::control
