// Scene: where an action tells what the kernel answered. Only what must be the same in every
// directory of one filesystem is told: no paths, no inode numbers, no clock times.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace unwrite::tests::parity {

class Scene {
 public:
    /// Tells what a call returned: the number, or the name of errno when it is -1. Returns it.
    long told(std::string_view call, long result);
    /// The same for what returns a descriptor, whose number does not matter.
    int opened(std::string_view call, int descriptor);
    void say(std::string_view what, std::string_view value);
    /// Type, mode, owner, links, size.
    void say(std::string_view what, const struct stat& st);
    /// stat of a descriptor, and of a name (not followed).
    void look(std::string_view what, int descriptor);
    void look_at(const std::string& path);

    const std::string& text() const { return text_; }
    /// Hands what was told so far to the runner, for an action that forks.
    void write_to(int descriptor);

 private:
    std::string text_;
};

/// The name of an error number: "ENOENT".
std::string error_name(int number);
/// "f 0644 3001:3101 links=1 size=10000"
std::string describe(const struct stat& st);
/// Bytes as text; long ones as their length and a hash.
std::string brief(std::string_view bytes);

}  // namespace unwrite::tests::parity
