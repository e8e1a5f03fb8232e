// The home directory and a run: which places the run may write in directly, and, when it has
// ended, what becomes of the rest that it wrote there (home_layer.h): the agent's own state is
// taken over, settings that decide what runs later are asked about, and everything else is named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/home_layer.h"
#include "cli/known_agents.h"

namespace unwrite::cli {

/// What is not kept of what a run wrote in the home directory; paths below that.
struct NotKept {
    std::vector<std::string> decides{};    ///< decides what runs later, and nobody agreed
    std::vector<std::string> elsewhere{};  ///< is no business of the agent
    std::uint64_t cached = 0;              ///< files in caches
    std::string copy{};                    ///< where a copy is; empty: there is none
};

/// The directory for what runs leave and need, in the user's home directory; made when it is
/// absent, empty when it cannot be. What begins with "home-" or "network-" in it is removed after
/// 14 days.
std::string run_state_directory();

class HomeReturn {
 public:
    /// Makes the places that the agent would make anyway. `agent`: null where none is known;
    /// `workspace`: the root of the mount.
    static HomeReturn begin(const KnownAgent* agent, const std::string& workspace);

    /// Of the home directory only these are shown (shown_of_home()), and the agent's places.
    /// kUsage where there is none that could be hidden.
    Result<> hide(const std::vector<std::string>& named);
    const HomeView& view() const { return view_; }
    /// Places of the agent outside the home directory.
    const std::vector<std::string>& writable() const { return writable_; }
    /// One line: what the agent may change beside the workspace.
    std::string words() const;
    /// Takes over what the rules allow, asks about the rest on a terminal, and names what is not
    /// kept. `asks`: a terminal may be asked.
    NotKept finish(Context& context, bool asks);

 private:
    struct Place {
        StatePlace state;
        std::string path;  ///< below the home directory
    };
    struct Keyed {
        KeyedFile file;
        std::string path;  ///< below the home directory, behind symbolic links
        std::string name;  ///< the same, as the agent knows it
        std::string base;
    };
    struct Outcome {
        std::vector<std::string> guarded;  ///< paths below the home directory
        std::vector<std::string> details;  ///< the same, for a person
        std::vector<std::string> elsewhere;
        std::uint64_t cached = 0;
    };

    void add(const StatePlace& state, const std::string& workspace);
    void decide(char kind, const std::string& path, Outcome& outcome);
    void merge(const Keyed& keyed, bool all, Outcome& outcome);
    bool take_over(char kind, const std::string& path, bool is_agreed);
    bool is_changed_since(const std::string& path) const;
    bool append(const std::string& path);
    NotKept tell(Context& context, Outcome& outcome, bool asks);
    std::string read_left(const std::string& path) const;
    std::string read_real(const std::string& path) const;

    std::string agent_;
    std::string workspace_;
    HomeView view_;
    std::vector<std::string> writable_;
    std::vector<Place> places_;
    std::vector<Keyed> keyed_;
    std::vector<std::pair<std::string, std::uint64_t>> lengths_;  ///< of lists, when it began
    std::int64_t began_ns_ = 0;
};

}  // namespace unwrite::cli
