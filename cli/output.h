// Output: one of the standard streams. Keeps the first failure to write, so that a full disk is
// reported once, at the end; a reader that went away is no failure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::cli {

class Output {
 public:
    explicit Output(int fd);

    void print(std::string_view text);
    void line(std::string_view text);
    /// Writes what is left.
    Result<> flush();

    bool is_terminal() const { return terminal_; }
    bool has_colour() const { return colour_; }

 private:
    int fd_;
    bool terminal_;
    bool colour_;
    std::string buffer_;
    Result<> outcome_;
};

}  // namespace unwrite::cli
