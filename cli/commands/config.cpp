// config, config get, set, unset, edit: the configuration in force, and the workspace's own file,
// which the mount hides. The daemon reads and writes it where there is one, for the user alone.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/near_words.h"
#include "base/syscalls.h"
#include "cli/agreement.h"
#include "cli/commands/commands.h"
#include "cli/config_keys.h"
#include "cli/config_store.h"
#include "cli/config_text.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/prompt.h"
#include "cli/screen/hand_over.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct ConfigOptions {
    std::string key;
    std::string value;
    bool yes = false;
};

/// The workspace's file, through the daemon or beside the state directory.
class Store {
 public:
    static Result<Store> open(const std::string& directory) {
        Store store;
        Result<Workspace> mounted = Workspace::open_mounted(directory);
        if (mounted) {
            store.workspace_ = *std::move(mounted);
            return store;
        }
        const std::string root = state_above(directory);
        const bool none = mounted.error().kind() == ErrorKind::kNoWorkspace &&
                          (mounted.error().number() == ENOENT || !root.empty());
        if (!none) return mounted.error();
        TRY_ASSIGN(store.raw_,
                   sys::open_at(AT_FDCWD, root.empty() ? directory : root, O_RDONLY | O_DIRECTORY));
        return store;
    }
    bool is_mounted() const { return workspace_.has_value(); }
    Result<std::string> text() {
        return workspace_ ? workspace_->remote()->config_text() : read_workspace_config(raw_.get());
    }
    /// Answers with the rules that are about no name in the workspace.
    Result<std::vector<overlay::RuleShown>> replace(const std::string& before,
                                                    const std::string& text) {
        if (workspace_) return workspace_->remote()->set_config(before, text);
        TRY(replace_workspace_config(raw_.get(), before, text,
                                     [](const Config&) { return Result<>(); }));
        return std::vector<overlay::RuleShown>();
    }

 private:
    std::optional<Workspace> workspace_;
    UniqueFd raw_;
};

/// A value in force, and where it is from.
struct Setting {
    std::string key;
    std::string value;   ///< as TOML
    std::string source;  ///< "default" or "FILE:LINE"
};

/// `held_back`: keys that are not in force.
Result<> overlay_file(std::vector<Setting>& settings, const std::string& text,
                      const std::string& file, bool own,
                      const std::vector<std::string>& held_back) {
    TRY_ASSIGN(const std::vector<ConfigEntry> entries, entries_of(text));
    for (const ConfigEntry& entry : entries) {
        if (std::find(held_back.begin(), held_back.end(), entry.key) != held_back.end()) continue;
        const std::string source = fmt::format("{}:{}", file, entry.line);
        const ConfigKey* key = config_key(entry.key);
        if (key == nullptr) {
            if (!own && entry.key.starts_with("agents.")) continue;
            settings.push_back({entry.key, entry.value, source});
        } else if (own || key->counts != Counts::kOwnFile) {
            const auto found = std::find_if(settings.begin(), settings.end(),
                                            [&](const Setting& s) { return s.key == entry.key; });
            if (found != settings.end()) *found = {entry.key, entry.value, source};
        }
    }
    return {};
}

/// What holds with `text` as the workspace's file; rules of both files are listed one by one.
Result<std::vector<Setting>> settings_with(const std::string& text,
                                           const std::vector<std::string>& held_back = {}) {
    TRY(check_workspace_config(text));
    std::vector<Setting> settings;
    for (const ConfigKey& key : config_keys()) {
        if (key.counts != Counts::kInRule)
            settings.push_back({std::string(key.name), std::string(key.standard), "default"});
    }
    TRY_ASSIGN(const UserFile own, read_user_config());
    TRY(overlay_file(settings, own.text, own.file, true, {}));
    TRY(overlay_file(settings, text, kWorkspaceConfig, false, held_back));
    const auto find = [&](const char* key) {
        return std::find_if(settings.begin(), settings.end(),
                            [&](const Setting& setting) { return setting.key == key; });
    };
    // Without a word about them, databases follow `bind`.
    const auto databases = find("policy.databases");
    if (databases->source == "default") databases->value = find("policy.bind")->value;
    return settings;
}

