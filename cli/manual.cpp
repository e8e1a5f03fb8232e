#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "cli/help.h"

namespace unwrite::cli {

namespace {

std::string all_flags(const CLI::App& app) {
    std::string words;
    for (const CLI::Option* option : options_of(app)) {
        for (const std::string& flag : flags_of(*option))
            words += (words.empty() ? "" : " ") + flag;
    }
    return words;
}

std::string all_commands(const CLI::App& app) {
    std::string words;
    for (const CLI::App* command : commands_of(app))
        words += (words.empty() ? "" : " ") + command->get_name();
    return words;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// In single quotes, for a shell of any kind.
std::string quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text)
        safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return safe + '\'';
}

// What follows "--" belongs to another program; what is no option is a file or the shell's own
// guess.
constexpr const char* kBash = R"(# bash completion for unwrite; made by `unwrite completion bash`
_unwrite() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command= words i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${{COMP_WORDS[i]}} in
            -C) ((i++)) ;;
            --) return ;;
            -*) ;;
            *) command="$command${{command:+ }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    case $command in
        '') words={} ;;
{}    esac
    if [[ -z $command || $current == -* || $command == git ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
}}
complete -o default -F _unwrite unwrite
)";

std::string bash_script(const CLI::App& app) {
    std::string cases;
    const auto add = [&cases](const std::string& name, const std::string& words) {
        cases += fmt::format("        '{}' | '{} '*) words='{}' ;;\n", name, name, words);
    };
    for (const CLI::App* command : commands_of(app)) {
        for (const CLI::App* below : commands_of(*command))
            add(command->get_name() + ' ' + below->get_name(), all_flags(*below));
        const std::string below = all_commands(*command);
        add(command->get_name(), all_flags(*command) + (below.empty() ? "" : ' ' + below));
    }
    return fmt::format(kBash, quoted(all_commands(app) + ' ' + all_flags(app)), cases);
}

constexpr const char* kZsh = R"(#compdef unwrite
# zsh completion for unwrite; made by `unwrite completion zsh`
_unwrite() {{
    local -a commands
    commands=(
{}    )
    local i command=
    for ((i = 2; i < CURRENT; i++)); do
        case ${{words[i]}} in
            -C) ((i++)) ;;
            --) _normal; return ;;
            -*) ;;
            *) command=${{words[i]}}; break ;;
        esac
    done
    local -a flags
    case $command in
        '') _describe command commands; return ;;
{}    esac
    if [[ ${{words[CURRENT]}} == -* ]]; then
        _describe option flags
    else
        _files
    fi
}}
_unwrite "$@"
)";

std::string zsh_entry(const std::string& word, const std::string& about) {
    std::string name = word;
    for (std::size_t at = 0; (at = name.find(':', at)) != std::string::npos; at += 2)
        name.insert(at, "\\");
    return quoted(name + ':' + first_line(about));
}

std::string zsh_script(const CLI::App& app) {
    std::string commands;
    std::string cases;
    for (const CLI::App* command : commands_of(app)) {
        commands += "        " + zsh_entry(command->get_name(), command->get_description()) + '\n';
        std::string flags;
        for (const CLI::Option* option : options_of(*command)) {
            for (const std::string& flag : flags_of(*option))
                flags += "            " + zsh_entry(flag, option->get_description()) + '\n';
        }
        cases += fmt::format("        {}) flags=(\n{}        ) ;;\n", command->get_name(), flags);
    }
    return fmt::format(kZsh, commands, cases);
}

std::string fish_options(const CLI::App& app, const std::string& condition) {
    std::string text;
    for (const CLI::Option* option : options_of(app)) {
        if (flags_of(*option).empty()) continue;
        text += "complete -c unwrite" + condition;
        for (const std::string& name : option->get_snames())
            text += " -s " + name;
        for (const std::string& name : option->get_lnames())
            text += " -l " + name;
        if (takes_value(*option)) text += " -r";
        text += " -d " + quoted(first_line(option->get_description())) + '\n';
    }
    return text;
}

