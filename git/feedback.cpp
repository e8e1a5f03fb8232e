#include "git/feedback.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "git/pull_requests.h"

namespace unwrite::git {

namespace {

using Json = nlohmann::json;

/// Everything in a listing that gh fetched page by page: one array after the other.
Result<std::vector<Json>> list(const Repository& repository, const std::string& address) {
    TRY_ASSIGN(const std::string text, ask_gh(repository, {"api", "--paginate", address}));
    std::vector<Json> entries;
    std::istringstream pages(text);
    while (pages >> std::ws, pages.good()) {
        try {
            Json page;
            pages >> page;
            if (!page.is_array()) throw std::invalid_argument("a page is a list");
            for (Json& entry : page)
                entries.push_back(std::move(entry));
        } catch (const std::exception&) {
            return Error(ErrorKind::kSystem, EPROTO,
                         "gh api gave an answer that unwrite cannot read",
                         "`gh --version` shows whether gh is older than 2.0");
        }
    }
    return entries;
}

bool is_by(const Json& entry, const std::string& login) {
    if (!entry.is_object() || !entry.contains("user") || !entry["user"].is_object()) return false;
    return entry["user"].value("login", Json()) == login;
}

/// The number of the agent's last comment; 0 when it has made none.
std::uint64_t last_comment(const std::vector<Json>& comments, const std::string& agent) {
    std::uint64_t last = 0;
    for (const Json& comment : comments) {
        if (!is_by(comment, agent)) continue;
        const Json id = comment.value("id", Json());
        if (id.is_number_unsigned()) last = id.get<std::uint64_t>();
    }
    return last;
}

}  // namespace

Result<std::string> feedback(Programs& programs, const std::string& directory,
                             const FeedbackOptions& options) {
    if (options.issue == 0) {
        return Error(ErrorKind::kUsage, EINVAL, "the number of an issue is 1 or more");
    }
    TRY_ASSIGN(const Repository repository, Repository::open(programs, directory));
    const std::string issues = "repos/{owner}/{repo}/issues/";
    TRY_ASSIGN(const std::vector<Json> comments,
               list(repository, issues + std::to_string(options.issue) + "/comments?per_page=100"));
    const std::uint64_t comment = last_comment(comments, options.agent);
    if (comment == 0) return std::string();
    TRY_ASSIGN(const std::vector<Json> reactions,
               list(repository, issues + "comments/" + std::to_string(comment) +
                                    "/reactions?content=-1&per_page=100"));
    for (const Json& reaction : reactions) {
        // The agent's own opinion of itself is none of the user's.
        if (!reaction.is_object() || is_by(reaction, options.agent)) continue;
        if (reaction.value("content", Json()) == "-1") {
            return std::string(
                "[Note: Your previous response received a 👎 reaction. The user may want you to "
                "take a different approach. Be aware of this feedback.]\n\n");
        }
    }
    return std::string();
}

}  // namespace unwrite::git
