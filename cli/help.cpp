#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

namespace unwrite::cli {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kWidestName = 26;

/// `text` broken at spaces so that it fits behind `indent` columns. Its own line ends stay.
std::string wrapped(const std::string& text, std::size_t indent) {
    std::string out;
    std::size_t column = indent;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!out.empty()) out += '\n' + std::string(indent, ' ');
        column = indent;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const bool first = column == indent;
            if (!first && column + 1 + word.size() > kWidth) {
                out += '\n' + std::string(indent, ' ');
                column = indent;
            } else if (!first) {
                out += ' ';
                ++column;
            }
            out += word;
            column += word.size();
        }
    }
    return out;
}

using Row = std::pair<std::string, std::string>;

/// A heading and two columns; nothing without rows.
std::string table(const std::string& heading, const std::vector<Row>& rows) {
    if (rows.empty()) return "";
    std::size_t name_width = 0;
    for (const auto& [name, about] : rows) {
        if (name.size() <= kWidestName) name_width = std::max(name_width, name.size());
    }
    const std::size_t indent = name_width + 4;
    std::string out = '\n' + heading + ":\n";
    for (const auto& [name, about] : rows) {
        out += "  " + name;
        if (about.empty()) {
            out += '\n';
            continue;
        }
        out += name.size() > name_width ? '\n' + std::string(indent, ' ')
                                        : std::string(indent - 2 - name.size(), ' ');
        out += wrapped(about, indent) + '\n';
    }
    return out;
}

std::string value_name(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type == "UINT" || type == "INT") return "N";
    return type.empty() ? "TEXT" : type;
}

std::string option_name(const CLI::Option& option) {
    std::string name;
    for (const std::string& flag : flags_of(option))
        name += (name.empty() ? "" : ", ") + flag;
    if (takes_value(option)) name += ' ' + value_name(option);
    return name;
}

std::vector<Row> arguments(const CLI::App& app) {
    std::vector<Row> rows;
    for (const CLI::Option* option : options_of(app)) {
        if (flags_of(*option).empty())
            rows.emplace_back(option->get_name(true), option->get_description());
    }
    return rows;
}

std::vector<Row> options(const CLI::App& app) {
    std::vector<Row> rows;
    for (const CLI::Option* option : options_of(app)) {
        if (!flags_of(*option).empty())
            rows.emplace_back(option_name(*option), option->get_description());
    }
    return rows;
}

std::string commands(const CLI::App& app) {
    std::string out;
    std::vector<std::string> groups;
    for (const CLI::App* command : commands_of(app)) {
        if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end())
            groups.push_back(command->get_group());
    }
    for (const std::string& group : groups) {
        std::vector<Row> rows;
        for (const CLI::App* command : commands_of(app)) {
            if (command->get_group() == group)
                rows.emplace_back(command->get_name(), command->get_description());
        }
        out += table(group == "Subcommands" ? "Commands" : group, rows);
    }
    return out;
}

std::string examples(const Help& help) {
    std::vector<Row> rows;
    for (const Example& example : help.examples)
        rows.emplace_back(example.line, example.meaning);
    std::size_t widest = 0;
    bool fits = true;
    for (const Row& row : rows)
        widest = std::max(widest, row.first.size());
    for (const Row& row : rows)
        fits = fits && widest + 4 + row.second.size() <= kWidth;
    if (rows.empty()) return "";
    std::string out = "\nExamples:\n";
    for (const auto& [line, meaning] : rows) {
        if (!fits && !meaning.empty()) out += "  # " + meaning + '\n';
        out += "  " + line;
        if (fits && !meaning.empty()) out += std::string(widest + 2 - line.size(), ' ') + meaning;
        out += '\n';
    }
    return out;
}

/// Keeps what describe() was given, because the parser's App has no place for it.
class HelpFormatter final : public CLI::Formatter {
 public:
    explicit HelpFormatter(Help help) : help_(std::move(help)) {}
    const Help& help() const { return help_; }
    std::string make_help(const CLI::App* app, std::string /*name*/,
                          CLI::AppFormatMode /*mode*/) const override {
        return help_text(*app);
    }

 private:
    Help help_;
};

}  // namespace

void describe(CLI::App& command, Help help) {
    command.formatter(std::make_shared<HelpFormatter>(std::move(help)));
    command.set_help_flag("-h,--help", "Show this help");
}

const Help* help_of(const CLI::App& command) {
    const auto formatter = std::dynamic_pointer_cast<HelpFormatter>(command.get_formatter());
    // A command takes over the formatter of the one above it.
    const CLI::App* above = command.get_parent();
    if (!formatter || (above != nullptr && above->get_formatter() == formatter)) return nullptr;
    return &formatter->help();
}

std::string full_name(const CLI::App& command) {
    const CLI::App* above = command.get_parent();
    return (above != nullptr ? full_name(*above) + ' ' : "") + command.get_name();
}

std::string verb_of(const CLI::App& command) {
    const std::string name = full_name(command);
    const std::size_t space = name.find(' ');
    return space == std::string::npos ? "" : name.substr(space + 1);
}

std::string help_text(const CLI::App& command) {
    static const Help kNone;
    const Help* described = help_of(command);
    const Help& help = described != nullptr ? *described : kNone;
    const std::string about = command.get_description();
    std::string out = wrapped(about, 0) + (about.ends_with('.') ? "\n\n" : ".\n\n");
    out += wrapped("Usage: " + full_name(command) + ' ' + help.usage, 0) + '\n';
    out += commands(command);
    out += table("Arguments", arguments(command));
    out += table("Options", options(command));
    out += examples(help);
    if (!help.note.empty()) out += '\n' + wrapped(help.note, 0) + '\n';
    return out;
}

std::vector<std::string> flags_of(const CLI::Option& option) {
    std::vector<std::string> flags;
    for (const std::string& name : option.get_snames())
        flags.push_back('-' + name);
    for (const std::string& name : option.get_lnames())
        flags.push_back("--" + name);
    return flags;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

}  // namespace unwrite::cli