/// As people write it: the words of a text without their quotes.
std::string bare(const std::string& value) {
    const bool quoted = value.size() >= 2 && value[0] == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

control::Json encode_setting(const Setting& setting) {
    const ConfigKey* key = config_key(setting.key);
    return {{"key", setting.key},
            {"value", control::encode_bytes(bare(setting.value))},
            {"source", control::encode_bytes(setting.source)},
            {"takes", key != nullptr ? std::string(key->values) : ""},
            {"next_mount", key != nullptr && key->counts == Counts::kNextMount}};
}

Result<int> show(Context& context, const ConfigOptions& /*options*/) {
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string text, store.text());
    TRY_ASSIGN(const Config config, load_config_with(text));
    TRY_ASSIGN(const std::vector<Setting> settings, settings_with(text, config.held_back));
    control::Json list = control::Json::array();
    std::size_t width = 0;
    for (const Setting& setting : settings)
        width =
            std::max(width, std::min<std::size_t>(setting.key.size() + setting.value.size(), 50));
    for (const Setting& setting : settings) {
        list.push_back(encode_setting(setting));
        if (context.json) continue;
        const std::string line = setting.key + " = " + harmless(setting.value);
        context.out.line(fmt::format("{:<{}}  {}", line, width + 3, harmless(setting.source)));
    }
    if (context.json) {
        context.out.line(
            control::dump(control::Json{{"settings", list}, {"held_back", config.held_back}}));
    } else if (!config.held_back.empty()) {
        context.notes.line(std::string(kWorkspaceConfig) +
                           " would loosen your rules. Not in force: " + held_back_words(config));
        context.notes.line("hint: unwrite config agree");
    }
    return kDone;
}

Result<const ConfigKey*> key_of(const std::string& verb, const std::string& name) {
    const ConfigKey* key = config_key(name);
    if (key != nullptr && key->counts != Counts::kInRule) return key;
    if (name.starts_with("policy.rule")) {
        return Error(ErrorKind::kUsage, EINVAL, "config " + verb + ": rules have no single value",
                     "`unwrite policy show` lists the rules, `unwrite config edit` changes them");
    }
    return Error(ErrorKind::kUsage, EINVAL,
                 "config " + verb + ": unknown key \"" + harmless(name) + "\"." +
                     did_you_mean(nearest(name, settable_keys())),
                 "`unwrite config` lists the keys");
}

Result<int> get(Context& context, const ConfigOptions& options) {
    TRY(key_of("get", options.key));
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string text, store.text());
    TRY_ASSIGN(const Config config, load_config_with(text));
    TRY_ASSIGN(const std::vector<Setting> settings, settings_with(text, config.held_back));
    for (const Setting& setting : settings) {
        if (setting.key != options.key) continue;
        if (context.json) {
            context.out.line(control::dump(encode_setting(setting)));
        } else {
            context.out.line(harmless(bare(setting.value)));
        }
    }
    return kDone;
}

std::string value_in(const std::vector<Setting>& settings, const std::string& key) {
    for (const Setting& setting : settings) {
        if (setting.key == key) return setting.value;
    }
    return "";
}

/// Puts `text` in the place of `before` and says what that means.
Result<> change(Context& context, Store& store, const std::string& before,
                const std::string& text) {
    TRY_ASSIGN(const std::vector<Setting> old, settings_with(before));
    TRY_ASSIGN(const std::vector<Setting> fresh, settings_with(text));
    std::vector<std::string> later;
    for (const ConfigKey& key : config_keys()) {
        const std::string name(key.name);
        if (key.counts == Counts::kNextMount && value_in(old, name) != value_in(fresh, name))
            later.push_back(name);
    }
    TRY_ASSIGN(const std::vector<overlay::RuleShown> unmatched, store.replace(before, text));
    if (context.json) {
        context.out.line(control::dump(
            control::Json{{"next_mount", store.is_mounted() ? later : std::vector<std::string>()},
                          {"unmatched", control::encode_list(unmatched)}}));
        return {};
    }
    for (const overlay::RuleShown& rule : unmatched)
        context.notes.line(fmt::format("note: nothing here matches {} ({}) yet",
                                       quote_name(rule.pattern), harmless(rule.source)));
    if (store.is_mounted() && !later.empty())
        context.notes.line(
            fmt::format("{} takes effect at the next mount.", fmt::join(later, ", ")));
    return {};
}

