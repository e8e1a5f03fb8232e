#include "cli/file_set.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "base/digest.h"
#include "base/syscalls.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;

// Below the root directory, as EditFiles names it.
std::string below(const std::string& path) {
    return path.substr(1);
}

Error about(const std::string& path, const std::string& why) {
    return {ErrorKind::kUsage, EINVAL, "change " + quote_name(path) + ": " + why};
}

}  // namespace

Result<FileSet> FileSet::open() {
    TRY_ASSIGN(UniqueFd root, sys::open_at(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(auto files, overlay::EditFiles::open(std::move(root), {.root_name = "/"}));
    return FileSet(std::move(files));
}

Result<FileChange> FileSet::look(const std::string& path) {
    std::error_code failure;
    FileChange file;
    file.path = std::filesystem::weakly_canonical(path, failure).string();
    if (failure) return Error(failure.value()).with_context("cannot find " + quote_name(path));
    const auto state = files_->look(file.path, kMostBytes);
    if (!state) return state.error().with_context("cannot read " + quote_name(file.path));
    if (state->kind == edit::FileKind::kAbsent) {
        TRY_ASSIGN(const auto missing, files_->missing_directories(below(file.path)));
        for (const std::string& directory : missing)
            file.directories.push_back("/" + directory);
        return file;
    }
    if (state->kind != edit::FileKind::kFile)
        return about(file.path, "it is not a regular file, or it is a link that leads nowhere");
    if (state->size > kMostBytes) return about(file.path, "it is larger than 4 MiB");
    file.before = state->bytes;
    return file;
}

Result<> FileSet::change(const FileChange& file, const std::optional<std::string>& from,
                         const std::optional<std::string>& to) {
    const auto expected = from ? std::optional(digest_of(*from)) : std::nullopt;
    auto done = to ? files_->put(below(file.path), expected, *to, std::nullopt)
                   : files_->remove(below(file.path), expected.value_or(Digest()));
    if (!done && done.error().kind() == ErrorKind::kConflict)
        return Error(ErrorKind::kConflict, ESTALE,
                     "cannot change " + quote_name(file.path) + ": somebody else just changed it",
                     "try again");
    return done ? done : done.error().with_context("cannot change " + quote_name(file.path));
}

Result<> FileSet::change_all(const std::vector<FileChange>& changes, std::size_t& done) {
    for (const FileChange& file : changes) {
        if (!file.after || file.before == file.after) continue;
        for (const std::string& directory : file.directories) {
            const auto made = files_->make_directories({below(directory)});
            if (!made && made.error().number() != EEXIST) return made;
        }
        const auto prepared = files_->prepare(below(file.path), *file.after, std::nullopt);
        if (!prepared)
            return prepared.error().with_context("cannot write " + quote_name(file.path));
    }
    for (; done < changes.size(); ++done) {
        const FileChange& file = changes[done];
        if (file.before != file.after) TRY(change(file, file.before, file.after));
    }
    return {};
}

Result<> FileSet::carry_out(const std::vector<FileChange>& changes) {
    std::size_t done = 0;
    const auto outcome = change_all(changes, done);
    if (outcome) return outcome;
    files_->drop_prepared();
    while (done-- > 0) {
        const FileChange& file = changes[done];
        if (file.before != file.after)
            ignore(change(file, file.after, file.before), "the first failure is reported");
    }
    for (const FileChange& file : changes)
        remove_directories(file.directories);
    return outcome;
}

void FileSet::remove_directories(const std::vector<std::string>& directories) {
    for (auto path = directories.rbegin(); path != directories.rend(); ++path)
        ignore(files_->remove_empty_directory(below(*path)), "what others put there stays");
}

}  // namespace unwrite::cli