std::string fish_script(const CLI::App& app) {
    std::string text = "# fish completion for unwrite; made by `unwrite completion fish`\n";
    text += fish_options(app, "");
    for (const CLI::App* command : commands_of(app)) {
        text += "complete -c unwrite -n __fish_use_subcommand -a " + command->get_name() + " -d " +
                quoted(first_line(command->get_description())) + '\n';
        text += fish_options(*command,
                             " -n '__fish_seen_subcommand_from " + command->get_name() + '\'');
    }
    return text;
}

/// Text for man(7): nothing in it is taken for a request or an escape.
std::string roff(const std::string& text) {
    std::string safe;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
        line_begins = c == '\n';
        if (c == '\\') {
            safe += "\\e";
        } else if (c == '-') {
            safe += "\\-";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string roff_options(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : options_of(app)) {
        std::string names;
        for (const std::string& flag : flags_of(*option))
            names += (names.empty() ? "" : ", ") + flag;
        if (names.empty()) names = option->get_name(true);
        const bool named = !flags_of(*option).empty();
        if (named && takes_value(*option)) names += ' ' + option->get_type_name();
        text += ".TP\n.B " + roff(names) + '\n' + roff(option->get_description()) + '\n';
    }
    return text;
}

std::string roff_examples(const CLI::App& app) {
    const Help* help = help_of(app);
    if (help == nullptr) return "";
    std::string text = ".PP\n.nf\n";
    for (const Example& example : help->examples) {
        text += roff(example.line);
        if (!example.meaning.empty()) text += roff("  # " + example.meaning);
        text += '\n';
    }
    text += ".fi\n";
    if (!help->note.empty()) text += ".PP\n" + roff(help->note) + '\n';
    return text;
}

void add_command_section(std::string& text, const std::string& name, const CLI::App& command) {
    const Help* help = help_of(command);
    text += ".SS " + roff(name) + "\n.B unwrite " + roff(name);
    text += help == nullptr ? "\n.PP\n" : ' ' + roff(help->usage) + "\n.PP\n";
    text += roff(command.get_description()) + ".\n";
    text += roff_options(command) + roff_examples(command);
    for (const CLI::App* below : commands_of(command))
        add_command_section(text, name + ' ' + below->get_name(), *below);
}

constexpr const char* kExitCodes =
    "0 done; 1 failed; 2 the command line or the configuration is wrong; 3 nothing to do; 4 "
    "refused; 5 conflict with later changes; 6 no workspace here, or it is not mounted; 7 needs "
    "\"unwrite recover\". \"unwrite run\" returns the exit code of its command.";

}  // namespace

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
    if (shell == "bash") return bash_script(app);
    if (shell == "zsh") return zsh_script(app);
    if (shell == "fish") return fish_script(app);
    return Error(ErrorKind::kUsage, EINVAL, "completion " + shell + ": unknown shell",
                 "the shells are bash, zsh and fish");
}

std::string manual_page(const CLI::App& app) {
    std::string text = ".TH UNWRITE 1 \"\" \"unwrite " UNWRITE_VERSION "\"\n";
    text += ".SH NAME\nunwrite \\- take back anything that any process writes in a directory\n";
    text += ".SH SYNOPSIS\n.B unwrite\n[\\-C DIR] [\\-\\-json] COMMAND [OPTIONS]\n";
    text += ".SH DESCRIPTION\n" + roff(app.get_description()) + '\n';
    text += ".SH OPTIONS\n" + roff_options(app);
    text += ".SH COMMANDS\n";
    for (const CLI::App* command : commands_of(app))
        add_command_section(text, command->get_name(), *command);
    text += ".SH EXAMPLES\n" + roff_examples(app).substr(4);
    text += ".SH EXIT STATUS\n" + roff(kExitCodes) + '\n';
    return text;
}

}  // namespace unwrite::cli
