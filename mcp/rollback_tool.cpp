#include "mcp/rollback_tool.h"

#include <algorithm>
#include <map>
#include <set>

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/encode.h"
#include "mcp/schema.h"
#include "overlay/origins.h"

namespace unwrite::mcp {

namespace {

using overlay::Consent;

constexpr const char* kDryRun = "dry_run";

std::string name_of(overlay::NodeNumber number) {
    return "n" + std::to_string(number);
}

// Who made each change, by names that a person knows.
class Owners {
 public:
    Owners(const overlay::Log& log, const overlay::Asker& self) {
        for (const overlay::Origin& origin : log.origins) {
            const bool user = origin.session == overlay::Origins::kUserName;
            const bool own_run = origin.agent && !user && origin.session == self.session;
            is_run_ |= own_run;
            std::string name = edit::displayed(origin.session);
            const std::string program = origin.executable.substr(origin.executable.rfind('/') + 1);
            if (user) name = "the user (" + edit::displayed(program) + ")";
            if (user && origin.pid == self.pid) name = "this connection";
            if (own_run) name = "this run";
            names_[origin.number] = std::move(name);
        }
    }

    /// The daemon lets an agent of a run take back nobody else's work.
    bool is_run() const { return is_run_; }
    std::string of(const overlay::Origin& origin) const {
        const auto found = names_.find(origin.number);
        return found == names_.end() ? edit::displayed(origin.session) : found->second;
    }
    std::vector<std::string> of(const overlay::Change& change) const {
        std::set<std::string> names;
        for (const overlay::OriginNumber number : change.origins) {
            if (const auto owner = names_.find(number); owner != names_.end())
                names.insert(owner->second);
        }
        return {names.begin(), names.end()};
    }

 private:
    std::map<overlay::OriginNumber, std::string> names_{};
    bool is_run_ = false;
};

struct Wanted {
    std::string to{};
    bool dry_run = false;
    bool include_others = false;
};

Result<Wanted> wanted_of(const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"to", kDryRun, "include_others"}));
    Wanted wanted;
    TRY_ASSIGN(wanted.to, arguments.name("to"));
    TRY_ASSIGN(wanted.dry_run, arguments.flag(kDryRun));
    TRY_ASSIGN(wanted.include_others, arguments.flag("include_others"));
    return wanted;
}

/// What a rollback would do, and to whose work.
struct Prospect {
    overlay::Moved moved{};
    std::string target{};    ///< "n3 (name)"
    bool is_before = false;  ///< before this connection began, whoever did it
    Owners owners;

    bool takes_others() const { return !moved.others.empty() || !moved.behind.empty(); }
    bool is_refused(const Wanted& wanted) const {
        return wanted.include_others ? owners.is_run() && takes_others()
                                     : is_before || takes_others();
    }
};

/// Outside a run the server has the session of the user. What other processes changed in that
/// session is not this connection's, though the daemon counts it as the asker's own.
void note_users(const overlay::Log& log, std::int64_t self, overlay::Moved& foreseen) {
    std::set<overlay::OriginNumber> touched;
    for (const overlay::Change& change : foreseen.changes)
        touched.insert(change.origins.begin(), change.origins.end());
    for (const overlay::Origin& origin : foreseen.others)
        touched.erase(origin.number);
    for (const overlay::Origin& origin : log.origins) {
        const bool users = origin.session == overlay::Origins::kUserName && origin.pid != self;
        if (users && touched.contains(origin.number)) foreseen.others.push_back(origin);
    }
}

std::string target_of(const overlay::Log& log, overlay::NodeNumber number) {
    for (const overlay::LogEntry& entry : log.entries) {
        if (entry.node.number == number && !entry.node.name.empty())
            return name_of(number) + " (" + edit::displayed(entry.node.name) + ")";
    }
    return name_of(number);
}