Error own_file_only(const std::string& key, const std::string& file) {
    return Error(
        ErrorKind::kUsage, EINVAL,
        "config set: " + key + " is read from your own file only, not from the file of a workspace",
        "put it into " + quote_name(file));
}

/// A change agrees to the whole text, which the user may not have seen.
Result<> check_seen(const std::string& verb, const std::string& text) {
    TRY_ASSIGN(const Config config, load_config_with(text));
    if (config.held_back.empty()) return {};
    return Error(ErrorKind::kRefused, EPERM,
                 "config " + verb + ": " + kWorkspaceConfig +
                     " would loosen your rules, and you have not agreed to it yet: " +
                     held_back_words(config),
                 "`unwrite config agree` shows it, and asks");
}

Result<int> agree_to_it(Context& context, const ConfigOptions& options) {
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string text, store.text());
    TRY_ASSIGN(const Config config, load_config_with(text));
    if (config.held_back.empty()) {
        return Error(ErrorKind::kNothing, ENOENT,
                     "config agree: all of " + std::string(kWorkspaceConfig) + " is in force");
    }
    if (!context.json) {
        context.out.line(std::string(kWorkspaceConfig) + ":");
        std::string_view rest = text;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            context.out.line("  " + harmless(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        TRY(context.out.flush());
    }
    context.notes.line("This loosens your rules: " + held_back_words(config));
    if (!options.yes && !can_ask()) {
        return Error(ErrorKind::kUsage, EINVAL, "config agree: there is no terminal to ask on",
                     "unwrite config agree --yes");
    }
    if (!options.yes && !confirm(context, "Put it in force? (y/n)")) {
        context.notes.line("Nothing was changed.");
        return kNothingToDo;
    }
    TRY(change(context, store, text, text));
    if (!context.json) context.out.line("All of it is in force now.");
    return kDone;
}

Result<int> set(Context& context, const ConfigOptions& options) {
    TRY_ASSIGN(const ConfigKey* key, key_of("set", options.key));
    if (key->counts == Counts::kOwnFile) {
        TRY_ASSIGN(const UserFile own, read_user_config());
        return own_file_only(options.key, own.file);
    }
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string before, store.text());
    TRY(check_seen("set", before));
    const std::string value = toml_value(key->takes, options.value);
    Config ignored;
    if (!read_config(options.key + " = " + value, "", ignored)) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "config set: " + options.key + " cannot be \"" + harmless(options.value) +
                         "\"; it takes " + std::string(key->values),
                     "`unwrite config get " + options.key + "` shows the value in force");
    }
    TRY_ASSIGN(const std::string text, with_value(before, options.key, value));
    TRY(change(context, store, before, text));
    if (!context.json) context.out.line(options.key + " = " + harmless(value));
    return kDone;
}

Result<int> unset(Context& context, const ConfigOptions& options) {
    TRY(key_of("unset", options.key));
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string before, store.text());
    TRY_ASSIGN(const std::string text, without_value(before, options.key));
    // What goes may be what loosens.
    if (text != before) TRY(check_seen("unset", text));
    if (text == before) {
        return Error(
            ErrorKind::kNothing, ENOENT,
            "config unset: " + std::string(kWorkspaceConfig) + " does not set " + options.key);
    }
    TRY(change(context, store, before, text));
    if (!context.json) context.out.line(options.key + " is not set in the workspace any more");
    return kDone;
}

/// A directory that goes with what is in it, unless it is kept.
class Scratch {
 public:
    static Result<Scratch> make() {
        const char* tmp = std::getenv("TMPDIR");
        std::string name =
            std::string(tmp != nullptr && tmp[0] == '/' ? tmp : "/tmp") + "/unwrite-config-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
            return sys::last_error().with_context("cannot make " + name);
        return Scratch(std::move(name));
    }
    Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch() {
        std::error_code failure;
        if (!path_.empty()) std::filesystem::remove_all(path_, failure);
    }
    const std::string& path() const { return path_; }
    void keep() { path_.clear(); }

