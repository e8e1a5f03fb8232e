// A cell: one thing that a program does to a small directory of its own. It is done once in a plain
// directory and once in a mounted workspace, and everything that can be told of either must agree.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unwrite::tests::parity {

class Scene;

inline constexpr uid_t kOwner = 3001;
inline constexpr gid_t kGroup = 3101;

/// Who makes the calls. The objects of a cell belong to kOwner:kGroup unless they say otherwise.
struct Actor {
    const char* name;
    uid_t uid;
    gid_t gid;
    std::vector<gid_t> groups;
    mode_t umask = 022;
};
/// root, the owner, a member of the group by its own group, one by a supplementary group, one with
/// other groups, and one without any.
const std::vector<Actor>& actors();
const Actor& root();
const Actor& owner();
const Actor& member();
const Actor& other();
Actor with_umask(Actor actor, mode_t umask);

enum class Kind {
    kAbsent,
    kFile,       ///< 10,000 bytes
    kEmpty,      ///< a file of no bytes
    kSparse,     ///< a file of 1 MiB, with 4 KiB of data in the middle
    kTwin,       ///< a file with a second name, NAME.twin
    kDirectory,  ///< an empty one
    kFull,       ///< a directory with a file "in" and a directory "below"
    kLink,       ///< a symbolic link to NAME.to, a file
    kLinkToDirectory,
    kDangling,
    kLoop,
    kFifo,
    kSocket,
    kCharacterDevice,  ///< the device of /dev/null
    kBlockDevice,
};
const char* name_of(Kind kind);
/// Without kAbsent.
const std::vector<Kind>& kinds();

struct Item {
    std::string name;
    Kind kind = Kind::kFile;
    mode_t mode = 0644;  ///< of directories too; not of symbolic links
    uid_t uid = kOwner;
    gid_t gid = kGroup;
    std::vector<std::pair<std::string, std::string>> xattrs = {};
};

/// What stands in the cell's directory before, and what the directory itself is like.
struct Fixture {
    std::vector<Item> items;
    mode_t mode = 0777;
    uid_t uid = kOwner;
    gid_t gid = kGroup;
    std::vector<std::pair<std::string, std::string>> xattrs = {};
};

struct Cell {
    std::string name;
    Fixture fixture;
    Actor actor;
    /// Runs in a process of its own, which is the actor and stands in the cell's directory.
    std::function<void(Scene&)> act;
};

/// The cells of one theme.
class Group {
 public:
    explicit Group(std::string name) : name_(std::move(name)) {}
    void add(std::string cell, Fixture fixture, const Actor& actor,
             std::function<void(Scene&)> act) {
        cells_.push_back(
            {name_ + "/" + std::move(cell), std::move(fixture), actor, std::move(act)});
    }
    const std::string& name() const { return name_; }
    const std::vector<Cell>& cells() const { return cells_; }

 private:
    std::string name_;
    std::vector<Cell> cells_;
};

/// A number as four octal digits.
std::string octal(mode_t mode);

}  // namespace unwrite::tests::parity
