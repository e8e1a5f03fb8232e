// Which files git ignores because of where they are: build trees, installed packages, `.git`
// itself. Their lines are nobody's work, so they are not counted; the files are, and told apart.
//
// A file belongs to an ignored tree when a directory above it is named .git, node_modules, .venv or
// __pycache__, or matches a pattern of a .gitignore above it or of .git/info/exclude, and the file
// is not in git's index. A pattern for everything in a directory (`build/*`) is one for the
// directory. Unlike for git, letters match in either case (glob.h), and the user's own
// core.excludesFile is not read. Not thread-safe; the rules are those that the view has.
#pragma once

#include <unordered_map>

#include "overlay/glob.h"
#include "overlay/view.h"

namespace unwrite::overlay {

class Ignored {
 public:
    explicit Ignored(View& view) : view_(view) {}

    /// Of a file.
    bool covers(const std::string& path);
    /// Of a directory in which every file is ignored.
    bool covers_all_in(const std::string& directory);

 private:
    struct Rule {
        Glob glob;
        bool negated = false;
    };
    struct Directory {
        bool ignored = false;
        bool has_tracked = false;  ///< the index has files in it all the same
        bool rules_read = false;
        std::vector<Rule> rules{};  ///< of its own .gitignore, for what is below it
        bool all_in_it = false;     ///< which says so of everything
    };
    Directory& directory(const std::string& path);
    void read_rules(const std::string& path, Directory& directory);
    void add_rules(const std::string& file, Directory& directory);
    bool matches(const std::string& path);
    bool is_tracked(const std::string& path);
    bool holds_tracked(const std::string& directory);
    const std::vector<std::string>& tracked();

    View& view_;
    std::unordered_map<std::string, Directory> known_;
    std::optional<std::vector<std::string>> tracked_;  // sorted
};

}  // namespace unwrite::overlay
