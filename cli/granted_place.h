// GrantedPlace: a place beside the workspace in which the command of a run may write, and which
// object it was when the user named it. An agent that ran before may have left a link there, and
// one that runs at the same time may exchange directories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::cli {

struct GrantedPlace {
    std::string path;          ///< absolute
    std::uint64_t device = 0;  ///< both 0: whatever is there, links included
    std::uint64_t inode = 0;
};

/// What `place` is, seen from the directory `base`. Refused: a place behind a symbolic link; the
/// error says where that leads. While `held` lives, nothing else can be this object.
Result<GrantedPlace> granted_place(const std::string& base, const std::string& place,
                                   UniqueFd& held);

/// A descriptor (O_PATH) of the place. kRefused when it is another object by now.
Result<UniqueFd> open_granted(const GrantedPlace& place);

/// As one word, and back.
std::string encode(const GrantedPlace& place);
Result<GrantedPlace> decode_granted(const std::string& word);

}  // namespace unwrite::cli
