// The pull requests of one branch, through `gh`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "git/repository.h"

namespace unwrite::git {

struct PullRequest {
    std::uint64_t number = 0;
    std::string url;
    std::string title;
    std::string base;          ///< the branch it goes to
    std::string merge_commit;  ///< "" unless merged
};

struct RequestedCommit {
    std::string id;
    std::string headline;
};

/// Errors of all: kNotFound where there are no pull requests to speak of (gh is not installed, or
/// no remote is at a host that gh knows); kSystem with advice where gh could not answer (not logged
/// in, rate limit, network).
class PullRequests {
 public:
    explicit PullRequests(const Repository& repository) : repository_(repository) {}

    /// Those from `branch` of this very repository; what a fork calls by the same name is left out.
    Result<std::vector<PullRequest>> open(const std::string& branch) const;
    /// The same that were closed, merged or not.
    Result<std::vector<PullRequest>> closed(const std::string& branch) const;
    /// The same that were merged, newest first.
    Result<std::vector<PullRequest>> merged(const std::string& branch) const;
    Result<std::vector<RequestedCommit>> commits(const PullRequest& request) const;
    /// Closes it with a comment and lets gh delete its branch. True: closed; an error: it is open
    /// as before. False: closed, but gh complained afterwards (`complaint`).
    Result<bool> close(const PullRequest& request, const std::string& comment,
                       std::string& complaint) const;
    /// Opens one and returns its address.
    Result<std::string> create(const std::string& from, const std::string& to,
                               const std::string& title, const std::string& body) const;

 private:
    Result<std::vector<PullRequest>> list(const std::string& branch,
                                          const std::string& state) const;

    const Repository& repository_;
};

/// Runs gh in the repository's directory; its output.
Result<std::string> ask_gh(const Repository& repository, const Arguments& arguments);

}  // namespace unwrite::git
