// Extended attributes: every namespace on every kind, by every kind of user; sizes and flags.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

/// The names of a list, sorted: their order is no promise.
std::string names_in(const std::string& list) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < list.size();) {
        names.emplace_back(list.c_str() + at);
        at += names.back().size() + 1;
    }
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names)
        text += name + ",";
    return text;
}

void tell_list(Scene& scene) {
    std::string list(65536, '\0');
    const long length = ::llistxattr("x", list.data(), list.size());
    scene.told("list", length);
    if (length >= 0) scene.say("names", names_in(list.substr(0, static_cast<std::size_t>(length))));
}

void add_namespaces(Group& group) {
    for (const char* name : {"user.a", "trusted.a", "security.a", "security.capability", "system.a",
                             "system.posix_acl_access", "user.", "user", "nothing.a", "", "a"}) {
        for (const Kind kind : kinds()) {
            for (const Actor* actor : {&root(), &owner(), &member(), &other()}) {
                group.add(std::string("'") + name + "' of " + name_of(kind) + " by " + actor->name,
                          {{{"x", kind, 0664}}}, *actor, [name](Scene& scene) {
                              char value[32] = {};
                              scene.told("get", ::lgetxattr("x", name, value, sizeof value));
                              scene.told("set", ::lsetxattr("x", name, "value", 5, 0));
                              scene.told("get", ::lgetxattr("x", name, value, sizeof value));
                              scene.told("follow", ::getxattr("x", name, value, sizeof value));
                              tell_list(scene);
                              scene.told("remove", ::lremovexattr("x", name));
                              scene.told("again", ::lremovexattr("x", name));
                              scene.told("leave", ::lsetxattr("x", name, "left", 4, 0));
                          });
            }
        }
    }
}

void add_flags(Group& group) {
    for (const int flags : {0, 0 + XATTR_CREATE, 0 + XATTR_REPLACE, 3, 8}) {
        for (const char* name : {"user.old", "user.new", "trusted.old", "trusted.new"}) {
            group.add(std::string(name) + " with flags " + std::to_string(flags),
                      {{{"x",
                         Kind::kFile,
                         0644,
                         kOwner,
                         kGroup,
                         {{"user.old", "was"}, {"trusted.old", "was"}}}}},
                      root(), [name, flags](Scene& scene) {
                          char value[32] = {};
                          scene.told("set", ::setxattr("x", name, "is", 2, flags));
                          scene.told("get", ::getxattr("x", name, value, sizeof value));
                          scene.say("value", value);
                      });
        }
    }
}

void add_sizes(Group& group) {
    for (const std::size_t size : {0U, 1U, 255U, 1000U, 3000U, 5000U, 65536U, 65537U}) {
        group.add("value of " + std::to_string(size), {{{"x"}}}, owner(), [size](Scene& scene) {
            const std::string value(size, 'v');
            std::string got(70000, '\0');
            scene.told("set", ::setxattr("x", "user.a", value.data(), size, 0));
            scene.told("how long", ::getxattr("x", "user.a", nullptr, 0));
            scene.told("enough", ::getxattr("x", "user.a", got.data(), got.size()));
            scene.told("one less", size == 0 ? 0 : ::getxattr("x", "user.a", got.data(), size - 1));
            scene.told("exact", ::getxattr("x", "user.a", got.data(), size));
            scene.told("one byte", ::getxattr("x", "user.a", got.data(), 1));
            tell_list(scene);
        });
    }
    for (const std::size_t size : {250U, 254U, 255U, 256U, 300U}) {
        group.add("name of " + std::to_string(size), {{{"x"}}}, owner(), [size](Scene& scene) {
            const std::string name = "user." + std::string(size - 5, 'n');
            scene.told("set", ::setxattr("x", name.c_str(), "v", 1, 0));
            scene.told("get", ::getxattr("x", name.c_str(), nullptr, 0));
            tell_list(scene);
            scene.told("remove", ::removexattr("x", name.c_str()));
        });
    }
    group.add("list sizes",
              {{{"x", Kind::kFile, 0644, kOwner, kGroup, {{"user.a", "1"}, {"user.bb", "2"}}}}},
              owner(), [](Scene& scene) {
                  char list[64] = {};
                  for (const std::size_t room : {0U, 1U, 6U, 7U, 14U, 15U, 16U, 64U})
                      scene.told("room " + std::to_string(room), ::listxattr("x", list, room));
              });
    group.add("many", {{{"x"}}}, owner(), [](Scene& scene) {
        int count = 0;
        while (count < 200 &&
               ::setxattr("x", ("user.n" + std::to_string(count)).c_str(), "value", 5, 0) == 0)
            ++count;
        scene.told("set", count);
        tell_list(scene);
    });
    group.add("bytes", {{{"x"}}}, owner(), [](Scene& scene) {
        const std::string value("\0\xff\n\0", 4);
        char got[8] = {};
        scene.told("set", ::setxattr("x", "user.\xff\n", value.data(), value.size(), 0));
        scene.told("get", ::getxattr("x", "user.\xff\n", got, sizeof got));
        scene.say("value", brief({got, 4}));
    });
    group.add("by descriptor", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDONLY));
        scene.told("set", ::fsetxattr(fd, "user.a", "one", 3, XATTR_CREATE));
        scene.told("unlink", ::unlink("x"));
        scene.told("get", ::fgetxattr(fd, "user.a", nullptr, 0));
        scene.told("set", ::fsetxattr(fd, "user.b", "two", 3, 0));
        scene.told("list", ::flistxattr(fd, nullptr, 0));
        scene.told("remove", ::fremovexattr(fd, "user.a"));
    });
}

}  // namespace

Group xattrs() {
    Group group("xattr");
    add_namespaces(group);
    add_flags(group);
    add_sizes(group);
    return group;
}

}  // namespace unwrite::tests::parity
