#include "overlay/editing_record.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/syscalls.h"
#include "edit/text_safety.h"
#include "edit/unified_patch.h"
#include "overlay/changes.h"
#include "overlay/origins.h"

namespace unwrite::overlay {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = " {\"begun\":";
constexpr std::string_view kEnded = " [ended ";
/// A request to the daemon holds a text of this size.
constexpr std::size_t kMaxText = 900000;
constexpr std::size_t kMaxNames = 120;
/// While a program appends to a file that is put back.
constexpr int kMostTries = 50;
constexpr int kAgainMs = 3;
/// Nodes that are read at once: few, and more the longer nothing is found.
constexpr std::size_t kFirstPage = 16;
constexpr std::size_t kLargestPage = 1024;

// Names are bytes, texts of JSON are not.
std::string encoded(const std::string& path) {
    std::string out;
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7f && byte != '%') {
            out += c;
        } else {
            out += '%';
            out += "0123456789abcdef"[byte >> 4];
            out += "0123456789abcdef"[byte & 15];
        }
    }
    return out;
}

std::optional<unsigned> digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    return std::nullopt;
}

std::optional<std::string> decoded(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        if (at + 2 >= text.size()) return std::nullopt;
        const auto high = digit(text[at + 1]);
        const auto low = digit(text[at + 2]);
        if (!high || !low) return std::nullopt;
        out += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return out;
}

const std::string* text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>()
                                                       : nullptr;
}

std::optional<EditRecord::File> file_of(const Json& json) {
    if (!json.is_object()) return std::nullopt;
    const std::string* path = text_of(json, "path");
    const std::string* after = text_of(json, "after");
    if (path == nullptr) return std::nullopt;
    const auto name = decoded(*path);
    if (!name || name->empty()) return std::nullopt;
    const Json size = json.value("size", Json(0));
    EditRecord::File file{*name, std::nullopt, json.value("existed", Json(false)) == Json(true),
                          size.is_number_unsigned() ? size.get<std::uint64_t>() : 0};
    if (after != nullptr) {
        file.after = digest_from(*after);
        if (!file.after) return std::nullopt;
    }
    return file;
}

bool ends_edit(std::string_view text) {
    return text.ends_with(']') && text.rfind(kEnded) != std::string_view::npos;
}

std::string names_of(const EditRecord& record) {
    std::string names;
    for (const EditRecord::File& file : record.files) {
        if (names.size() > kMaxNames) return names + ", ...";
        names += (names.empty() ? "" : ", ") + edit::displayed(file.path);
    }
    return names;
}

bool is_as_after(const edit::FileState& now, const EditRecord::File& file) {
    if (!file.after) return now.kind == edit::FileKind::kAbsent;
    return now.kind == edit::FileKind::kFile && digest_of(now.bytes) == *file.after;
}

bool is_as_after(EditFiles& files, const EditRecord::File& file) {
    const auto now = files.look(file.path);
    return now && is_as_after(*now, file);
}

// So it is, or somebody has appended to it since. Older records have no size.
bool begins_as_after(const edit::FileState& now, const EditRecord::File& file) {
    if (is_as_after(now, file)) return true;
    return file.after && file.size > 0 && now.kind == edit::FileKind::kFile &&
           now.bytes.size() > file.size &&
           digest_of(std::string_view(now.bytes).substr(0, file.size)) == *file.after;
}

bool begins_as_after(EditFiles& files, const EditRecord::File& file) {
    const auto now = files.look(file.path);
    return now && begins_as_after(*now, file);
}

// One edit that was begun and has no end.
class KilledEdit {
 public:
    KilledEdit(Operations& operations, const Asker& asker, EditFiles& files,
               const EditRecord& record, const Node& node)
        : operations_(operations),
          asker_(asker),
          files_(files),
          record_(record),
          node_(node),
          before_("n" + std::to_string(node.number)) {}

    Result<std::vector<std::string>> take_back();

