// Glob patterns on paths of bytes, in the spirit of gitignore(5). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::overlay {

class Glob {
 public:
    enum class Style {
        /// Relative to the root; `*` and `?` stay within a component; `**` is any number of
        /// components; a pattern without a slash (but at its end) matches at any depth; a slash at
        /// the end matches directories alone. What matches covers all below it, and `X/**` covers
        /// X itself.
        kRelative,
        /// `*` and `?` cross slashes, `X/**` is strictly below X, and only whole paths match: how
        /// the original deny list was written.
        kCrossing,
    };
    /// ASCII letters match in either case. kUsage for what is no pattern (empty, an unclosed
    /// bracket, a component `.` or `..`, a NUL), with the reason alone as its text.
    static Result<Glob> compile(std::string_view pattern, Style style);

    enum class Reach {
        kBelow,   ///< what matches covers all below it
        kItself,  ///< only the path that matches
    };
    /// `path`: relative to the root, without a leading slash, its bytes folded by fold().
    /// kCrossing matches whole paths whatever the reach.
    bool matches(std::string_view path, bool is_directory, Reach reach = Reach::kBelow) const;
    /// False when a path that ends with `name` (folded) is neither where this pattern begins to
    /// match nor the directory of such paths, as `X` is for `X/*`. Cheap.
    bool may_begin_at(std::string_view name) const;
    /// What may_begin_at() looks at: a name, or a pattern of names.
    const std::string& beginning() const { return begins_; }
    bool begins_at_one_name() const;
    /// False when a directory may move from one of these paths (folded) to the other and everything
    /// below it matches as it did.
    bool tells_apart(std::string_view one, std::string_view other,
                     Reach reach = Reach::kBelow) const;

    static std::string fold(std::string_view bytes);

 private:
    using Components = std::vector<std::string>;
    using Positions = std::vector<bool>;
    Positions after(std::string_view path, bool is_directory, Reach reach) const;

    Style style_ = Style::kRelative;
    std::string text_;       // folded; kCrossing matches it whole
    Components components_;  // kRelative
    bool directories_only_ = false;
    std::string begins_ = "*";  // the component that may_begin_at looks at; "*" for any
};

}  // namespace unwrite::overlay
