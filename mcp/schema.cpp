#include "mcp/schema.h"

namespace unwrite::mcp {

namespace {

Json reverts_schema() {
    return list_of(object_schema({{"category", typed("string", "Of the request.")},
                                  {"applied", typed("boolean", "Whether it was carried out.")},
                                  {"target", or_null("string", "The node.")},
                                  {"summary", or_null("string", "Of the request.")},
                                  {"reason", or_null("string", "Why it was refused.")}}),
                   "What became of earlier calls of revert_to_state.");
}

}  // namespace

Json changes_schema() {
    const Json kinds{{"type", "string"},
                     {"enum", {"created", "deleted", "modified", "renamed", "attributes"}}};
    return list_of(
        object_schema({{"kind", kinds},
                       {"path", typed("string", "Relative to the workspace.")},
                       {"old_path", typed("string", "Where a renamed one was.")},
                       {"below", typed("integer", "How many objects the directory holds.")},
                       {"files", typed("integer", "How many files it stands for, unless one.")},
                       {"ignored", typed("integer", "How many of these git ignores.")},
                       {"content", typed("boolean", "Whether a renamed one was modified, too.")},
                       {"by", list_of(Json{{"type", "string"}}, "Who changed it; in a dry run.")},
                       {"aspects", list_of(Json{{"type", "string"}},
                                           "Which attributes differ: mode, owner, acl, xattrs, "
                                           "time.")}},
                      {"kind", "path"}),
        "What changed.");
}

Json answer_schema(Json members) {
    Json all{{"status", typed("string", "ok, needs_confirmation, or why nothing was done.")},
             {"message", typed("string", "What was done, or why nothing was done.")},
             {"next", typed("string", "What to do next; may be empty.")},
             {"token", typed("string", "For the tool confirm.")},
             {"reverts", reverts_schema()}};
    all.update(members);
    return object_schema(std::move(all), {"status", "message", "next"});
}

}  // namespace unwrite::mcp
