// What a confined command sees of the home directory: the real one, under a layer of its own. What
// it writes there goes to that layer, and ends with the run, but for the places that are let
// through. From inside; home_return.h is the other end.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::cli {

/// All paths are absolute.
struct HomeView {
    std::string home;                    ///< empty: nothing of this is wanted
    std::string handoff;                 ///< a directory for what was written; empty: nobody asks
    std::vector<std::string> live;       ///< written in directly; each is there
    std::vector<std::string> read_only;  ///< below those; each is there
    std::vector<std::string> emptied;    ///< below those, private; each is there
    /// Paths below the home directory: of all else there is nothing to be seen. Not all are there.
    /// Empty: everything is shown.
    std::vector<std::string> shown;
};

/// Records in the file "list" of the handoff: a letter, the path below the home directory, and a
/// zero byte. What was copied is in the directory "tree".
enum class LayerRecord : char {
    kCopied = 'f',   ///< a file or a symbolic link
    kRemoved = 'x',  ///< is gone
    kCounted = 'c',  ///< was written, and is not copied: a cache, too much of it, or a special file
};

/// Where there are no mounts of its own, only what needs none may be written.
HomeView without_layer(HomeView view);

class HomeLayer {
 public:
    /// Takes hold of the real places, before the mounts become read-only.
    static Result<HomeLayer> prepare(const HomeView& view);
    /// Lays it over the home directory. Needs capabilities in a mount namespace of its own.
    Result<> put();
    /// What the command may be allowed to write of it: without the layer, less.
    HomeView view() const;
    /// Why some directory could get no layer, and is read-only; empty: all have one.
    const std::string& uncovered() const { return uncovered_; }
    /// When nobody writes any more: what the layer holds goes to the handoff.
    Result<> hand_over() const;

 private:
    HomeView view_;
    UniqueFd lower_;
    UniqueFd handoff_;
    Result<> put_layer();
    Result<> put_places();
    Result<> show_all();
    Result<> show_some();
    Result<> show(const std::string& name);
    Result<> show_deep(const std::string& path);
    Result<> show_directory(const std::string& path, const struct stat& st);
    Result<> bind(const std::string& name);
    Result<> cover(const std::string& name, const struct stat& st);

    bool is_put_ = false;
    std::string uncovered_;
    int mounted_ = 0;  ///< over the home directory, while the layer is put
    UniqueFd layer_;   ///< a directory that has "view", "upper" and "work"
    UniqueFd top_;     ///< "view": the home directory itself, as the command sees it
    std::vector<std::string> directories_;      ///< of the real one, shown in it
    std::vector<std::string> covered_;          ///< those of them that have a layer
    std::map<std::string, struct stat> files_;  ///< what else is shown in it
    std::vector<std::pair<UniqueFd, std::string>> live_;
};

}  // namespace unwrite::cli
