#include "tests/parity/exceptions.h"

#include <fnmatch.h>

#include <algorithm>

#include "tests/parity/mounted.h"

namespace unwrite::tests::parity {

namespace {

constexpr const char* kCapability =
    " security.capability=\"\\x01\\x00\\x00\\x02\\x00 "
    "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
    "\\x00\\x00\\x00\\x00\"";

bool fits(const char* pattern, const std::string& text) {
    return ::fnmatch(pattern, text.c_str(), 0) == 0;
}

}  // namespace

const std::vector<Exception>& exceptions() {
    static const std::vector<Exception> all = {
        {"open/*-device/*", "*", "*",
         "the mount is nodev: what is a device elsewhere cannot be opened in it"},
        {"*", "* = d * links=0 size=0", "* = d * links=0 size=4096",
         "a removed directory that is still open is in the attic, and ext4 empties it only at its "
         "end"},
        {"size/fallocate of *-device", "fallocate = ENODEV", "fallocate = EBADF",
         "the mount is nodev: what is a device elsewhere cannot be opened in it"},
        {"open/*+direct", "*", "*",
         "the kernel's FUSE takes direct transfers of any alignment; ext4 only of whole blocks"},
        {"content/direct at *", "*", "*",
         "the kernel's FUSE takes direct transfers of any alignment; ext4 only of whole blocks"},
        {"content/lseek far", "*", "*",
         "the largest file of the kernel's FUSE is larger than that of ext4"},
        {"content/bad address", "after x: *m:now*", "after x: *m:same*",
         "ext4 moves the time before it looks at the address; nothing of such a write gets to us"},
        {"rename/flags 4 by *", "*", "*",
         "RENAME_WHITEOUT is for overlay filesystems, and refused"},
        {"size/fallocate collapse *", "*", "*",
         "the kernel's FUSE knows no collapsing: EOPNOTSUPP"},
        {"size/fallocate insert *", "*", "*", "the kernel's FUSE knows no inserting: EOPNOTSUPP"},
        {"object/birth", "birth = known", "birth = unknown",
         "a choice: no listing brings it, and a question for each file is dear"},
        {"object/pathconf", "links = 65000", "links = 127",
         "the C library asks for the filesystem's type; it does not know this one"},
        {"object/inode flags", "*", "* = ENOTTY", "chattr: flags are not captured, so not offered"},
        {"object/fiemap of *", "*", "*",
         "the place of blocks on a disk cannot be told by FUSE; SEEK_DATA and SEEK_HOLE work"},
        {"*/chown*none*", "*", "*",
         "the kernel's FUSE drops a chown that changes neither: not even the change time moves"},
        {"*/chown of nothing*", "*", "*",
         "the kernel's FUSE drops a chown that changes neither: not even the change time moves"},
    };
    return all;
}

const std::vector<WordException>& word_exceptions() {
    static const std::vector<WordException> all = {
        {"*", " c:same", " c:now",
         "capturing gives the file a second name in the attic, which moves its change time though "
         "the change itself then fails"},
        {"open/empty/*", " a:now", " a:same", "a read at the end is not asked of the filesystem"},
        {"open/*trunc*", " a:now", " a:same", "a read at the end is not asked of the filesystem"},
        {"rights/open*truncating*", " a:now", " a:same",
         "a read at the end is not asked of the filesystem"},
        {"open/fifo/*", " m:now", " m:same",
         "what goes through a fifo stays in the kernel, and its FUSE leaves times to the "
         "filesystem"},
        {"size/sendfile *", " a:now", " a:same",
         "what ends before it begins is not asked of the filesystem"},
        {"privileges/mapped store/0777/*", kCapability, "",
         "a mapped store comes as a write, and every write takes the capability away"},
    };
    return all;
}

const std::vector<WordException>& word_exceptions_of_the_owner() {
    static const char* const kReason =
        "a mapped store comes as a write, and a daemon without rights cannot write without taking "
        "the set-id bits away";
    static const std::vector<WordException> all = {
        {"privileges/mapped store/6777/*", " 6777 ", " 0777 ", kReason},
        {"privileges/mapped store/4666/*", " 4666 ", " 0666 ", kReason},
    };
    return all;
}

namespace {

std::vector<WordException> word_exceptions_here() {
    std::vector<WordException> all = word_exceptions();
    if (!is_owner_itself()) return all;
    const auto& further = word_exceptions_of_the_owner();
    all.insert(all.end(), further.begin(), further.end());
    return all;
}

/// The lines of a plain directory that a line of the mount may stand for: each exception may apply.
std::vector<std::string> meanings(const std::string& cell, const std::string& line) {
    std::vector<std::string> all = {line};
    for (const WordException& one : word_exceptions_here()) {
        if (!fits(one.cells, cell)) continue;
        const std::size_t count = all.size();
        for (std::size_t i = 0; i < count; ++i) {
            std::string meant = all[i];
            // A word that is not there stands before the content, the last words of a line.
            const std::size_t at = *one.mount != 0 ? meant.find(one.mount) : meant.find(" 10000 ");
            if (at == std::string::npos) continue;
            all.push_back(meant.replace(at, std::string(one.mount).size(), one.plain));
        }
    }
    return all;
}

/// Drops pairs of lines that differ in excused words alone.
void drop_word_exceptions(const std::string& cell, std::vector<std::string>& only_plain,
                          std::vector<std::string>& only_mount) {
    std::erase_if(only_mount, [&](const std::string& line) {
        for (const std::string& meant : meanings(cell, line)) {
            const auto found = std::find(only_plain.begin(), only_plain.end(), meant);
            if (found == only_plain.end()) continue;
            only_plain.erase(found);
            return true;
        }
        return false;
    });
}

}  // namespace

bool is_excused(const std::string& cell, std::vector<std::string> only_plain,
                std::vector<std::string> only_mount) {
    drop_word_exceptions(cell, only_plain, only_mount);
    const auto excused = [&](const std::string& line, const char* Exception::*side) {
        return std::any_of(exceptions().begin(), exceptions().end(), [&](const Exception& one) {
            return fits(one.cells, cell) && fits(one.*side, line);
        });
    };
    return std::all_of(only_plain.begin(), only_plain.end(),
                       [&](const std::string& line) { return excused(line, &Exception::plain); }) &&
           std::all_of(only_mount.begin(), only_mount.end(),
                       [&](const std::string& line) { return excused(line, &Exception::mount); });
}

}  // namespace unwrite::tests::parity
