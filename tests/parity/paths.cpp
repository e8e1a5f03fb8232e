// Names of any bytes and any length, and paths longer than PATH_MAX.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

std::vector<std::pair<std::string, std::string>> names() {
    std::string all_bytes;
    for (int byte = 1; byte < 256; ++byte) {
        if (byte != '/') all_bytes += static_cast<char>(byte);
    }
    return {
        {"255 bytes", std::string(255, 'n')},
        {"256 bytes", std::string(256, 'n')},
        {"254 bytes of two",
         [] {
             std::string text;
             for (int i = 0; i < 127; ++i)
                 text += "\xc3\xa9";
             return text;
         }()},
        {"all bytes", all_bytes},
        {"not UTF-8", "\xff\xfe\x80"},
        {"newline", "a\nb"},
        {"blank", " "},
        {"dash", "-rf"},
        {"three dots", "..."},
        {"dot at the end", "a."},
        {"backslash", "\\"},
        {"escape", "\x1b[2J"},
        {"capital", "X"},
        {"decomposed", "e\xcc\x81"},
        {"composed", "\xc3\xa9"},
        {"like the state directory", ".unwrite"},
        {"almost the state directory", ".unwrite."},
    };
}

void use_name(Scene& scene, const char* name) {
    scene.opened("create", ::open(name, O_CREAT | O_EXCL | O_WRONLY, 0644));
    scene.opened("open", ::open(name, O_RDWR));
    scene.told("access", ::access(name, F_OK));
    scene.told("mkdir", ::mkdir(name, 0755));
    scene.told("link", ::link("x", name));
    scene.told("rename away", ::rename(name, "moved"));
    scene.told("rename back", ::rename("moved", name));
    scene.told("unlink", ::unlink(name));
    scene.told("mkdir", ::mkdir(name, 0755));
    scene.told("rmdir", ::rmdir(name));
    scene.told("symlink", ::symlink(name, name));
    scene.told("chmod", ::fchmodat(AT_FDCWD, name, 0600, AT_SYMLINK_NOFOLLOW));
    scene.told("unlink", ::unlink(name));
    scene.told("keep", ::mknod(name, S_IFREG | 0644, 0));
}

/// A path of `length` bytes that leads to the directory itself.
std::string long_way(std::size_t length, const std::string& last) {
    std::string path;
    while (path.size() + 2 + last.size() <= length)
        path += "./";
    while (path.size() + last.size() < length)
        path += "/";
    return path + last;
}

void descend(Scene& scene, int levels) {
    const std::string name(200, 'd');
    for (int i = 0; i < levels; ++i) {
        if (::mkdir(name.c_str(), 0755) != 0 || ::chdir(name.c_str()) != 0) {
            scene.told("level " + std::to_string(i), -1);
            return;
        }
    }
    scene.opened("create", ::open("deep", O_CREAT | O_WRONLY, 0644));
    scene.told("rename", ::rename("deep", "deeper"));
    scene.look_at("deeper");
    scene.told("mkdir", ::mkdir("e", 0755));
    scene.told("rmdir", ::rmdir("e"));
}

void add_long_paths(Group& group) {
    for (const std::size_t length : {4090U, 4095U, 4096U, 5000U}) {
        group.add("path of " + std::to_string(length), {{{"x"}}}, owner(), [length](Scene& scene) {
            const std::string path = long_way(length, "x");
            const std::string fresh = long_way(length, "y");
            scene.opened("open", ::open(path.c_str(), O_RDONLY));
            scene.told("chmod", ::chmod(path.c_str(), 0600));
            scene.told("mkdir", ::mkdir(fresh.c_str(), 0755));
            scene.told("rename", ::rename(path.c_str(), long_way(length, "z").c_str()));
            scene.told("unlink", ::unlink(long_way(length, "z").c_str()));
        });
    }
    group.add("beyond PATH_MAX", {}, owner(), [](Scene& scene) { descend(scene, 30); });
    group.add("many levels", {}, owner(), [](Scene& scene) {
        int dir = ::open(".", O_RDONLY | O_DIRECTORY);
        for (int i = 0; i < 300 && dir >= 0; ++i) {
            if (::mkdirat(dir, "l", 0755) != 0) scene.told("mkdirat", -1);
            const int next = ::openat(dir, "l", O_RDONLY | O_DIRECTORY);
            ::close(dir);
            dir = next;
        }
        scene.look("bottom", dir);
        scene.opened("create", ::openat(dir, "file", O_CREAT | O_WRONLY, 0644));
    });
    for (const int links : {39, 40, 41}) {
        group.add(std::to_string(links) + " links", {{{"x"}}}, owner(), [links](Scene& scene) {
            for (int i = 0; i < links; ++i) {
                const std::string to = i == 0 ? "x" : "l" + std::to_string(i - 1);
                if (::symlink(to.c_str(), ("l" + std::to_string(i)).c_str()) != 0)
                    scene.told("symlink", -1);
            }
            scene.opened("open", ::open(("l" + std::to_string(links - 1)).c_str(), O_RDONLY));
        });
    }
}

void add_wrong_components(Group& group) {
    for (const char* path : {"x/a", "nothing/a", "loop/a", "dangling/a", "x/", "nothing/", "x/..",
                             "nothing/..", "link/a", "fifo/a", "link", "dangling", "loop"}) {
        group.add(std::string("through ") + path,
                  {{{"x"},
                    {"loop", Kind::kLoop},
                    {"dangling", Kind::kDangling},
                    {"link", Kind::kLink},
                    {"fifo", Kind::kFifo}}},
                  owner(), [path = std::string(path)](Scene& scene) {
                      const char* at = path.c_str();
                      struct stat st = {};
                      scene.told("stat", ::stat(at, &st));
                      scene.told("lstat", ::lstat(at, &st));
                      scene.told("access", ::access(at, R_OK));
                      scene.opened("open", ::open(at, O_RDONLY | O_NONBLOCK));
                      scene.opened("creat", ::open(at, O_CREAT | O_WRONLY | O_NONBLOCK, 0644));
                      scene.told("truncate", ::truncate(at, 3));
                      scene.told("chmod", ::chmod(at, 0600));
                      scene.told("chdir", ::chdir(at));
                      scene.told("unlink", ::unlink(at));
                  });
    }
}

}  // namespace

Group paths() {
    Group group("path");
    for (const auto& [what, name] : names()) {
        group.add(what, {{{"x"}}}, owner(),
                  [name = name](Scene& scene) { use_name(scene, name.c_str()); });
        Fixture fixture = {{{"x"}}};
        if (name.size() <= NAME_MAX) fixture.items.push_back({name});
        group.add(what + " that is there", fixture, owner(), [name = name](Scene& scene) {
            scene.look_at(name);
            use_name(scene, name.c_str());
        });
    }
    add_long_paths(group);
    add_wrong_components(group);
    return group;
}

}  // namespace unwrite::tests::parity
