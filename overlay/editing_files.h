// The files below a workspace's mount, as the tools of an agent reach them: by paths that are
// resolved beneath the root, one file a step, each step atomic. Not thread-safe.
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "edit/plan.h"
#include "edit/undo_entry.h"
#include "overlay/oversight.h"

namespace unwrite::overlay {

/// Who says what the tools may read and write: the daemon (Oversight::may_edit). The mount decides
/// all the same when it happens.
class EditJudge {
 public:
    virtual ~EditJudge() = default;
    /// The session of the attempt is the judge's to fill in.
    virtual Result<MayEdit> may_edit(const EditAttempt& attempt) = 0;
    /// Asked now and then while an edit waits for a person: false ends the wait.
    virtual bool is_wanted() { return true; }
};

struct EditFilesOptions {
    std::string root_name{};     ///< absolute path of the root: absolute paths below it are taken
    EditJudge* judge = nullptr;  ///< outlives the files; null: the mount alone
};

class EditFiles final : public edit::Files, public edit::UndoFiles {
 public:
    /// `root`: an open directory, the mount's root.
    static Result<std::unique_ptr<EditFiles>> open(UniqueFd root, EditFilesOptions options);

    /// Keeps every other editor of this root out until this object ends. Waits for at most some
    /// seconds. Errors: kConflict.
    Result<> lock();
    /// The same without waiting: false when another edit is going on.
    Result<bool> try_lock();

    /// `path` as the asker wrote it. Symbolic links on the way are followed as long as they stay
    /// below the root; FileState::path has none of them. Errors: kUsage ("Bad args: path contains
    /// invalid control characters"), kRefused ("Path outside sandbox (attempted: A, resolved: R)",
    /// "Path 'p' matched denied pattern 'q'").
    Result<edit::FileState> look(const std::string& path, std::uint64_t max_bytes) override;

    /// The same by its words alone, "" for the root: what it names need not be there, and a link
    /// stays a link.
    Result<std::string> relative(const std::string& path) const;

    // These take FileState::path.
    /// Writes and syncs what put() of the same path shall put in place.
    Result<> prepare(const std::string& path, const std::string& bytes,
                     std::optional<std::uint32_t> mode) override;
    void drop_prepared() override;
    Result<> allowed(const std::string& path, const std::string* bytes) override;
    /// As allowed(), with the words for an edit. `ask`: waits for a person where the rules say that
    /// one is to be asked; else that is no refusal.
    Result<> may_write(const std::string& path, const std::string* bytes, bool ask) const;
    /// The same of a directory that an edit makes. Waits for a person.
    Result<> may_make(const std::string& path) const;
    /// The rule that forbids or asks before an edit of this file, in words; empty: there is none.
    std::string outlook(const std::string& path) const;
    Result<edit::FileState> look(const std::string& path) override;
    /// The new name is on the disk as soon as no file of its directory is prepared any more.
    Result<> put(const std::string& path, const std::optional<Digest>& expected,
                 const std::string& bytes, std::optional<std::uint32_t> mode) override;
    Result<> remove(const std::string& path, const Digest& expected) override;
    /// As put(), for a file that is there, with its mode as it is, and only if the daemon takes the
    /// last step: EOPNOTSUPP otherwise.
    Result<> put_back(const std::string& path, const Digest& expected, const std::string& bytes);
    Result<> remove_empty_directory(const std::string& path) override;
    /// The directories that `path` lacks, the topmost first; and makes them.
    Result<std::vector<std::string>> missing_directories(const std::string& path);
    Result<> make_directories(const std::vector<std::string>& paths);

    /// What became of links, owners and modes of the files that were put since the last call: a
    /// sentence for each.
    std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }

    /// Temporary names of this object: kept in one word, so that another process can clear away
    /// what a killed one left in the directories of these files.
    const std::string& token() const { return token_; }
    /// The path of the temporary file of `path`, beside it; nothing when there is none.
    std::optional<std::string> temporary_of(const std::string& path,
                                            const std::string& token) const;
    bool is_empty_directory(const std::string& path) const;

 private:
    EditFiles(UniqueFd root, EditFilesOptions options, std::string token)
        : root_(std::move(root)), options_(std::move(options)), token_(std::move(token)) {}

    struct Place {
        UniqueFd parent{};
        std::string name{};
    };
    /// Without the root; nothing when it is not at or below it.
    std::optional<std::string> below_root(const std::string& absolute) const;
    /// Where a link at `path` leads, by its words alone; empty: not below the root.
    std::string led_to(const std::string& path, const std::string& link) const;
    std::string without_absolute_links(const std::string& relative) const;
    Error leads_out(const std::string& relative, const std::string& where) const;
    Result<std::string> resolved(const std::string& relative, unsigned links) const;
    Result<Place> place_of(const std::string& path) const;
    Result<edit::FileState> state_at(const Place& place, const std::string& path,
                                     std::uint64_t max_bytes) const;
    /// What is there, if that is what is expected (nothing: no file); else kConflict.
    Result<edit::FileState> expect(const Place& place, const std::string& path,
                                   const std::optional<Digest>& expected) const;
    Result<> write_temporary(const Place& place, const std::string& temporary,
                             const std::string& bytes, std::optional<std::uint32_t> mode) const;
    Result<UniqueFd> write_nameless(const Place& place, const std::string& bytes,
                                    std::optional<std::uint32_t> mode) const;
    /// The last step, by the daemon. `now`: what was there a moment ago, and must still be.
    /// EOPNOTSUPP: it cannot do it for this file.
    Result<> exchange(unsigned long command, const Place& place, const edit::FileState& now,
                      const UniqueFd& nameless, std::optional<std::uint32_t> mode) const;
    Result<> put_nameless(const Place& place, const edit::FileState& now, const UniqueFd& file,
                          std::optional<std::uint32_t> mode) const;
    Result<> put_beside(const Place& place, bool replaces, const std::string& temporary) const;
    /// What stands at a place, or stood there.
    struct Standing {
        UniqueFd file{};
        struct stat st = {};
        bool may_write = false;
    };
    static Standing standing(const Place& place);
    void remark(const std::string& path, const Standing& was, const Standing& now,
                std::optional<std::uint32_t> mode);
    /// Waits for a person where the attempt wants one to be asked. `bytes`: see allowed().
    Result<> permitted(EditAttempt attempt, const std::string* bytes) const;
    Error denied(const std::string& path, bool write) const;
    Error refusal(const std::string& path, const Error& error) const;

    UniqueFd root_;
    UniqueFd lock_;
    EditFilesOptions options_;
    std::string token_;
    bool exchanges_ = false;  // the daemon takes the last step (exchange.h)
    // Paths whose new bytes are written: to a file without a name, or (no descriptor) to one beside
    // the old one, where nothing else can be had.
    std::map<std::string, UniqueFd> prepared_;
    std::vector<std::string> remarks_;
};

}  // namespace unwrite::overlay
