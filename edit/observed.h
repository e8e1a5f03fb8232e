// What each session has seen of which file, so that nobody edits lines that it has not read, or a
// file that has changed since. Whatever changes a file otherwise makes it unseen.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "edit/request.h"

namespace unwrite::edit {

/// Sorted ranges of lines that neither overlap nor touch.
class LineSet {
 public:
    void add(LineRange range);
    bool contains(std::uint64_t line) const;
    const std::vector<LineRange>& ranges() const { return ranges_; }

 private:
    std::vector<LineRange> ranges_;
};

/// What a file holds, and the digest of it.
struct Content {
    std::string_view bytes{};
    Digest hash{};

    static Content of(std::string_view bytes) { return {bytes, digest_of(bytes)}; }
};

/// Paths are those of FileState::path: one for each file. A mark is a text that is another one
/// after every write to the file, also of the bytes that it has; who has none leaves it empty. Not
/// thread-safe.
class Observed {
 public:
    /// The session has read these lines, and `bytes` is what the whole file held. Ranges read of
    /// the same bytes add up; after a change only the new ones count. A range of an empty file is
    /// 1 to 1.
    void read(const std::string& session, const std::string& path, std::string_view bytes,
              LineRange lines, const std::string& mark = {});
    /// All of it, as a whole read or a file that the session has just created.
    void read_all(const std::string& session, const std::string& path, std::string_view bytes,
                  const std::string& mark = {});

    /// The session's own edit took the file from `before` to `after`: lines that it had seen stay
    /// seen where they are now, and those that it wrote are seen. Other sessions have not seen the
    /// file. Errors: kSystem; then no session has seen it.
    Result<> edited(const std::string& session, const std::string& path, const Content& before,
                    const Content& after, const std::string& mark = {});
    /// The session's own edit failed and the file was made what it was: what was seen stays seen.
    void put_back(const std::string& session, const std::string& path, const std::string& mark);

    /// Something else wrote to it, removed it, put another file in its place, or an Undo did; so
    /// with a directory and all below it.
    void forget(const std::string& path);
    /// As forget(), for all sessions but the one that wrote through an edit of its own.
    void forget_for_others(const std::string& session, const std::string& path);
    void forget_all();
    void end_session(const std::string& session);

    /// Whether it has read the file, changed since or not.
    bool knows(const std::string& session, const std::string& path) const {
        return find(session, path) != nullptr;
    }

    /// Has the session read the file, which now holds `bytes` and has that mark, and is it
    /// unchanged? Errors are kConflict with the reason as their text:
    ///  "File was not read before editing, or has been modified since last read"
    ///  "Content above line S changed since last read (lines may have shifted)"
    ///  "File content changed since last read"
    Result<> check(const std::string& session, const std::string& path, std::string_view bytes,
                   const std::string& mark = {}) const;
    /// And has it read these lines, of the file that check() found unchanged? Errors: kConflict:
    ///  "Edit targets line T but only lines S-E were read"
    Result<> check_lines(const std::string& session, const std::string& path,
                         const std::vector<std::uint64_t>& lines) const;

 private:
    struct Seen {
        Digest whole{};
        Digest above{};  ///< of what stands before the first line that was read
        LineSet lines{};
        std::string mark{};
    };
    using Paths = std::map<std::string, Seen>;

    const Seen* find(const std::string& session, const std::string& path) const;
    void put(const std::string& session, const std::string& path, const Content& content,
             LineSet lines, const std::string& mark);

    std::map<std::string, Paths> sessions_;
};

}  // namespace unwrite::edit
