#include "tests/parity/runner.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sstream>

#include "tests/parity/exceptions.h"
#include "tests/parity/fixture.h"
#include "tests/parity/look.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

// A call that takes longer hangs: the cell fails instead of the whole run.
constexpr unsigned kMostSeconds = 30;

std::string place_of(const Group& group, std::size_t cell) {
    return group.name() + "-" + std::to_string(cell);
}

bool become(const Actor& actor) {
    if (is_owner_itself()) {
        drop_capabilities();
    } else if (::setgroups(actor.groups.size(), actor.groups.data()) != 0 ||
               ::setresgid(actor.gid, actor.gid, actor.gid) != 0 ||
               ::setresuid(actor.uid, actor.uid, actor.uid) != 0) {
        return false;
    }
    ::umask(actor.umask);
    // Else /proc/self belongs to root now.
    return ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

[[noreturn]] void act(const Cell& cell, const std::string& directory, int told) {
    Scene scene;
    ::alarm(kMostSeconds);
    std::signal(SIGPIPE, SIG_IGN);
    if (::chdir(directory.c_str()) != 0)
        scene.told("chdir", -1);
    else if (!become(cell.actor))
        scene.told("become", -1);
    else
        cell.act(scene);
    scene.write_to(told);
    ::_exit(0);
}

std::string read_all(int fd) {
    std::string text;
    char buffer[65536];
    for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

/// In a child process; what it told, and how it ended when it did not end well.
std::string run(const Cell& cell, const std::string& directory) {
    int pair[2] = {-1, -1};
    if (::pipe2(pair, O_CLOEXEC) != 0) return "no pipe\n";
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pair[0]);
        act(cell, directory, pair[1]);
    }
    ::close(pair[1]);
    std::string text = read_all(pair[0]);
    ::close(pair[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) text += "killed by signal " + std::to_string(WTERMSIG(status)) + "\n";
    return text;
}

std::string run_and_look(const Cell& cell, const std::string& directory, const std::string& raw,
                         bool change_times) {
    // Through a mount of one's own they are worth nothing: the daemon has none.
    const WithoutCapabilities nobody_special;
    const Before before = remember(directory, raw);
    Span span{now(), {}};
    std::string text = run(cell, directory);
    span.end = now();
    return text + look(directory, before, span, change_times);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

/// The lines of `a` that are not in `b`, each as often as it is there more often.
std::vector<std::string> missing(const std::vector<std::string>& a, std::vector<std::string> b) {
    std::vector<std::string> rest;
    for (const std::string& line : a) {
        const auto found = std::find(b.begin(), b.end(), line);
        if (found == b.end())
            rest.push_back(line);
        else
            b.erase(found);
    }
    return rest;
}

void set_old_access_time(const std::string& path) {
    const struct timespec times[2] = {kAccessed, {0, UTIME_OMIT}};
    ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

}  // namespace

bool can_be_done(const Cell& cell) {
    if (!is_owner_itself()) return true;
    const auto own = [](const auto& made) {
        return made.uid == kOwner && made.gid == kGroup &&
               std::all_of(made.xattrs.begin(), made.xattrs.end(),
                           [](const auto& xattr) { return xattr.first.starts_with("user."); });
    };
    const auto is_device = [](const Item& item) {
        return item.kind == Kind::kCharacterDevice || item.kind == Kind::kBlockDevice;
    };
    return cell.actor.uid == kOwner && own(cell.fixture) &&
           std::all_of(cell.fixture.items.begin(), cell.fixture.items.end(),
                       [&](const Item& item) { return own(item) && !is_device(item); });
}

Result<> Stage::build_all(const std::string& directory, const std::vector<const Group*>& groups) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
    for (const Group* group : groups) {
        for (std::size_t i = 0; i < group->cells().size(); ++i) {
            if (!can_be_done(group->cells()[i])) continue;
            TRY(build(fd.get(), place_of(*group, i), group->cells()[i].fixture));
        }
    }
    return {};
}

Stage::Stage(const std::vector<const Group*>& groups, Places places) {
    ::umask(0);
    std::filesystem::permissions(scratch_.path(), std::filesystem::perms(0755));
    plain_ = (scratch_.path() / "plain").string();
    const std::string work = (scratch_.path() / "work").string();
    const std::string home = (scratch_.path() / "home").string();
    change_times_ = has_fine_change_times(scratch_.path());
    for (const std::string& directory : {plain_, work, home}) {
        std::filesystem::create_directory(directory);
        std::filesystem::permissions(directory, std::filesystem::perms(0755));
    }
    if (places == Places::kBoth) failure_ = failure_of(build_all(plain_, groups));
    if (failure_.empty()) failure_ = failure_of(build_all(work, groups));
    // The look at the contents has moved access times.
    before_ = snapshot(work);
    for (const auto& [path, entry] : before_)
        set_old_access_time(path.empty() ? work : work + "/" + path);
    mounted_ = std::make_unique<Mounted>(work, home);
    if (failure_.empty()) failure_ = mounted_->failure();
}

std::string Stage::in_plain(const Group& group, std::size_t cell) const {
    const std::string directory = plain_ + "/" + place_of(group, cell);
    return run_and_look(group.cells()[cell], directory, directory, change_times_);
}

std::string Stage::in_mount(const Group& group, std::size_t cell) const {
    const std::string name = "/" + place_of(group, cell);
    return run_and_look(group.cells()[cell], mounted_->path() + name, mounted_->raw() + name,
                        change_times_);
}

std::string Stage::only_act_in_mount(const Group& group, std::size_t cell) const {
    return run(group.cells()[cell], mounted_->path() + "/" + place_of(group, cell));
}

Snapshot without(Snapshot all, const std::set<std::string>& directories) {
    std::erase_if(all, [&](const auto& entry) {
        return directories.count(entry.first.substr(0, entry.first.find('/'))) != 0;
    });
    return all;
}

Verdict compare(const Stage& stage, const Group& group) {
    Verdict verdict;
    for (std::size_t i = 0; i < group.cells().size(); ++i) {
        if (!can_be_done(group.cells()[i])) continue;
        ++verdict.cells;
        const std::string plain = stage.in_plain(group, i);
        const std::string mount = stage.in_mount(group, i);
        if (plain == mount) continue;
        verdict.different.insert(place_of(group, i));
        const std::string& name = group.cells()[i].name;
        const auto plain_lines = lines_of(plain);
        const auto mount_lines = lines_of(mount);
        const auto only_plain = missing(plain_lines, mount_lines);
        const auto only_mount = missing(mount_lines, plain_lines);
        const bool in_order = !only_plain.empty() || !only_mount.empty();
        if (in_order && is_excused(name, only_plain, only_mount)) {
            ++verdict.excused;
            continue;
        }
        verdict.failures +=
            "\n" + name + " (" + group.cells()[i].actor.name + ", in " + place_of(group, i) + ")\n";
        for (const std::string& line : only_plain)
            verdict.failures += "    plain: " + line + "\n";
        for (const std::string& line : only_mount)
            verdict.failures += "    mount: " + line + "\n";
        if (only_plain.empty() && only_mount.empty()) verdict.failures += "    in another order\n";
    }
    return verdict;
}

}  // namespace unwrite::tests::parity
