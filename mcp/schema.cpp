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
