// The arguments of a call, checked here whatever the client checked: types, ranges, and no field
// that the tool does not know.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "mcp/message.h"

namespace unwrite::mcp {

class Arguments {
 public:
    /// A field that is null counts as one that is not there. Errors: kUsage, "Bad args: ..." or
    /// "Tool arguments too large".
    static Result<Arguments> check(const Json& json, std::initializer_list<const char*> known);

    Result<std::string> text(const char* name, const std::string& otherwise = {}) const;
    /// The same for what names a path, a node or a checkpoint: no invisible characters.
    Result<std::string> name(const char* field) const;
    /// The same for what people read: lines and tabs, no other controls.
    Result<std::string> prose(const char* field) const;
    Result<std::string> required_text(const char* name) const;
    Result<bool> flag(const char* name, bool otherwise = false) const;
    Result<std::optional<std::uint64_t>> number(const char* name, std::uint64_t least,
                                                std::uint64_t most) const;
    Result<std::vector<std::string>> texts(const char* name) const;

 private:
    explicit Arguments(const Json& json) : json_(json) {}
    const Json& json_;  ///< outlives this
};

/// For arguments of more than edit::Settings::max_arguments bytes.
Error too_large_arguments();

}  // namespace unwrite::mcp
