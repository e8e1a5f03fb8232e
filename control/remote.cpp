#include "control/remote.h"

#include <utility>

#include "control/asking.h"

namespace unwrite::control {

using overlay::Asker;
using overlay::Moved;
using overlay::Node;

Result<std::unique_ptr<Remote>> Remote::connect(const MountPoint& mount, Patience patience) {
    auto remote = std::unique_ptr<Remote>(new Remote(mount));
    remote->be_patient(std::move(patience));
    // Whoever asks who it is asks something else at once.
    remote->daemon_.keep(true);
    TRY_ASSIGN(remote->info_, remote->ask_for<DaemonInfo>("info", Json::object()));
    remote->daemon_.keep(false);
    return remote;
}

Result<Json> Remote::ask(const std::string& command, Json arguments) {
    return daemon_.ask(command, std::move(arguments), patience_);
}

template <class T>
Result<T> Remote::ask_for(const std::string& command, Json arguments) {
    TRY_ASSIGN(const Json json, ask(command, std::move(arguments)));
    T value;
    TRY(decode(json, value));
    return value;
}

Result<> Remote::stop() {
    TRY(ask("stop", Json::object()));
    return {};
}

Result<std::uint64_t> Remote::journal_bytes() {
    TRY_ASSIGN(const Json json, ask("size", Json::object()));
    std::uint64_t bytes = 0;
    TRY(Fields(json).get("bytes", bytes).done());
    return bytes;
}

Result<> Remote::note_answered() {
    TRY(ask("answered", Json::object()));
    return {};
}

Result<Node> Remote::checkpoint(const Asker& asker, overlay::NodeKind kind, const std::string& name,
                                const std::string& text) {
    Json arguments = encode(asker);
    Node node;
    node.kind = kind;
    arguments["kind"] = encode(node)["kind"];
    arguments["name"] = encode_bytes(name);
    arguments["text"] = encode_bytes(text);
    return ask_for<Node>("checkpoint", std::move(arguments));
}

Result<Node> Remote::begin_run(const Asker& asker, const std::string& text) {
    Json arguments = encode(asker);
    arguments["pid"] = asker.pid;
    arguments["text"] = encode_bytes(text);
    return ask_for<Node>("begin_run", std::move(arguments));
}

Result<Node> Remote::adopt(const Asker& asker, const std::string& text) {
    Json arguments = encode(asker);
    arguments["pid"] = asker.pid;
    arguments["text"] = encode_bytes(text);
    return ask_for<Node>("adopt", std::move(arguments));
}

Result<> Remote::end_run(overlay::NodeNumber run) {
    TRY(ask("end_run", Json{{"run", run}}));
    return {};
}

Result<Moved> Remote::rollback(const Asker& asker, const std::string& node, bool pop,
                               overlay::Consent consent) {
    Json arguments = encode(asker);
    arguments["node"] = encode_bytes(node);
    arguments["pop"] = pop;
    arguments["consent"] = consent_word(consent);
    return ask_for<Moved>("rollback", std::move(arguments));
}

Result<Moved> Remote::undo(const Asker& asker, unsigned count, overlay::Consent consent) {
    Json arguments = encode(asker);
    arguments["count"] = count;
    arguments["consent"] = consent_word(consent);
    return ask_for<Moved>("undo", std::move(arguments));
}

Result<Moved> Remote::revert(const Asker& asker, const std::string& what, bool dry_run) {
    Json arguments = encode(asker);
    arguments["what"] = encode_bytes(what);
    arguments["dry_run"] = dry_run;
    return ask_for<Moved>("revert", std::move(arguments));
}

Result<Moved> Remote::redo(const Asker& asker, unsigned count, overlay::Consent consent) {
    Json arguments = encode(asker);
    arguments["count"] = count;
    arguments["consent"] = consent_word(consent);
    return ask_for<Moved>("redo", std::move(arguments));
}

Result<Moved> Remote::discard(const Asker& asker, bool purge, overlay::Consent consent) {
    Json arguments = encode(asker);
    arguments["purge"] = purge;
    arguments["consent"] = consent_word(consent);
    return ask_for<Moved>("discard", std::move(arguments));
}

Result<Node> Remote::commit(const Asker& asker, const std::string& text, bool keep_history) {
    Json arguments = encode(asker);
    arguments["text"] = encode_bytes(text);
    arguments["keep_history"] = keep_history;
    return ask_for<Node>("commit", std::move(arguments));
}

Result<overlay::Decided> Remote::decide(const Asker& asker, const overlay::Decision& decision,
                                        bool dry_run) {
    Json arguments = encode(asker);
    arguments.update(encode(decision));
    arguments["dry_run"] = dry_run;
    return ask_for<overlay::Decided>("decide", std::move(arguments));
}

Result<Moved> Remote::restore_paths(const Asker& asker, const std::vector<std::string>& paths,
                                    const std::string& node, bool dry_run) {
    Json arguments = encode(asker);
    arguments["paths"] = encode_texts(paths);
    arguments["node"] = encode_bytes(node);
    arguments["dry_run"] = dry_run;
    return ask_for<Moved>("restore_paths", std::move(arguments));
}

Result<overlay::Status> Remote::status(const std::string& since, bool count_lines) {
    return ask_for<overlay::Status>(
        "status", Json{{"since", encode_bytes(since)}, {"count_lines", count_lines}});
}

Result<overlay::Counted> Remote::count() {
    return ask_for<overlay::Counted>("count", Json::object());
}

Result<overlay::Counted> Remote::count(const MountPoint& mount, const Patience& patience) {
    TRY_ASSIGN(const Json json, Conversation(mount).ask("count", Json::object(), patience));
    overlay::Counted counted;
    TRY(decode(json, counted));
    return counted;
}

Result<overlay::Log> Remote::log(const std::string& path, bool all, bool changes) {
    return ask_for<overlay::Log>(
        "log", Json{{"path", encode_bytes(path)}, {"all", all}, {"changes", changes}});
}

Result<std::vector<overlay::FileDiff>> Remote::diff(const std::string& from, const std::string& to,
                                                    const std::vector<std::string>& paths,
                                                    bool text) {
    TRY_ASSIGN(const Json json, ask("diff", Json{{"from", encode_bytes(from)},
                                                 {"to", encode_bytes(to)},
                                                 {"paths", encode_texts(paths)},
                                                 {"text", text}}));
    std::vector<overlay::FileDiff> diffs;
    TRY(Fields(json).get_list("files", diffs).done());
    return diffs;
}

Result<overlay::NodeNumber> Remote::marked() {
    TRY_ASSIGN(const Json json, ask("marked", Json::object()));
    overlay::NodeNumber node = 0;
    TRY(Fields(json).get("node", node).done());
    return node;
}

Result<std::vector<Node>> Remote::trunk(overlay::NodeNumber from, std::size_t most) {
    TRY_ASSIGN(const Json json, ask("trunk", Json{{"from", from}, {"most", most}}));
    std::vector<Node> nodes;
    TRY(Fields(json).get_list("nodes", nodes).done());
    return nodes;
}

Result<std::vector<std::string>> Remote::marks(const std::vector<std::string>& paths) {
    TRY_ASSIGN(const Json json, ask("marks", Json{{"paths", encode_texts(paths)}}));
    std::vector<std::string> marks;
    TRY(Fields(json).get("marks", marks).done());
    return marks;
}

Result<overlay::Collected> Remote::gc(const overlay::Retention& retention) {
    return ask_for<overlay::Collected>("gc", encode(retention));
}

Result<overlay::Checked> Remote::check(bool repair) {
    return ask_for<overlay::Checked>("check", Json{{"repair", repair}});
}

Result<> Remote::recover() {
    TRY(ask("recover", Json::object()));
    return {};
}

}  // namespace unwrite::control