Error without_checkpoint(const ToolSession& session, const Error& error) {
    return {error.kind(), error.number(),
            "There is no checkpoint to go back to. This connection began at " +
                name_of(session.first_node) + ".",
            "Call rollback with to \"" + name_of(session.first_node) +
                "\", where this connection began, or call log for the other nodes."};
}

Result<Prospect> foresee(const ToolSession& session, Room& room, const Wanted& wanted) {
    const overlay::Asker asker = asker_of(session, room);
    auto moved = room.operations().rollback(asker, wanted.to, false, Consent::kNone);
    if (!moved) {
        const bool none = moved.error().kind() == ErrorKind::kNotFound && wanted.to.empty();
        return none ? without_checkpoint(session, moved.error()) : moved.error();
    }
    TRY_ASSIGN(const overlay::Log log, room.operations().log("", true, false));
    note_users(log, asker.pid, *moved);
    Prospect prospect{.target = target_of(log, moved->to), .owners = Owners(log, asker)};
    prospect.is_before = session.first_node != 0 && moved->to < session.first_node;
    prospect.moved = *std::move(moved);
    return prospect;
}

std::string lines_with_owners(const Prospect& prospect) {
    std::string text;
    for (const overlay::Change& change : prospect.moved.changes) {
        std::string line = lines_of({change});
        std::string names;
        for (const std::string& name : prospect.owners.of(change))
            names += (names.empty() ? ", by " : " and ") + name;
        line.insert(line.find_last_not_of('\n') + 1, names);
        text += line;
        if (text.size() > kMaxText) return cut(text);
    }
    return text;
}

std::vector<std::string> others_of(const Prospect& prospect) {
    std::set<std::string> names;
    for (const overlay::Origin& origin : prospect.moved.others)
        names.insert(prospect.owners.of(origin));
    return {names.begin(), names.end()};
}

std::string lines_of_others(const ToolSession& session, const Prospect& prospect) {
    std::string text;
    for (const std::string& name : others_of(prospect))
        text += "Only with include_others: what was changed by " + name + "\n";
    for (const std::string& path : prospect.moved.behind)
        text +=
            "Only with include_others: what changed outside the mount: " + edit::displayed(path) +
            "\n";
    if (prospect.is_before)
        text += "Only with include_others: what is from before this connection began, at " +
                name_of(session.first_node) + "\n";
    return text;
}

Json members_of(const Prospect& prospect, const overlay::Moved& moved) {
    Json members = encode(moved);
    members["others"] = others_of(prospect);
    members["changes"] = encode(prospect.moved.changes);
    for (std::size_t i = 0; i < members["changes"].size(); ++i)
        members["changes"][i]["by"] = prospect.owners.of(prospect.moved.changes[i]);
    return members;
}

// What the model does when it may not go there by itself.
std::string way_on(const ToolSession& session, const Prospect& prospect) {
    const std::string to = name_of(prospect.moved.to);
    if (prospect.owners.is_run() && prospect.takes_others())
        return "Only the user can take back the work of others. Ask them to run `unwrite "
               "rollback " +
               to + "`.";
    const std::string ask =
        "sk the user. If they agree, call rollback again with include_others true.";
    const std::string first = name_of(session.first_node);
    if (!prospect.is_before) return "A" + ask;
    return "Call rollback with to \"" + first +
           "\" to take back only what was done since this connection began. To go further back, a" +
           ask;
}

ToolAnswer refused(const ToolSession& session, const Prospect& prospect) {
    overlay::Moved nothing = prospect.moved;
    nothing.from = 0;
    const Json members = members_of(prospect, nothing);
    const std::string next = way_on(session, prospect);
    if (!prospect.takes_others()) {
        return told(true,
                    "Nothing was done: " + prospect.target +
                        " is from before this connection began, at " + name_of(session.first_node) +
                        ".",
                    next, members);
    }
    return told(true,
                "Nothing was done: a rollback to " + prospect.target +
                    " would also take back what others changed:\n" + lines_with_owners(prospect) +
                    lines_of_others(session, prospect),
                next, members);
}