 private:
    std::string session_of(OriginNumber number) const;
    Result<> restore(const std::vector<std::string>& paths) {
        const auto moved = operations_.restore_paths(asker_, paths, before_, false);
        return moved ? Result<>{} : Result<>{moved.error()};
    }
    Result<> learn_whose();
    bool is_its_own(const std::string& path) const;
    std::optional<std::string> bytes_before(const edit::FileState& now) const;
    bool put_back(const EditRecord::File& file) const;

    Operations& operations_;
    const Asker& asker_;
    EditFiles& files_;
    const EditRecord& record_;
    const Node& node_;
    const std::string before_;  // the state before it
    std::vector<Origin> origins_{};
    std::string session_{};  // whose edit it was
};

std::string KilledEdit::session_of(OriginNumber number) const {
    const auto found = std::find_if(origins_.begin(), origins_.end(),
                                    [&](const Origin& one) { return one.number == number; });
    return found == origins_.end() ? "user" : found->session;
}

// Reads the whole log, so it is for the rare case that something is left to take back.
Result<> KilledEdit::learn_whose() {
    TRY_ASSIGN(Log log, operations_.log("", false, false));
    origins_ = std::move(log.origins);
    session_ = session_of(node_.origin);
    return {};
}

// Any agent can make a step with any text. What others changed is not taken back on its word.
bool KilledEdit::is_its_own(const std::string& path) const {
    const auto foreseen = operations_.restore_paths(asker_, {path}, before_, true);
    if (!foreseen) return false;
    for (const Change& change : foreseen->changes) {
        for (const OriginNumber origin : change.origins) {
            if (session_of(origin) != session_) return false;
        }
    }
    return true;
}

// Nothing where the file differs in more than its text.
std::optional<std::string> KilledEdit::bytes_before(const edit::FileState& now) const {
    constexpr std::uint32_t others = kAspectMode | kAspectOwner | kAspectAcl | kAspectXattrs;
    const auto diffs = operations_.diff(before_, "", {now.path}, true);
    if (!diffs || diffs->size() != 1) return std::nullopt;
    const FileDiff& diff = diffs->front();
    if (diff.change.path != now.path || diff.change.kind != ChangeKind::kModified ||
        (diff.change.aspects & others) != 0)
        return std::nullopt;
    const auto patch = edit::parse_unified(diff.text);
    if (!patch || patch->size() != 1) return std::nullopt;
    const auto& hunks = patch->front().hunks;
    auto bytes = edit::apply_hunks(edit::reversed(hunks), now.bytes);
    const auto again = bytes ? edit::apply_hunks(hunks, *bytes) : bytes;
    return again && *again == now.bytes ? std::optional(*std::move(bytes)) : std::nullopt;
}

// By the daemon, so that whoever has the file open goes on with it (exchange.h); what was appended
// since stays. False where that cannot be: then it is restored, and a program that has it open
// writes to what was displaced.
bool KilledEdit::put_back(const EditRecord::File& file) const {
    std::string last;
    for (int tries = 0; tries < kMostTries; ++tries) {
        const auto now = files_.look(file.path);
        if (!now || !file.after || !begins_as_after(*now, file)) return false;
        if (tries > 0 && now->bytes == last) return false;  // the reason was another one
        last = now->bytes;
        const std::string tail =
            is_as_after(*now, file) ? std::string() : now->bytes.substr(file.size);
        auto bytes = bytes_before(*now);
        const bool is_glued = bytes && !bytes->empty() && bytes->back() != '\n' && !tail.empty();
        if (is_glued) return false;
        if (bytes) {
            const auto back = files_.put_back(file.path, digest_of(now->bytes), *bytes + tail);
            if (back) return true;
            const int number = back.error().number();
            if (number != ECANCELED && number != ESTALE) return false;
        }
        ::poll(nullptr, 0, kAgainMs);  // somebody writes to it in this moment
    }
    return false;
}

