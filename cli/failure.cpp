#include "cli/failure.h"

#include "cli/text.h"

namespace unwrite::cli {

namespace {

bool begins_with_verb(const std::string& text, const std::string& verb) {
    if (verb.empty() || !text.starts_with(verb) || text.size() == verb.size()) return false;
    const char next = text[verb.size()];
    return next == ':' || next == ' ';
}

/// A list, one entry a line, has no full stop behind it.
bool wants_full_stop(const std::string& text) {
    return !text.empty() && text.find('\n') == std::string::npos &&
           std::string_view(".?!:").find(text.back()) == std::string_view::npos;
}

}  // namespace

std::string failure_lines(const std::string& verb, const Error& error) {
    const std::string text = harmless(error.message());
    std::string lines = "unwrite";
    if (!verb.empty() && !begins_with_verb(text, verb)) lines += ' ' + verb + ':';
    if (verb.empty()) lines += ':';
    lines += ' ' + text + (wants_full_stop(text) ? ".\n" : "\n");
    if (!error.advice().empty()) lines += "hint: " + harmless(error.advice()) + '\n';
    return lines;
}

void tell_failure(Context& context, const Error& error) {
    context.notes.print(failure_lines(context.verb, error));
}

void tell_failure(Context& context, const std::string& text) {
    tell_failure(context, Error(ErrorKind::kSystem, 0, text));
}

}  // namespace unwrite::cli