ToolAnswer dry(const ToolSession& session, const Prospect& prospect, const Wanted& wanted) {
    const bool refused = prospect.is_refused(wanted);
    std::string next = "Call rollback without dry_run to do it.";
    if (refused) next = "Without dry_run this would be refused. " + way_on(session, prospect);
    const std::string lines = lines_with_owners(prospect);
    return told(false,
                "A rollback to " + prospect.target +
                    (lines.empty() ? " would change nothing.\n" : " would do this:\n" + lines) +
                    lines_of_others(session, prospect),
                next, members_of(prospect, prospect.moved));
}

Result<ToolAnswer> roll_back(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Wanted wanted, wanted_of(json));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const Prospect prospect, foresee(session, *room, wanted));
    if (wanted.dry_run) return dry(session, prospect, wanted);
    if (prospect.is_refused(wanted)) return refused(session, prospect);
    const Consent consent = wanted.include_others ? Consent::kAll : Consent::kOwn;
    TRY_ASSIGN(overlay::Moved moved,
               room->operations().rollback(asker_of(session, *room), wanted.to, false, consent));
    // Others changed something in this moment.
    if (moved.from == 0 && !(moved.others.empty() && moved.behind.empty())) {
        TRY_ASSIGN(const Prospect now, foresee(session, *room, wanted));
        return refused(session, now);
    }
    if (moved.from == moved.to) {
        moved.from = 0;
        return told(
            false,
            "There was nothing to do: the files are as they were at " + prospect.target + ".",
            "Go on. If you meant an earlier state, call log and give its node as to.",
            members_of(prospect, moved));
    }
    const std::string from = name_of(moved.from);
    return told(
        false,
        "Rolled back to " + prospect.target + ". What was before is " + from + ".\n" +
            lines_with_owners(prospect),
        "Call Read again before you edit a file. rollback to \"" + from + "\" takes this back.",
        members_of(prospect, moved));
}

}  // namespace

ToolAnswer call_rollback(ToolSession& session, const Json& arguments) {
    return with_log(roll_back(session, arguments));
}

bool is_dry_run(const Json& rollback) {
    return member(rollback, kDryRun) == Json(true);
}

Foreseen foresee_rollback(ToolSession& session, const Json& arguments,
                          const std::string& question) {
    const auto seen = [&]() -> Result<Foreseen> {
        TRY_ASSIGN(const Wanted wanted, wanted_of(arguments));
        TRY_ASSIGN(const auto room, session.enter());
        TRY_ASSIGN(const Prospect prospect, foresee(session, *room, wanted));
        if (prospect.is_refused(wanted)) return Foreseen{.refusal = refused(session, prospect)};
        const std::string all = question + "\n" + dry(session, prospect, wanted).text;
        return Foreseen{.text = shortened(all), .all = all};
    }();
    if (!seen) return {.refusal = with_log(seen.error())};
    return *seen;
}

Json rollback_description(const edit::Settings& /*settings*/) {
    return described(
        "Returns all files of the workspace to a checkpoint or node. It takes back what you wrote "
        "since, with any program. To reverse it, roll back to the node that the answer calls "
        "from.",
        object_schema(
            {{"to", typed("string",
                          "A checkpoint's name, \"n12\" or \"root\". Default: the "
                          "newest checkpoint.")},
             {kDryRun, typed("boolean", "Only say what would change, and whose it is.")},
             {"include_others", typed("boolean",
                                      "Also take back what others changed, and what "
                                      "changed outside the mount. Ask the user first.")}}),
        answer_schema(
            {{"from", or_null("string", "The node that leads back; null: nothing was done.")},
             {"to", typed("string", "The node that was meant.")},
             {"changes", changes_schema()},
             {"others", list_of(Json{{"type", "string"}}, "Whose work would be taken along.")},
             {"behind", list_of(Json{{"type", "string"}}, "What changed outside the mount.")}}));
}

}  // namespace unwrite::mcp
