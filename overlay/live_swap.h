// What live_exchange.cpp and live_in_place.cpp share: the file that an edit is about to replace.
#pragma once

#include "journal/attic.h"
#include "overlay/live_tree.h"

namespace unwrite::overlay {

struct LiveTree::Swap {
    ObjectPtr directory;
    HandlePtr handle;  // of the directory
    std::string name;
    ObjectPtr made;
    Standing old;
    HandlePtr old_file;
    struct stat was = {};  // of the old file, without the attic's link
};

/// A new file in its place would cut its other names off, or belong to somebody else.
bool must_stay(const Caller& caller, const struct stat& was);

/// What a kill interrupted, wholly. Before anybody can change a file.
Result<> finish_in_place(int state, const journal::Attic& attic);

}  // namespace unwrite::overlay