 private:
    explicit Scratch(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

constexpr const char* kNewFile =
    "# The configuration of this workspace. `unwrite config` lists the keys and their values.\n";

Result<int> edit(Context& context, const ConfigOptions& /*options*/) {
    TRY_ASSIGN(Store store, Store::open(context.base));
    TRY_ASSIGN(const std::string before, store.text());
    TRY_ASSIGN(Scratch scratch, Scratch::make());
    const std::string copy = scratch.path() + "/config.toml";
    const std::string first = before.empty() ? kNewFile : before;
    {
        TRY_ASSIGN(const UniqueFd file,
                   sys::open_at(AT_FDCWD, copy, O_WRONLY | O_CREAT | O_EXCL, 0600));
        TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(first)), 0));
    }
    for (;;) {
        TRY(screen::hand_over(screen::command_of({"VISUAL", "EDITOR"}, "vi"), {copy}, ""));
        TRY_ASSIGN(const std::string text, sys::read_file_at(AT_FDCWD, copy));
        if (text == first || text == before) {
            context.notes.line("Nothing was changed.");
            return kNothingToDo;
        }
        const Result<> changed = change(context, store, before, text);
        if (changed) return kDone;
        tell_failure(context, changed.error());
        if (can_ask() && confirm(context, "Edit it again? (y/n)")) continue;
        scratch.keep();
        return Error(changed.error().kind(), changed.error().number(),
                     "config edit: nothing was changed; your text is in " + quote_name(copy));
    }
}

}  // namespace

void add_config(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ConfigOptions>();
    CLI::App* config =
        add_command(app, context, "config", "Show or change the configuration", options, show);
    config->require_subcommand(0, 1);
    // Called after that of a command below it, which has the say.
    config->callback([&context, options, config] {
        if (!config->get_subcommands().empty()) return;
        context.verb = "config";
        context.action = [&context, options] { return show(context, *options); };
    });
    describe(
        *config,
        {.usage = "[COMMAND]",
         .examples = {{"unwrite config", "all values, and where each is set"},
                      {"unwrite config set policy.size_cap 50M", "in this workspace"}},
         .note = "A workspace has a file of its own, which the mount hides from agents. It wins "
                 "over yours, ~/.config/unwrite/unwrite.toml."});
    CLI::App* command =
        add_command(*config, context, "get", "Print the value of one key", options, get);
    command->add_option("KEY", options->key, "A key such as policy.size_cap")->required();
    describe(*command, {.usage = "KEY",
                        .examples = {{"unwrite config get durability", ""},
                                     {"unwrite config get policy.profile", ""}}});
    command = add_command(*config, context, "set", "Set one key for this workspace", options, set);
    command->add_option("KEY", options->key, "A key such as policy.size_cap")->required();
    command->add_option("VALUE", options->value, "Its new value")->required();
    describe(*command,
             {.usage = "KEY VALUE",
              .examples = {{"unwrite config set policy.profile none", "takes effect at once"},
                           {"unwrite config set gc.max_age_days 7", "at the next mount"}},
              .note = "It says so if the value only takes effect at the next mount."});
    command = add_command(*config, context, "unset", "Remove a key from this workspace's file",
                          options, unset);
    command->add_option("KEY", options->key, "A key such as policy.size_cap")->required();
    describe(*command, {.usage = "KEY",
                        .examples = {{"unwrite config unset policy.profile", ""},
                                     {"unwrite config unset durability", ""}}});
    command = add_command(*config, context, "agree",
                          "Put in force what loosens your rules in this workspace's file", options,
                          agree_to_it);
    command->add_flag("--yes", options->yes, "Do not ask");
    describe(*command, {.usage = "[OPTIONS]",
                        .examples = {{"unwrite config agree", "shows the file and asks"},
                                     {"unwrite -C ~/project config agree", "of another workspace"}},
                        .note = "The file may have come with a clone, or from an agent. You agree "
                                "to this text; another one asks again."});
    command = add_command(*config, context, "edit",
                          "Edit this workspace's file in $VISUAL or $EDITOR", options, edit);
    describe(*command, {.usage = "",
                        .examples = {{"unwrite config edit", "with your usual editor"},
                                     {"unwrite -C ~/project config edit", "of another workspace"}},
                        .note = "The file is checked before it takes effect."});
}

}  // namespace unwrite::cli
