// World: a session over a raw directory, without a mount, with an actor on its tree. The directory
// outlives it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "overlay/session.h"
#include "tests/support/snapshot.h"
#include "tests/support/tree_actor.h"

namespace unwrite::tests {

class World {
 public:
    /// Opens the session; throws std::runtime_error when that fails.
    explicit World(std::string directory, overlay::SessionOptions options = {});
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    static Result<std::unique_ptr<overlay::Session>> open(
        const std::string& directory, const overlay::SessionOptions& options = {});

    overlay::Tree& tree() { return session_->tree(); }
    overlay::Operations& operations() { return session_->operations(); }
    overlay::Session& session() { return *session_; }
    TreeActor& actor() { return *actor_; }
    const std::string& directory() const { return directory_; }
    Snapshot look() const { return snapshot(directory_); }

    /// Closes the session and opens it again; everything held is forgotten.
    void reopen();

    /// The number for a shell's prompt must be that of the status. What is wrong, or "".
    std::string compare_counts();

    static overlay::Asker asker();

 private:
    std::string directory_;
    overlay::SessionOptions options_;
    std::unique_ptr<overlay::Session> session_;
    std::optional<TreeActor> actor_;
};

}  // namespace unwrite::tests
