// The entry points that take bytes from outside, each as a function of any bytes. A promise that
// does not hold ends the program with its words on stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unwrite::fuzz {

/// An input may have parts, which "\n===\n" divides.
void lp1(std::string_view input);        ///< a patch and the file that it is applied to
void request(std::string_view input);    ///< the JSON of a call and the file
void newlines(std::string_view input);   ///< a file, and a snippet to put into it
void unified(std::string_view input);    ///< a patch and the file, or an older and a newer file
void rpc(std::string_view input);        ///< lines of the Model Context Protocol
void delta(std::string_view input);      ///< a delta's file, or its records
void packed(std::string_view input);     ///< a compressed data file, or its blocks and its table
void checksums(std::string_view input);  ///< checksums of captured bytes, or their file
void socket(std::string_view input);     ///< a line at the daemon's socket, or its answer
void rules(std::string_view input);      ///< patterns of a policy, and a path
void gitindex(std::string_view input);   ///< up to three indexes of git

using Target = void (*)(std::string_view input);
/// By its name; nullptr for any other.
Target target_named(std::string_view name);
const std::vector<std::string>& target_names();

/// Inputs to begin with.
const std::vector<std::string>& seeds_of(std::string_view target);

}  // namespace unwrite::fuzz
