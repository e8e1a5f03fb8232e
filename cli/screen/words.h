// What the screen says in words.
#pragma once

#include <string>

#include "cli/screen/model.h"

namespace unwrite::cli::screen {

std::string help_text();
/// What is not decided, and what may become of it.
std::string rest_text(const Model& model);
/// What is lost when the review is left now.
std::string leaving_text(const Tally& tally);
/// "2 accepted, 1 rejected, 3 open".
std::string tally_words(const Tally& tally);

}  // namespace unwrite::cli::screen