Result<std::vector<std::string>> KilledEdit::take_back() {
    const bool single = record_.files.size() < 2;
    std::vector<const EditRecord::File*> written;
    std::vector<std::string> to_restore;
    for (const EditRecord::File& file : record_.files) {
        const auto temporary = files_.temporary_of(file.path, record_.token);
        if (temporary) to_restore.push_back(*temporary);
        if (!single && begins_as_after(files_, file)) written.push_back(&file);
    }
    std::vector<std::string> taken_back;
    if (single && to_restore.empty()) return taken_back;
    TRY(learn_whose());
    std::erase_if(written, [this](const auto* file) { return !is_its_own(file->path); });
    std::erase_if(to_restore, [this](const std::string& path) { return !is_its_own(path); });
    for (const EditRecord::File* file : written) {
        const bool is_back = put_back(*file);
        // Somebody may have changed it in this moment.
        if (!is_back && !is_as_after(files_, *file)) continue;
        if (!is_back) to_restore.push_back(file->path);
        taken_back.push_back(file->path);
    }
    if (!to_restore.empty()) TRY(restore(to_restore));
    for (auto path = record_.directories.rbegin(); path != record_.directories.rend(); ++path) {
        if (files_.is_empty_directory(*path) && is_its_own(*path)) TRY(restore({*path}));
    }
    TRY(end_edit(operations_, asker_, record_, "took back a killed edit"));
    return taken_back;
}

struct Begun {
    Node node{};
    EditRecord record{};
};

// An edit looks for killed ones before it begins. So whatever comes before the newest mark of an
// edit, beginning or end, is settled, and nothing older is read.
Result<std::optional<Begun>> newest_without_end(Operations& operations) {
    bool newest = true;
    NodeNumber from = 0;
    std::size_t page = kFirstPage;
    do {
        TRY_ASSIGN(const std::vector<Node> nodes, operations.trunk(from, page));
        if (nodes.empty()) break;
        for (const Node& node : nodes) {
            if (ends_edit(node.text)) return std::optional<Begun>();
            if (auto record = record_of(node.text)) {
                // An edit of one file is whole by itself; only what the last one left is cleared
                // away.
                if (record->files.size() < 2 && !newest) return std::optional<Begun>();
                return std::optional(Begun{node, *std::move(record)});
            }
            newest = false;
        }
        from = nodes.back().parent;
        page = std::min(page * 4, kLargestPage);
    } while (from != 0);
    return std::optional<Begun>();
}

/// `tools`: the executable of the asker, which serves other connections and the user's commands as
/// well. `is_a_call`: the step says what a client called it.
std::string words_for(const Asker& asker, const Origin& origin, const std::string& tools,
                      bool is_a_call) {
    const bool user = origin.session == Origins::kUserName;
    if (origin.pid == asker.pid) return "this connection";
    const bool is_same_program = user && !tools.empty() && origin.executable == tools;
    if (is_same_program && is_a_call) return "another connection of these tools";
    if (is_same_program) return "the user or another connection of these tools (unwrite)";
    const std::string program = origin.executable.substr(origin.executable.rfind('/') + 1);
    return (user ? "the user" : edit::displayed(origin.session)) +
           (program.empty() ? "" : " (" + edit::displayed(program) + ")");
}

}  // namespace

std::string last_writer(Operations& operations, const Asker& asker, const std::string& path) {
    const auto log = operations.log(path, false, true);
    if (!log) return "";
    const std::string tools = sys::read_link(AT_FDCWD, "/proc/self/exe").value_or("");
    const auto whose = [&](const std::vector<Change>& changes, bool is_a_call) -> std::string {
        OriginNumber newest = 0;
        for (const Change& change : changes) {
            if (!concerns(change, path)) continue;
            for (const OriginNumber origin : change.origins)
                newest = std::max(newest, origin);
        }
        const auto found =
            std::find_if(log->origins.begin(), log->origins.end(),
                         [&](const Origin& origin) { return origin.number == newest; });
        if (newest == 0 || found == log->origins.end()) return "";
        return words_for(asker, *found, tools, is_a_call);
    };
    if (std::string who = whose(log->open_changes, false); !who.empty()) return who;
    for (const LogEntry& entry : log->entries) {
        const bool is_a_call = entry.node.tags.contains(kCauseTag);
        if (std::string who = whose(entry.changes, is_a_call); !who.empty()) return who;
    }
    return "";
}

