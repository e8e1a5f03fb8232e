// The structures of overlay/operations.h and oversight.h as JSON, one pair of functions each. The
// same text is what
// `--json` prints. Decoding takes any JSON and fails with kUsage; unknown members are ignored, so
// that an older client can read a newer server's answers.
#pragma once

#include "control/fields.h"
#include "overlay/oversight.h"

namespace unwrite::control {

/// What a client may know about the daemon it talks to.
struct DaemonInfo {
    std::string version;
    std::string id;         ///< of the session; also in the mount's source
    std::string workspace;  ///< where the raw directory is, as it was named
    std::string mount_point;
    std::int64_t pid = 0;
    std::uint64_t device = 0;  ///< of the raw directory
    std::uint64_t inode = 0;
    bool fresh = false;  ///< what opening the session found (overlay::Found)
    bool interrupted = false;
    bool finished_restore = false;
    bool task_open = false;
    bool ending = false;                  ///< it was told to unmount
    std::vector<std::string> set_aside;   ///< overlay::Found
    std::vector<std::string> in_use;      ///< overlay::Found
    std::vector<std::string> taken_back;  ///< files of an edit that was killed half-way
    overlay::Retention retention;         ///< gc's limits as the workspace's configuration has them
    std::vector<std::uint64_t> runs{};    ///< those that are going on, by the nodes they began at
};

/// More would not fit into an answer.
inline constexpr std::uint64_t kMostAuditEntries = 10'000;

/// What a request says of who asks; the daemon knows the rest.
Json encode(const overlay::Asker& asker);
Json encode(const overlay::Change& change);
Json encode(const overlay::Node& node);
Json encode(const overlay::Origin& origin);
Json encode(const overlay::Status& status);
Json encode(const overlay::Counted& counted);
Json encode(const overlay::Log& log);
Json encode(const overlay::FileDiff& diff);
Json encode(const overlay::Moved& moved);
Json encode(const overlay::Decision& decision);
Json encode(const overlay::Decision::Part& part);
Json encode(const overlay::Decided& decided);
Json encode(const overlay::Decided::Needed& needed);
Json encode(const overlay::Collected& collected);
Json encode(const overlay::Checked& checked);
Json encode(const overlay::Retention& retention);
Json encode(const DaemonInfo& info);
Json encode(const overlay::AuditEntry& entry);
Json encode(const overlay::AuditTrail& trail);
Json encode(const overlay::RuleShown& rule);
Json encode(const overlay::Judged& judged);
Json encode(const overlay::Explained& explained);
Json encode(const overlay::MayEdit& may);
Json encode(const overlay::Question& question);
Json encode(const overlay::Questioned& questioned);
/// "none", "own" or "all".
const char* consent_word(overlay::Consent consent);

Result<> decode(const Json& json, overlay::Change& change);
Result<> decode(const Json& json, overlay::Node& node);
Result<> decode(const Json& json, overlay::Origin& origin);
Result<> decode(const Json& json, overlay::Status& status);
Result<> decode(const Json& json, overlay::Counted& counted);
Result<> decode(const Json& json, overlay::Log& log);
Result<> decode(const Json& json, overlay::FileDiff& diff);
Result<> decode(const Json& json, overlay::Moved& moved);
Result<> decode(const Json& json, overlay::Decision& decision);
Result<> decode(const Json& json, overlay::Decision::Part& part);
Result<> decode(const Json& json, overlay::Decided& decided);
Result<> decode(const Json& json, overlay::Decided::Needed& needed);
Result<> decode(const Json& json, overlay::Collected& collected);
Result<> decode(const Json& json, overlay::Checked& checked);
Result<> decode(const Json& json, overlay::Retention& retention);
Result<> decode(const Json& json, DaemonInfo& info);
Result<> decode(const Json& json, overlay::AuditEntry& entry);
Result<> decode(const Json& json, overlay::AuditTrail& trail);
Result<> decode(const Json& json, overlay::RuleShown& rule);
Result<> decode(const Json& json, overlay::Judged& judged);
Result<> decode(const Json& json, overlay::Explained& explained);
Result<> decode(const Json& json, overlay::MayEdit& may);
Result<> decode(const Json& json, overlay::Question& question);
Result<> decode(const Json& json, overlay::Questioned& questioned);
/// Reads the member "consent"; absent leaves it as it was.
Fields& get_consent(Fields& fields, overlay::Consent& consent);

template <class T>
Fields& Fields::get_object(const char* key, T& value) {
    if (const Json* found = find(key)) {
        if (Result<> read = decode(*found, value); !read) outcome_ = std::move(read);
    }
    return *this;
}

template <class T>
Fields& Fields::get_list(const char* key, std::vector<T>& values) {
    const Json* found = find(key);
    if (found == nullptr) return *this;
    if (!found->is_array()) {
        fail(key);
        return *this;
    }
    values.clear();
    for (const Json& one : *found) {
        if (Result<> read = decode(one, values.emplace_back()); !read) {
            outcome_ = std::move(read);
            break;
        }
    }
    return *this;
}

template <class T>
Json encode_list(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values)
        list.push_back(encode(value));
    return list;
}
Json encode_texts(const std::vector<std::string>& values);

}  // namespace unwrite::control
