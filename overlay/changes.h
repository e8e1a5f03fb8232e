// What people see of the difference between two states.
#pragma once

#include "overlay/differences.h"

namespace unwrite::overlay {

/// The changes that lead from `older` to `newer`, sorted by path. differences.h says what counts as
/// what.
Result<std::vector<Change>> changes_between(View& older, View& newer,
                                            Detail detail = Detail::kFull);

/// How an aspect is called: for programs, and for people.
struct AspectWord {
    Aspect aspect;
    const char* word;
    const char* text;
};
inline constexpr AspectWord kAspectWords[] = {{kAspectMode, "mode", "mode"},
                                              {kAspectOwner, "owner", "owner"},
                                              {kAspectAcl, "acl", "access list"},
                                              {kAspectXattrs, "xattrs", "extended attributes"},
                                              {kAspectTime, "time", "time"}};
/// "mode, extended attributes": which attributes differ; "" where that is not known.
std::string aspect_words(const Change& change);

/// The same for programs, one by one. (Here, for control/ knows no more of overlay/ than headers.)
inline std::vector<std::string> aspect_names(std::uint32_t aspects) {
    std::vector<std::string> names;
    for (const AspectWord& one : kAspectWords) {
        if ((aspects & one.aspect) != 0) names.emplace_back(one.word);
    }
    return names;
}

/// A directory that came or went: it stands for what it holds.
bool is_whole_directory(const Change& change);
/// How many files a change stands for: what is below a directory that came or went counts.
std::uint64_t files_in(const Change& change);
std::uint64_t files_in(const std::vector<Change>& changes);

/// Of how many of the files that one change of a diff stands for no lines are counted: git ignores
/// the tree that they are in, or the directory holds too many to be read one by one.
std::uint64_t lines_left_out(const Change& change);

/// True when a change concerns `path`: it is there, below it, or a directory above it that came,
/// went or moved.
bool concerns(const Change& change, const std::string& path);

}  // namespace unwrite::overlay
