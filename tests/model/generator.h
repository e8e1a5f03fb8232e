// Generator: thinks up the next random operation, knowing which paths there are.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/model/operation.h"

namespace unwrite::tests {

struct Known {
    std::string path;
    char type = 'f';  ///< as the first letter of a snapshot's entry
};

/// What is below a raw directory now, cheaply; the directory itself is not among them.
std::vector<Known> list_tree(const std::string& directory);

class Generator {
 public:
    /// `agents`: some changes are an agent's. `moves`: moves of the live state too.
    struct Mix {
        bool moves = true;
        bool agents = true;
        std::size_t most_objects = 60;
        std::string below{};  ///< only paths below this directory
    };
    Generator(std::uint64_t seed, Mix mix) : random_(seed), mix_(std::move(mix)) {}

    Operation next(const std::vector<Known>& known);

 private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool chance(unsigned percent) { return below(100) < percent; }
    std::string fresh_path(const std::vector<Known>& known);
    std::string some_path(const std::vector<Known>& known, const std::string& types);
    std::string some_name();
    std::uint64_t some_offset();
    std::uint64_t some_length();
    mode_t some_mode();

    Operation name_operation(const std::vector<Known>& known);
    Operation rename_operation(const std::vector<Known>& known);
    Operation content_operation(const std::vector<Known>& known);
    Operation fallocate_operation(const std::vector<Known>& known);
    Operation attribute_operation(const std::vector<Known>& known);
    Operation held_operation(const std::vector<Known>& known);
    Operation move_operation(const std::vector<Known>& known);

    std::mt19937_64 random_;
    Mix mix_;
};

}  // namespace unwrite::tests
