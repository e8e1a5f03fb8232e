// Look: what there is to be seen of a cell's directory from outside, by names: types, modes,
// owners, link counts, sizes, contents, targets, extended attributes, which names share an object,
// which times changed.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <map>
#include <string>

namespace unwrite::tests::parity {

/// The attributes of everything at and below a directory, by relative path ("" is the directory).
using Before = std::map<std::string, struct stat>;
/// `raw` leads to the same directory without the mount: names are listed there, for a listing
/// through the mount changes access times.
Before remember(const std::string& directory, const std::string& raw);

struct Span {
    struct timespec begin;
    struct timespec end;
};
struct timespec now();

/// Whether two changes of one object always have different change times here (Linux 6.13 and
/// later): else a change time that did not move says nothing.
bool has_fine_change_times(const std::string& directory);

/// One line for each path. Times are told as "same", "now" (within the span), or a number.
std::string look(const std::string& directory, const Before& before, const Span& span,
                 bool change_times);

}  // namespace unwrite::tests::parity
