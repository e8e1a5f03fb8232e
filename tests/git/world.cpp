#include "tests/git/world.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace unwrite::git::tests {

World::World() {
    for (const char* directory : {"work", "bin", "gh", "home"})
        std::filesystem::create_directory(path(directory));
    static const std::string system_path = std::getenv("PATH");
    const std::string stub = std::string(std::getenv("UNWRITE_SOURCE_DIR")) + "/tests/git/stub";
    ::setenv("PATH", (stub + ":" + system_path).c_str(), 1);
    ::setenv("GH_STUB", path("gh").c_str(), 1);
    ::setenv("HOME", path("home").c_str(), 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    // Only the caller of git() has an identity by variables; what is tested finds its own.
    git({"init", "--quiet", "--initial-branch=main"});
    // Not by `git config`: a process for each. Without a look after each commit whether to tidy up.
    std::ofstream(work() + "/.git/config", std::ios::app)
        << "[user]\n\tname = tester\n\temail = tester@example.invalid\n"
           "[maintenance]\n\tauto = false\n[gc]\n\tauto = 0\n";
}

std::string World::git_in(const std::string& directory, const Arguments& arguments,
                          const std::string& input) const {
    ProcessRequest request;
    request.arguments = {"git", "-C", directory};
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
    request.input = input;
    Result<ProcessOutcome> outcome = run_process(request);
    if (!outcome || outcome->exit_code != 0) {
        ADD_FAILURE() << "git " << arguments[0] << ": "
                      << (outcome ? outcome->err : outcome.error().message());
        return {};
    }
    if (outcome->out.ends_with('\n')) outcome->out.pop_back();
    return outcome->out;
}

std::string World::git(const Arguments& arguments, const std::string& input) const {
    return git_in(work(), arguments, input);
}

std::string World::commit(const std::string& subject, const Files& files) const {
    Arguments add = {"add", "--all", "--"};
    for (const auto& [name, text] : files) {
        if (text.empty()) {
            std::filesystem::remove(work() + "/" + name);
        } else {
            write(name, text);
        }
        add.push_back(name);
    }
    if (!files.empty()) git(add);
    git({"commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-"}, subject);
    return head();
}

void World::add_remote() const {
    git_in(path("."), {"init", "--quiet", "--bare", "--initial-branch=main", origin()});
    git({"remote", "add", "origin", origin()});
    git({"push", "--quiet", "--set-upstream", "origin", "main"});
}

void World::push_from_elsewhere(const std::string& file, const std::string& text) const {
    const std::string clone = path("elsewhere");
    std::filesystem::remove_all(clone);
    git_in(path("."), {"clone", "--quiet", origin(), clone});
    std::ofstream(clone + "/" + file) << text;
    git_in(clone, {"add", file});
    git_in(clone, {"-c", "user.name=else", "-c", "user.email=else@example.invalid", "commit",
                   "--quiet", "-m", "elsewhere: " + file});
    git_in(clone, {"push", "--quiet", "origin", "HEAD:main"});
}

void World::write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = work() + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

std::string World::read(const std::string& name) const {
    return scratch_.read("work/" + name);
}

bool World::exists(const std::string& name) const {
    return std::filesystem::exists(work() + "/" + name);
}

std::vector<std::string> World::subjects() const {
    return split_nul(git({"log", "-z", "--format=%s"}));
}

bool World::is_clean() const {
    const bool quiet = !exists(".git/REVERT_HEAD") && !exists(".git/rebase-merge") &&
                       !exists(".git/sequencer") && !exists(".git/index.lock");
    return quiet && git({"status", "--porcelain"}).empty();
}

void World::gh_says(const std::string& name, const std::string& out, int exit,
                    const std::string& err) const {
    scratch_.write("gh/" + name + ".out", out);
    scratch_.write("gh/" + name + ".exit", std::to_string(exit));
    scratch_.write("gh/" + name + ".err", err);
}

void World::gh_does(const std::string& name, const std::string& script) const {
    scratch_.write("gh/" + name + ".do", script);
}

std::string World::gh_calls() const {
    return scratch_.read("gh/calls");
}

void World::without_gh() const {
    ProcessRequest request;
    request.arguments = {"sh", "-c", "command -v git"};
    Result<ProcessOutcome> git_program = run_process(request);
    ASSERT_TRUE(git_program.ok());
    std::string target = git_program->out;
    if (target.ends_with('\n')) target.pop_back();
    std::filesystem::create_symlink(target, path("bin/git"));
    ::setenv("PATH", path("bin").c_str(), 1);
}

UndoOptions World::options(std::uint64_t issue, std::size_t count) const {
    UndoOptions options;
    options.issue = issue;
    options.count = count;
    return options;
}

Result<UndoReport> World::undo(const UndoOptions& options) const {
    InstalledPrograms programs;
    return git::undo(programs, work(), options);
}

bool has_word(const ProcessRequest& request, const std::string& word) {
    return std::find(request.arguments.begin(), request.arguments.end(), word) !=
           request.arguments.end();
}

}  // namespace unwrite::git::tests
