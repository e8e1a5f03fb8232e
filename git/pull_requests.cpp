#include "git/pull_requests.h"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace unwrite::git {

namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kPatience(120);

bool says(const ProcessOutcome& outcome, const char* words) {
    return outcome.err.find(words) != std::string::npos;
}

Error failure_of(const ProcessOutcome& outcome, const std::string& verb) {
    if (says(outcome, "known GitHub host") || says(outcome, "no git remotes found")) {
        return Error(ErrorKind::kNotFound, ENOENT, "no remote of this repository is on GitHub");
    }
    if (says(outcome, "gh auth login") || says(outcome, "GH_TOKEN")) {
        return Error(ErrorKind::kSystem, EACCES, verb + " failed: gh is not logged in",
                     "`gh auth login` logs in");
    }
    if (says(outcome, "rate limit")) {
        return Error(ErrorKind::kSystem, EBUSY,
                     verb + " failed: GitHub's rate limit is reached: " + words_of(outcome),
                     "`gh api rate_limit` shows when it ends");
    }
    return Error(ErrorKind::kSystem, EIO, verb + " failed: " + words_of(outcome),
                 "`gh auth status` shows whether gh reaches GitHub");
}

/// Looking is not all there is to an undo.
Error or_without(const Error& error) {
    if (error.kind() == ErrorKind::kNotFound || error.number() == ECANCELED) return error;
    const std::string before = error.advice().empty() ? "" : error.advice() + "; ";
    return error.with_advice(before +
                             "`unwrite git undo --no-pull-requests` reverts commits without gh");
}

Error unreadable(const std::string& verb) {
    return Error(ErrorKind::kSystem, EPROTO, verb + " gave an answer that unwrite cannot read",
                 "`gh --version` shows whether gh is older than 2.0");
}

std::string text_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// False for what does not look like a pull request.
bool read_request(const Json& json, PullRequest& request) {
    const auto number = json.find("number");
    if (number == json.end() || !number->is_number_unsigned()) return false;
    request.number = number->get<std::uint64_t>();
    request.url = text_of(json, "url");
    request.title = text_of(json, "title");
    request.base = text_of(json, "baseRefName");
    const auto merge = json.find("mergeCommit");
    if (merge != json.end() && merge->is_object()) request.merge_commit = text_of(*merge, "oid");
    return !request.url.empty();
}

std::string verb_of(const Arguments& arguments) {
    return "gh " + arguments[0] + (arguments.size() > 1 ? " " + arguments[1] : "");
}

Result<ProcessOutcome> run_gh(const Repository& repository, const Arguments& arguments) {
    ProcessRequest request;
    request.arguments = {"gh"};
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
    request.directory = repository.root();
    request.timeout = kPatience;
    quieten(request);
    Result<ProcessOutcome> outcome = repository.programs().run(request);
    if (outcome) return outcome;
    if (outcome.error().number() == ENOENT) {
        return Error(ErrorKind::kNotFound, ENOENT, "gh, GitHub's command line, is not installed",
                     "`gh auth login` comes after it: https://cli.github.com");
    }
    const std::string verb = verb_of(arguments);
    if (outcome.error().number() == ETIMEDOUT) {
        return Error(ErrorKind::kSystem, ETIMEDOUT,
                     verb + " did not end within " + std::to_string(kPatience.count()) + " seconds",
                     "`gh auth status` shows whether gh reaches GitHub");
    }
    if (outcome.error().number() == ECANCELED) {
        return Error(ErrorKind::kSystem, ECANCELED, verb + " was interrupted");
    }
    return outcome.error().with_context("could not run " + verb);
}

}  // namespace

Result<std::string> ask_gh(const Repository& repository, const Arguments& arguments) {
    TRY_ASSIGN(ProcessOutcome outcome, run_gh(repository, arguments));
    if (outcome.exit_code != 0) return failure_of(outcome, verb_of(arguments));
    return std::move(outcome.out);
}

Result<std::vector<PullRequest>> PullRequests::list(const std::string& branch,
                                                    const std::string& state) const {
    const Arguments arguments = {
        "pr",      "list",
        "--head",  branch,
        "--state", state,
        "--limit", "100",
        "--json",  "number,url,title,baseRefName,mergeCommit,isCrossRepository"};
    const Result<std::string> answer = ask_gh(repository_, arguments);
    if (!answer) return or_without(answer.error());
    const std::string& text = *answer;
    if (text.find_first_not_of(" \r\n\t") == std::string::npos) return std::vector<PullRequest>();
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_array()) return unreadable("gh pr list");
    std::vector<PullRequest> requests;
    for (const Json& entry : json) {
        PullRequest request;
        if (!entry.is_object() || !read_request(entry, request)) {
            return unreadable("gh pr list");
        }
        // Anybody may call a branch of a fork like the agent's.
        if (!entry.value("isCrossRepository", false)) requests.push_back(std::move(request));
    }
    return requests;
}

Result<std::vector<PullRequest>> PullRequests::open(const std::string& branch) const {
    return list(branch, "open");
}

Result<std::vector<PullRequest>> PullRequests::closed(const std::string& branch) const {
    return list(branch, "closed");
}

Result<std::vector<PullRequest>> PullRequests::merged(const std::string& branch) const {
    return list(branch, "merged");
}

Result<std::vector<RequestedCommit>> PullRequests::commits(const PullRequest& request) const {
    const Result<std::string> answer =
        ask_gh(repository_, {"pr", "view", std::to_string(request.number), "--json", "commits"});
    if (!answer) return or_without(answer.error());
    const Json json = Json::parse(*answer, nullptr, false);
    if (!json.is_object() || !json.contains("commits") || !json["commits"].is_array()) {
        return unreadable("gh pr view");
    }
    std::vector<RequestedCommit> commits;
    for (const Json& entry : json["commits"]) {
        if (!entry.is_object()) return unreadable("gh pr view");
        commits.push_back({text_of(entry, "oid"), text_of(entry, "messageHeadline")});
    }
    return commits;
}

Result<bool> PullRequests::close(const PullRequest& request, const std::string& comment,
                                 std::string& complaint) const {
    const std::string number = std::to_string(request.number);
    const Result<ProcessOutcome> outcome =
        run_gh(repository_, {"pr", "close", number, "--delete-branch", "--comment", comment});
    if (outcome && outcome->exit_code == 0) return true;
    complaint = outcome ? words_of(*outcome) : outcome.error().message();
    // gh closes first and deletes then: it may have failed after what matters most.
    const Result<std::string> now = ask_gh(repository_, {"pr", "view", number, "--json", "state"});
    const Json json = now ? Json::parse(*now, nullptr, false) : Json();
    if (json.is_object() && text_of(json, "state") == "CLOSED") return false;
    return outcome ? failure_of(*outcome, "gh pr close") : outcome.error();
}

Result<std::string> PullRequests::create(const std::string& from, const std::string& to,
                                         const std::string& title, const std::string& body) const {
    TRY_ASSIGN(std::string text, ask_gh(repository_, {"pr", "create", "--head", from, "--base", to,
                                                      "--title", title, "--body", body}));
    while (text.ends_with('\n'))
        text.pop_back();
    // The address is the last line; what precedes it is for people.
    const std::size_t newline = text.rfind('\n');
    return newline == std::string::npos ? text : text.substr(newline + 1);
}

}  // namespace unwrite::git
