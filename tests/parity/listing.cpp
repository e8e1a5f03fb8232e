// Listings: complete, without repetition, and continued where they were left, whatever happens to
// the directory meanwhile.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <set>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

std::string number(int i) {
    char text[16];
    std::snprintf(text, sizeof text, "n%05d", i);
    return text;
}

void make(int count) {
    for (int i = 0; i < count; ++i)
        ::close(::open(number(i).c_str(), O_CREAT | O_WRONLY, 0644));
}

std::vector<std::string> rest_of(DIR* stream) {
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream))
        names.emplace_back(entry->d_name);
    return names;
}

/// Sorted and counted: the order is no promise.
void tell(Scene& scene, const char* what, const std::vector<std::string>& names) {
    const std::set<std::string> sorted(names.begin(), names.end());
    std::string text;
    for (const std::string& name : sorted)
        text += name + ",";
    scene.told(std::string(what) + " count", static_cast<long>(names.size()));
    scene.told(std::string(what) + " different", static_cast<long>(sorted.size()));
    scene.say(what, brief(text));
}

void add_whole(Group& group) {
    for (const int count : {0, 1, 2, 100, 1000}) {
        group.add(std::to_string(count) + " names", {}, owner(), [count](Scene& scene) {
            make(count);
            DIR* stream = ::opendir(".");
            tell(scene, "first", rest_of(stream));
            ::rewinddir(stream);
            tell(scene, "rewound", rest_of(stream));
            ::close(::open("late", O_CREAT | O_WRONLY, 0644));
            ::rewinddir(stream);
            tell(scene, "with a late one", rest_of(stream));
            ::unlink("late");
            ::rewinddir(stream);
            tell(scene, "without", rest_of(stream));
        });
    }
    group.add("of every kind",
              {{{"a"},
                {"b", Kind::kDirectory},
                {"c", Kind::kLink},
                {"d", Kind::kFifo},
                {"e", Kind::kSocket},
                {"f", Kind::kCharacterDevice},
                {"g", Kind::kBlockDevice},
                {"h", Kind::kDangling}}},
              owner(), [](Scene& scene) {
                  DIR* stream = ::opendir(".");
                  std::map<std::string, int> types;
                  while (const dirent* entry = ::readdir(stream))
                      types[entry->d_name] = entry->d_type;
                  for (const auto& [name, type] : types)
                      scene.told(name, type);
              });
    group.add("of odd names", {}, owner(), [](Scene& scene) {
        for (const std::string& name :
             {std::string(255, 'n'), std::string("\xff\n"), std::string("...")})
            ::close(::open(name.c_str(), O_CREAT | O_WRONLY, 0644));
        tell(scene, "names", rest_of(::opendir(".")));
    });
}

