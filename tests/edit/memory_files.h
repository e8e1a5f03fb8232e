// Files in memory: what plans are made from and carried out on, with steps that can be made to
// fail.
#pragma once

#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "edit/plan.h"
#include "edit/undo_entry.h"

namespace unwrite::edit {

struct MemoryFile {
    std::string bytes{};
    std::uint32_t mode = 0644;
    bool operator==(const MemoryFile&) const = default;
};

class MemoryFiles final : public Files, public UndoFiles {
 public:
    std::map<std::string, MemoryFile> files;
    std::map<std::string, std::string> links;  ///< other names of files
    std::set<std::string> directories;
    std::set<std::string> special;
    std::map<std::string, std::string> objects;  ///< path -> FileState::object
    std::map<std::string, std::string> refused;  ///< path -> reason
    int fail_at = 0;                             ///< the number of the change that fails, from 1
    int changes = 0;                             ///< changes asked for so far
    std::set<std::string> prepared;              ///< and not put in place
    std::set<std::string> read;                  ///< looked at with all their bytes

    Result<FileState> look(const std::string& path, std::uint64_t max_bytes) override {
        if (refused.contains(path)) return Error(ErrorKind::kRefused, EACCES, refused[path]);
        const auto link = links.find(path);
        return state_of(link != links.end() ? link->second : path, max_bytes);
    }

    Result<> allowed(const std::string& path, const std::string* /*bytes*/) override {
        if (refused.contains(path)) return Error(ErrorKind::kRefused, EACCES, refused[path]);
        return {};
    }
    Result<FileState> look(const std::string& path) override {
        read.insert(path);
        return state_of(path, ~0ULL);
    }

    Result<> prepare(const std::string& path, const std::string&,
                     std::optional<std::uint32_t>) override {
        TRY(change());
        prepared.insert(path);
        return {};
    }
    void drop_prepared() override { prepared.clear(); }
    Result<> put(const std::string& path, const std::optional<Digest>& expected,
                 const std::string& bytes, std::optional<std::uint32_t> mode) override {
        TRY(change());
        prepared.erase(path);
        const auto found = files.find(path);
        if ((found != files.end()) != expected.has_value() ||
            (expected && digest_of(found->second.bytes) != *expected))
            return Error(ErrorKind::kConflict, EINVAL, "changed");
        files[path].bytes = bytes;
        if (mode) files[path].mode = *mode;
        return {};
    }
    Result<> remove(const std::string& path, const Digest& expected) override {
        TRY(change());
        const auto found = files.find(path);
        if (found == files.end() || digest_of(found->second.bytes) != expected)
            return Error(ErrorKind::kConflict, EINVAL, "changed");
        files.erase(found);
        return {};
    }
    Result<> remove_empty_directory(const std::string& path) override {
        for (const auto& [name, file] : files) {
            if (name.starts_with(path + "/")) return Error(ENOTEMPTY);
        }
        directories.erase(path);
        return {};
    }

    void carry_out(const EditPlan& plan) {
        for (const PlannedFile& file : plan.files) {
            if (!file.remains) {
                files.erase(file.path);
                continue;
            }
            MemoryFile& target = files[file.path];
            target.bytes = file.after;
            if (file.executable) target.mode = *file.executable ? 0755 : 0644;
        }
    }

 private:
    Result<> change() {
        if (++changes == fail_at) return Error(EIO);
        return {};
    }

    FileState state_of(const std::string& path, std::uint64_t max_bytes) const {
        FileState state;
        state.path = path;
        if (directories.contains(path)) state.kind = FileKind::kDirectory;
        if (special.contains(path)) state.kind = FileKind::kOther;
        const auto found = files.find(path);
        if (found == files.end()) return state;
        state.kind = FileKind::kFile;
        state.size = found->second.bytes.size();
        state.mode = found->second.mode;
        if (const auto object = objects.find(path); object != objects.end())
            state.object = object->second;
        if (state.size <= max_bytes) state.bytes = found->second.bytes;
        return state;
    }
};

}  // namespace unwrite::edit
