// DiffPage: the text of one file's diff as rows that can be shown, one below the other or side by
// side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unwrite::cli::screen {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct DiffRow {
    enum class Kind { kHeader, kHunk, kContext, kRemoved, kAdded, kNote };
    Kind kind = Kind::kHeader;
    std::string_view text{};     ///< without its sign and ending; bytes of the page
    std::uint64_t old_line = 0;  ///< 0: it has none on that side
    std::uint64_t new_line = 0;
    std::size_t hunk = kNone;     ///< counted from 0
    std::size_t partner = kNone;  ///< the row of the line that this one was, or became
};

/// Rows that stand beside each other; what fills the width has its row on both sides.
struct RowPair {
    std::size_t left = kNone;
    std::size_t right = kNone;
};

class DiffPage {
 public:
    /// A unified diff of one file, or any other text.
    explicit DiffPage(std::string text);
    DiffPage(const DiffPage&) = delete;
    DiffPage& operator=(const DiffPage&) = delete;

    const std::string& text() const { return text_; }
    const std::vector<DiffRow>& rows() const { return rows_; }
    const std::vector<RowPair>& pairs() const { return pairs_; }
    std::size_t hunk_count() const { return hunks_; }
    /// The first row of a hunk, among the rows or among the pairs.
    std::size_t begin_of_hunk(std::size_t hunk, bool side_by_side) const;
    /// The first row after `from` (before it, `backwards`) whose text holds `what`, going round;
    /// kNone where there is none. Case counts only when `what` has a capital letter.
    std::size_t find(std::string_view what, std::size_t from, bool backwards) const;
    /// Which pair shows this row.
    std::size_t pair_of(std::size_t row) const;

 private:
    void read();
    void pair_rows();

    std::string text_;
    std::vector<DiffRow> rows_;
    std::vector<RowPair> pairs_;
    std::size_t hunks_ = 0;
};

/// Whether `text` holds `what`; small letters in `what` stand for capital ones, too.
bool holds(std::string_view text, std::string_view what);

}  // namespace unwrite::cli::screen
