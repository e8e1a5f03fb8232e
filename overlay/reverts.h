// Reverts: what revert_to_state asks of a workspace. An implementation of Operations has it when it
// is an Operations of its own tree of states; ask with reverts_of().
#pragma once

#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::overlay {

class Reverts {
 public:
    virtual ~Reverts() = default;

    /// Notes a request, and changes nothing else; it outlives this process. `arguments`: the JSON
    /// of the call. `for_agent`: what the user changed is protected. Answers with the
    /// acknowledgement. Errors: those of edit::decode_revert(); kConflict when too many wait.
    virtual Result<std::string> request_revert(const Asker& asker, const std::string& arguments,
                                               bool for_agent) = 0;
    /// Carries the requests out that wait, in the order of their coming, whoever made them. Answers
    /// with one event for each, as edit::encode_event() writes it; a request that is refused
    /// changes nothing and has an event too. Nobody should have files open for writing meanwhile.
    virtual Result<std::vector<std::string>> apply_reverts(const Asker& asker) = 0;
};

/// Null for operations that cannot do this.
inline Reverts* reverts_of(Operations& operations) {
    return dynamic_cast<Reverts*>(&operations);
}

}  // namespace unwrite::overlay
