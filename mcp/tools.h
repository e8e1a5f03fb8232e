// The tools of an agent: what they are called, what they take, and their work. A tool never
// throws: whatever goes wrong is an answer with `failed`, whose text says what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/message.h"
#include "mcp/room.h"
#include "overlay/editing.h"

namespace unwrite::mcp {

/// Clients show their model either the text or the structured part, so both say everything.
struct ToolAnswer {
    bool failed = false;
    std::string text{};
    Json structured{};    ///< an object as the output schema says
    std::string facts{};  ///< a second text: what the first, whose words may be fixed, does not say
};

/// What revert_to_state needs of a session. The tool only notes requests.
struct Reverts {
    bool enabled = false;               ///< the tool is offered, and what waits is carried out
    bool waiting = true;                ///< something may wait, also from an earlier life
    bool asked = false;                 ///< this session asked for something that waits
    std::vector<std::string> events{};  ///< not told to the client yet
};

struct ToolSession {
    Enter enter;
    overlay::Editing editing;
    Reverts reverts{};
    overlay::NodeNumber first_node = 0;  ///< where the workspace was at the first call; 0: unknown
    bool has_read = false;               ///< some file
    std::string cause{};                 ///< overlay::Asker::cause, of the call that is carried out
};
/// Who asks the room, with what the client calls the call.
overlay::Asker asker_of(const ToolSession& session, const Room& room);

struct Tool {
    const char* name;
    const char* title;
    bool read_only;
    bool destructive;
    bool idempotent;
    ToolAnswer (*call)(ToolSession&, const Json& arguments);
    Json (*description)(
        const edit::Settings& settings);  ///< description, inputSchema and outputSchema
    bool opt_in = false;                  ///< only there when the server was started with it
    bool edits = false;                   ///< only there while tools.edit.enabled is true
};

/// In the order in which they are listed.
const std::vector<Tool>& tools();
/// By its name or its alias; null when there is none.
const Tool* find_tool(const std::string& name);
/// An entry of tools/list.
Json describe(const Tool& tool, const edit::Settings& settings);
/// False too for a call of rollback that is only to say what it would do.
bool changes_files(const Tool& tool, const Json& arguments);
/// What a call would do.
struct Foreseen {
    std::optional<ToolAnswer> refusal{};  ///< it cannot be done, so nobody need be asked
    bool changes = true;                  ///< false: nothing would change, nobody need be asked
    std::string text{};                   ///< what the user is shown
    std::string all{};                    ///< the same, whole: another text is another call
};
/// The beginning of a text that somebody is to read, in whole lines.
std::string shortened(const std::string& text);
/// Changes nothing.
Foreseen foresee(const Tool& tool, ToolSession& session, const Json& arguments);

ToolAnswer failed(const Error& error);
/// An answer with `message` and what to do next; `members` as the output schema says.
ToolAnswer told(bool is_failure, const std::string& message, const std::string& next,
                const Json& members);
/// Errors speak to people at a shell. For what was not found the model has a tool, log.
ToolAnswer with_log(Result<ToolAnswer> answer);
/// The same in the shape of that tool, with what the arguments say of the file.
ToolAnswer refuse(const Tool& tool, const Json& arguments, const Error& error);
/// The structured part of an answer: `members` behind status, message and next, which all have.
Json answer_json(bool failed, const std::string& message, const std::string& next,
                 const Json& members = Json::object());

}  // namespace unwrite::mcp
