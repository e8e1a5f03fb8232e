// mkdir, mknod, symlink, link, unlink, rmdir: every kind of object, every way to spell its name.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

using Call = std::function<long(const char*)>;
struct Row {
    const char* name;
    Call call;
};

const std::vector<const char*> kSpellings = {"x", "x/", "x/.", "x/..", "./x", "x/new", "x/new/"};

std::vector<Kind> kinds_and_absent() {
    std::vector<Kind> all = kinds();
    all.push_back(Kind::kAbsent);
    return all;
}

/// Each row on each kind in each spelling; `extra` stands beside.
void add_all(Group& group, const std::vector<Row>& rows, const std::vector<Item>& extra) {
    for (const Row& row : rows) {
        for (const Kind kind : kinds_and_absent()) {
            for (const char* spelling : kSpellings) {
                std::vector<Item> items = {{"x", kind, kind == Kind::kFull ? 0755U : 0644U}};
                items.insert(items.end(), extra.begin(), extra.end());
                group.add(std::string(row.name) + "/" + name_of(kind) + "/" + spelling, {items},
                          owner(), [call = row.call, path = std::string(spelling)](Scene& scene) {
                              scene.told("call", call(path.c_str()));
                          });
            }
        }
    }
}

long link_to(const char* from, const char* to, int flags) {
    return ::linkat(AT_FDCWD, from, AT_FDCWD, to, flags);
}

void add_links(Group& group) {
    for (const Kind kind : kinds_and_absent()) {
        for (const int flags : {0, AT_SYMLINK_FOLLOW}) {
            group.add(std::string("link of ") + name_of(kind) + (flags == 0 ? "" : " followed"),
                      {{{"x", kind}}}, owner(), [flags](Scene& scene) {
                          scene.told("linkat", link_to("x", "y", flags));
                          scene.told("again", link_to("x", "y", flags));
                          scene.look_at("x");
                          scene.look_at("y");
                          scene.told("to itself", link_to("x", "x", flags));
                          scene.told("below", link_to("x", "nothing/y", flags));
                      });
        }
    }
    for (const Actor& actor : actors()) {
        for (const mode_t mode : {0600U, 0640U, 0664U, 0666U, 04755U}) {
            group.add(std::string("link of ") + octal(mode) + " by " + actor.name,
                      {{{"x", Kind::kFile, mode}}}, actor,
                      [](Scene& scene) { scene.told("linkat", link_to("x", "y", 0)); });
        }
    }
    group.add("link of a removed file", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDONLY));
        scene.told("unlink", ::unlink("x"));
        const std::string self = "/proc/self/fd/" + std::to_string(fd);
        scene.told("linkat", link_to(self.c_str(), "y", AT_SYMLINK_FOLLOW));
    });
}

void add_symlinks(Group& group) {
    const std::vector<std::string> targets = {
        "a",
        "",
        "/",
        "../..",
        std::string(4095, 'a'),
        std::string(4096, 'a'),
        "\xff\xfe\n",
        std::string(255, '/'),
        "x",
    };
    for (std::size_t i = 0; i < targets.size(); ++i) {
        group.add("symlink to " + std::to_string(i), {}, owner(),
                  [target = targets[i]](Scene& scene) {
                      scene.told("symlink", ::symlink(target.c_str(), "x"));
                      std::string got(5000, '\0');
                      const long length = ::readlink("x", got.data(), got.size());
                      scene.told("readlink", length);
                      scene.told("into 3 bytes", ::readlink("x", got.data(), 3));
                      scene.told("into none", ::readlink("x", got.data(), 0));
                      scene.look_at("x");
                  });
    }
    for (const Kind kind : kinds()) {
        group.add(std::string("readlink of ") + name_of(kind), {{{"x", kind}}}, owner(),
                  [](Scene& scene) {
                      char target[64] = {};
                      scene.told("readlink", ::readlink("x", target, sizeof target));
                      scene.say("target", target);
                  });
    }
}

void add_nodes(Group& group) {
    for (const unsigned type : {0U + S_IFREG, 0U + S_IFIFO, 0U + S_IFSOCK, 0U + S_IFCHR,
                                0U + S_IFBLK, 0U + S_IFDIR, 0U + S_IFLNK, 0U}) {
        for (const Actor* actor : {&root(), &owner()}) {
            group.add("mknod " + std::to_string(type >> 12U) + " by " + actor->name, {}, *actor,
                      [type](Scene& scene) {
                          scene.told("mknod", ::mknod("x", type | 0666U, (7U << 8U) | 9U));
                          scene.look_at("x");
                      });
        }
    }
}

void add_removal_orders(Group& group) {
    group.add("a tree", {{{"x", Kind::kFull, 0755}}}, owner(), [](Scene& scene) {
        scene.told("full", ::rmdir("x"));
        scene.told("in", ::unlink("x/in"));
        scene.told("half", ::rmdir("x"));
        scene.told("below", ::rmdir("x/below"));
        scene.told("empty", ::rmdir("x"));
        scene.told("gone", ::rmdir("x"));
    });
    group.add("the working directory", {{{"x", Kind::kDirectory, 0755}}}, owner(),
              [](Scene& scene) {
                  scene.told("chdir", ::chdir("x"));
                  scene.told("rmdir", ::rmdir("../x"));
                  scene.look("still", ::open(".", O_RDONLY));
                  scene.told("create", ::open("y", O_CREAT | O_WRONLY, 0600));
                  scene.told("mkdir", ::mkdir("y", 0700));
                  scene.told("symlink", ::symlink("a", "y"));
                  scene.told("dot", ::rmdir("."));
                  scene.opened("dotdot", ::open("..", O_RDONLY));
              });
    group.add("a directory in use", {{{"x", Kind::kDirectory, 0755}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDONLY | O_DIRECTORY));
        scene.told("rmdir", ::rmdir("x"));
        scene.look("held", fd);
        scene.told("create", ::openat(fd, "y", O_CREAT | O_WRONLY, 0600));
        scene.told("anew", ::mkdir("x", 0711));
        scene.look("old", fd);
        scene.told("fchmod", ::fchmod(fd, 0700));
        scene.look("changed", fd);
    });
    group.add("one of two names", {{{"x", Kind::kTwin}}}, owner(), [](Scene& scene) {
        scene.told("unlink", ::unlink("x"));
        scene.look_at("x.twin");
        scene.told("twin", ::unlink("x.twin"));
    });
}

}  // namespace

Group making() {
    Group group("make");
    add_all(group,
            {{"mkdir", [](const char* path) -> long { return ::mkdir(path, 0755); }},
             {"mknod", [](const char* path) -> long { return ::mknod(path, S_IFREG | 0644, 0); }},
             {"symlink", [](const char* path) -> long { return ::symlink("target", path); }},
             {"link", [](const char* path) -> long { return link_to("other", path, 0); }}},
            {{"other"}});
    add_links(group);
    add_symlinks(group);
    add_nodes(group);
    return group;
}

Group removing() {
    Group group("remove");
    add_all(group,
            {{"unlink", [](const char* path) -> long { return ::unlink(path); }},
             {"rmdir", [](const char* path) -> long { return ::rmdir(path); }}},
            {});
    add_removal_orders(group);
    return group;
}

}  // namespace unwrite::tests::parity