void add_positions(Group& group) {
    for (const int at : {0, 1, 2, 3, 50, 299, 301}) {
        group.add("telldir and seekdir at " + std::to_string(at), {}, owner(), [at](Scene& scene) {
            make(300);
            DIR* stream = ::opendir(".");
            std::set<std::string> seen;
            for (int i = 0; i < at; ++i) {
                if (const dirent* entry = ::readdir(stream)) seen.insert(entry->d_name);
            }
            const long position = ::telldir(stream);
            const auto rest = rest_of(stream);
            ::seekdir(stream, position);
            const auto again = rest_of(stream);
            scene.say("the same rest", rest == again ? "yes" : "no");
            for (const std::string& name : again)
                scene.told(seen.count(name) != 0 ? "twice " + name : "", 0);
            seen.insert(again.begin(), again.end());
            scene.told("all", static_cast<long>(seen.size()));
            // Another stream continues from the position of the first.
            DIR* other = ::opendir(".");
            ::seekdir(other, position);
            scene.say("elsewhere too", rest_of(other) == rest ? "yes" : "no");
        });
    }
    group.add("each position", {}, owner(), [](Scene& scene) {
        make(60);
        DIR* stream = ::opendir(".");
        std::vector<std::pair<long, std::string>> places;
        for (;;) {
            const long position = ::telldir(stream);
            const dirent* entry = ::readdir(stream);
            if (entry == nullptr) break;
            places.emplace_back(position, entry->d_name);
        }
        int wrong = 0;
        for (auto place = places.rbegin(); place != places.rend(); ++place) {
            ::seekdir(stream, place->first);
            const dirent* entry = ::readdir(stream);
            if (entry == nullptr || place->second != entry->d_name) ++wrong;
        }
        scene.told("wrong", wrong);
        scene.told("places", static_cast<long>(places.size()));
    });
    group.add("small buffers", {}, owner(), [](Scene& scene) {
        make(50);
        const int fd = ::open(".", O_RDONLY | O_DIRECTORY);
        char buffer[40];
        long calls = 0;
        std::set<std::string> seen;
        for (;;) {
            const long got = ::syscall(SYS_getdents64, fd, buffer, sizeof buffer);
            if (got <= 0) {
                scene.told("end", got);
                break;
            }
            ++calls;
            for (long at = 0; at < got;) {
                const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
                seen.insert(entry->d_name);
                at += entry->d_reclen;
            }
        }
        scene.told("calls", calls);
        scene.told("seen", static_cast<long>(seen.size()));
        ::lseek(fd, 0, SEEK_SET);
        scene.told("too small", ::syscall(SYS_getdents64, fd, buffer, 10));
        scene.told("of a file", ::syscall(SYS_getdents64, ::open("n00000", O_RDONLY), buffer, 40));
    });
}

void add_changes(Group& group) {
    // What is there all the time is listed once, whatever comes and goes.
    group.add("while names come and go", {}, owner(), [](Scene& scene) {
        constexpr int kStay = 500;
        make(kStay);
        DIR* stream = ::opendir(".");
        std::map<std::string, int> seen;
        int turn = 0;
        while (const dirent* entry = ::readdir(stream)) {
            ++seen[entry->d_name];
            const std::string come = "come" + std::to_string(turn);
            ::close(::open(come.c_str(), O_CREAT | O_WRONLY, 0600));
            if (turn > 0) ::unlink(("come" + std::to_string(turn - 1)).c_str());
            if (++turn == 2 * kStay) break;
        }
        int missing = 0;
        int twice = 0;
        for (int i = 0; i < kStay; ++i) {
            missing += seen[number(i)] == 0;
            twice += seen[number(i)] > 1;
        }
        scene.told("missing", missing);
        scene.told("twice", twice);
        ::unlink(("come" + std::to_string(turn - 1)).c_str());
    });
    group.add("while it is emptied", {}, owner(), [](Scene& scene) {
        constexpr int kCount = 800;
        make(kCount);
        DIR* stream = ::opendir(".");
        int removed = 0;
        while (const dirent* entry = ::readdir(stream)) {
            if (entry->d_name[0] == 'n' && ::unlink(entry->d_name) == 0) ++removed;
        }
        scene.told("removed", removed);
        tell(scene, "left", rest_of(::opendir(".")));
    });
    group.add("while names are exchanged", {}, owner(), [](Scene& scene) {
        make(100);
        DIR* stream = ::opendir(".");
        std::set<std::string> seen;
        while (const dirent* entry = ::readdir(stream)) {
            seen.insert(entry->d_name);
            ::renameat2(AT_FDCWD, "n00001", AT_FDCWD, "n00098", RENAME_EXCHANGE);
        }
        scene.told("seen", static_cast<long>(seen.size()));
    });
    group.add("of a removed directory", {{{"d", Kind::kDirectory, 0755}}}, owner(),
              [](Scene& scene) {
                  DIR* stream = ::opendir("d");
                  scene.told("rmdir", ::rmdir("d"));
                  tell(scene, "names", rest_of(stream));
              });
}

}  // namespace

Group listing() {
    Group group("list");
    add_whole(group);
    add_positions(group);
    add_changes(group);
    return group;
}

}  // namespace unwrite::tests::parity
