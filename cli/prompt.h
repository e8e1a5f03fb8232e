// Questions to a person. They are asked only where stdin and stderr are a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace unwrite::cli {

/// stdin and stderr are a terminal.
bool can_ask();
/// What makes a terminal ring, for questions that come while a person may look elsewhere; nothing
/// with `bell = false` in the user's configuration.
std::string bell();

/// Words that begin with different letters, in lower case. A person types the letter or the word.
struct Answers {
    std::vector<std::string_view> words;
    char on_enter = '\0';  ///< what an empty line answers; '\0': the question is asked again
};

/// The input ended, or Ctrl-C was pressed.
inline constexpr char kNoAnswer = '\0';

/// The first letter of the word that `line` answers with. Spaces around it do not count, case
/// neither; anything else than the letter or the word is no answer.
std::optional<char> answer_in(std::string_view line, const Answers& answers);
/// "Type c, d, r or k. Enter means k."
std::string answers_words(const Answers& answers);
/// Breaks a question so that it fits a terminal of so many columns: between choices, which two
/// spaces part, otherwise between words.
std::string folded(std::string_view question, std::size_t columns);

/// Prints the question (to stderr) and reads lines until one is an answer, which is returned as its
/// letter, or kNoAnswer. What was typed before the question came is thrown away: it was meant for
/// something else.
char ask(Context& context, const std::string& question, const Answers& answers);
/// A question that ends with "(y/n)": true for y or yes alone.
bool confirm(Context& context, const std::string& question);

}  // namespace unwrite::cli