std::string record_text(const std::string& verb, const EditRecord& record) {
    Json files = Json::array();
    for (const EditRecord::File& file : record.files) {
        files.push_back({{"path", encoded(file.path)},
                         {"after", file.after ? Json(to_text(*file.after)) : Json()},
                         {"existed", file.existed},
                         {"size", file.size}});
    }
    Json directories = Json::array();
    for (const std::string& path : record.directories)
        directories.push_back(encoded(path));
    const Json begun{{"token", record.token}, {"files", files}, {"directories", directories}};
    return verb + " " + names_of(record) + " " + Json{{"begun", begun}}.dump();
}

std::string words_of_step(std::string_view text) {
    if (record_of(text)) return std::string(text.substr(0, text.rfind(kMark)));
    if (ends_edit(text)) return std::string(text.substr(0, text.rfind(kEnded)));
    return std::string(text);
}

std::optional<EditRecord> record_of(std::string_view text) {
    // Inside of a JSON string the quotes of the mark would be escaped.
    const std::size_t mark = text.rfind(kMark);
    if (mark == std::string_view::npos) return std::nullopt;
    const Json json = Json::parse(text.substr(mark + 1), nullptr, /*allow_exceptions=*/false);
    const auto found = json.is_object() ? json.find("begun") : json.end();
    if (!json.is_object() || found == json.end() || !found->is_object()) return std::nullopt;
    const Json& begun = *found;
    const std::string* token = text_of(begun, "token");
    if (token == nullptr || token->empty() || !begun.contains("files")) return std::nullopt;
    const auto is_digit = [](char c) { return digit(c).has_value(); };
    if (!std::all_of(token->begin(), token->end(), is_digit)) return std::nullopt;
    EditRecord record;
    record.token = *token;
    for (const Json& item : begun["files"]) {
        auto file = file_of(item);
        if (!file) return std::nullopt;
        record.files.push_back(*std::move(file));
    }
    if (begun.contains("directories")) {
        for (const Json& item : begun["directories"]) {
            const auto path = item.is_string() ? decoded(item.get<std::string>()) : std::nullopt;
            if (!path) return std::nullopt;
            record.directories.push_back(*path);
        }
    }
    return record;
}

Result<> begin_edit(Operations& operations, const Asker& asker, const std::string& verb,
                    const EditRecord& record) {
    const std::string text = record_text(verb, record);
    if (text.size() > kMaxText) {
        return Error(ErrorKind::kUsage, E2BIG,
                     "The edit changes " + std::to_string(record.files.size()) +
                         " files, more than one edit can",
                     "split it");
    }
    const auto node = operations.checkpoint(asker, NodeKind::kBegin, "", text);
    return node ? Result<>{} : Result<>{node.error()};
}

Result<> end_edit(Operations& operations, const Asker& asker, const EditRecord& record,
                  const std::string& outcome) {
    const std::string text =
        outcome + " " + names_of(record) + std::string(kEnded) + record.token + "]";
    const auto node = operations.checkpoint(asker, NodeKind::kStep, "", text);
    return node ? Result<>{} : Result<>{node.error()};
}

Result<std::vector<std::string>> finish_killed_edits(Operations& operations, const Asker& asker,
                                                     EditFiles& files) {
    TRY_ASSIGN(const auto begun, newest_without_end(operations));
    if (!begun) return std::vector<std::string>();
    return KilledEdit(operations, asker, files, begun->record, begun->node).take_back();
}

}  // namespace unwrite::overlay
