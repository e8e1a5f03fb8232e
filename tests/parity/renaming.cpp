// rename(2) and renameat2(2): every kind over every kind, with each flag.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

long rename_with(const char* from, const char* to, unsigned flags) {
    return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

struct Flag {
    const char* name;
    unsigned value;
};
const std::vector<Flag> kFlags = {
    {"", 0}, {" noreplace", RENAME_NOREPLACE}, {" exchange", RENAME_EXCHANGE}};

const std::vector<Kind> kRenamed = {Kind::kAbsent,          Kind::kFile, Kind::kTwin,
                                    Kind::kDirectory,       Kind::kFull, Kind::kLink,
                                    Kind::kLinkToDirectory, Kind::kFifo, Kind::kSocket,
                                    Kind::kCharacterDevice};

Item item(const char* name, Kind kind) {
    const bool directory = kind == Kind::kDirectory || kind == Kind::kFull;
    return {name, kind, directory ? 0755U : 0644U};
}

void add_pairs(Group& group) {
    for (const Kind from : kRenamed) {
        for (const Kind to : kRenamed) {
            for (const Flag& flag : kFlags) {
                group.add(std::string(name_of(from)) + " over " + name_of(to) + flag.name,
                          {{item("x", from), item("y", to)}}, owner(), [flag](Scene& scene) {
                              scene.told("renameat2", rename_with("x", "y", flag.value));
                              scene.look_at("x");
                              scene.look_at("y");
                          });
            }
        }
    }
}

void add_flag_mixtures(Group& group) {
    for (const unsigned flags :
         {unsigned{RENAME_NOREPLACE | RENAME_EXCHANGE}, unsigned{RENAME_WHITEOUT},
          unsigned{RENAME_WHITEOUT | RENAME_NOREPLACE}, unsigned{RENAME_WHITEOUT | RENAME_EXCHANGE},
          8U}) {
        for (const Actor* actor : {&root(), &owner()}) {
            group.add(
                "flags " + std::to_string(flags) + " by " + actor->name, {{{"x"}, {"y"}}}, *actor,
                [flags](Scene& scene) { scene.told("renameat2", rename_with("x", "y", flags)); });
        }
    }
}

void add_spellings(Group& group) {
    const std::vector<std::pair<const char*, const char*>> pairs = {
        {"d/", "new"},      {"d/", "new/"},     {"d", "new/"},      {"x", "new/"},
        {"x/", "new"},      {"x", "y/"},        {"x/", "y"},        {"d/.", "new"},
        {"d/..", "new"},    {".", "new"},       {"..", "new"},      {"x", "."},
        {"x", ".."},        {"x", "d/."},       {"x", "d/.."},      {"d", "d"},
        {"x", "x"},         {"d", "d/e"},       {"f", "f/below/e"}, {"f", "f/below"},
        {"f/below", "f"},   {"f/in", "f"},      {"x", "d/new"},     {"d", "f/below"},
        {"f/below", "d"},   {"f/in", "x"},      {"x", "f/in"},      {"x", "f/in/a"},
        {"x", "nothing/a"}, {"nothing/a", "x"}, {"x", ""},          {"", "x"},
        {"link", "new"},    {"link/", "new"},   {"x", "link/"},     {"x", "link/new"},
        {"link/", "d"},     {"d", "link"},      {"d", "link/"},     {"twin", "twin.twin"},
    };
    const Fixture fixture = {{{"x"},
                              {"y"},
                              item("d", Kind::kDirectory),
                              item("f", Kind::kFull),
                              item("link", Kind::kLinkToDirectory),
                              item("twin", Kind::kTwin)}};
    for (const auto& [from, to] : pairs) {
        for (const Flag& flag : kFlags) {
            group.add(std::string("'") + from + "' to '" + to + "'" + flag.name, fixture, owner(),
                      [from = std::string(from), to = std::string(to), flag](Scene& scene) {
                          scene.told("renameat2",
                                     rename_with(from.c_str(), to.c_str(), flag.value));
                      });
        }
    }
}

void add_rights(Group& group) {
    for (const Actor& actor : actors()) {
        for (const mode_t mode : {0777U, 01777U, 0755U, 0775U, 0333U}) {
            for (const Flag& flag : kFlags) {
                Fixture fixture = {{{"x"}, {"y", Kind::kFile, 0644, 3005, 3108}}, mode};
                group.add("in " + octal(mode) + " by " + actor.name + flag.name, fixture, actor,
                          [flag](Scene& scene) {
                              scene.told("renameat2", rename_with("x", "y", flag.value));
                          });
            }
        }
        // To move a directory elsewhere its ".." is written.
        for (const mode_t mode : {0755U, 0555U, 0777U}) {
            Fixture fixture = {{{"d", Kind::kDirectory, mode}, {"to", Kind::kDirectory, 0777}}};
            group.add("directory of " + octal(mode) + " by " + actor.name, fixture, actor,
                      [](Scene& scene) { scene.told("rename", ::rename("d", "to/d")); });
        }
    }
}

void add_open_ones(Group& group) {
    group.add("over an open file", {{{"x"}, {"y", Kind::kEmpty}}}, owner(), [](Scene& scene) {
        const int victim = scene.opened("victim", ::open("y", O_RDWR));
        const int moved = scene.opened("moved", ::open("x", O_RDWR));
        scene.told("rename", ::rename("x", "y"));
        scene.look("victim", victim);
        scene.look("moved", moved);
        scene.told("write", ::pwrite(victim, "lost", 4, 0));
        scene.told("write", ::pwrite(moved, "kept", 4, 0));
        scene.look("victim", victim);
        char text[5] = {};
        scene.told("read", ::pread(victim, text, 4, 0));
        scene.say("text", text);
    });
    group.add("a directory that is stood in", {{item("d", Kind::kFull), item("e", Kind::kFull)}},
              owner(), [](Scene& scene) {
                  scene.told("chdir", ::chdir("d"));
                  scene.told("rename", ::rename("../d", "../e/d"));
                  scene.look_at("in");
                  scene.look_at("../../e");
                  scene.told("mkdir", ::mkdir("new", 0755));
              });
    group.add("a chain", {{{"a"}, {"b", Kind::kEmpty}}}, owner(), [](Scene& scene) {
        scene.told("b to c", ::rename("b", "c"));
        scene.told("a to b", ::rename("a", "b"));
        scene.told("c to a", ::rename("c", "a"));
        scene.told("exchange", rename_with("a", "b", RENAME_EXCHANGE));
    });
}

}  // namespace

Group renaming() {
    Group group("rename");
    add_pairs(group);
    add_flag_mixtures(group);
    add_spellings(group);
    add_rights(group);
    add_open_ones(group);
    return group;
}

}  // namespace unwrite::tests::parity
