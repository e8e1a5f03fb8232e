// Identity: inode numbers, link counts of what has no name, handles, the filesystem's own numbers.
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

struct stat stat_of(const char* path) {
    struct stat st = {};
    ::lstat(path, &st);
    return st;
}

void same(Scene& scene, const char* what, const struct stat& a, const struct stat& b) {
    scene.say(what,
              a.st_ino == b.st_ino && a.st_dev == b.st_dev ? "same object" : "another object");
}

void add_numbers(Group& group) {
    for (const Kind kind : kinds()) {
        group.add(std::string("number of ") + name_of(kind), {{{"x", kind, 0755}}}, owner(),
                  [](Scene& scene) {
                      const struct stat before = stat_of("x");
                      same(scene, "again", before, stat_of("x"));
                      scene.told("chmod", ::fchmodat(AT_FDCWD, "x", 0700, 0));
                      same(scene, "after chmod", before, stat_of("x"));
                      scene.told("rename", ::rename("x", "y"));
                      same(scene, "after rename", before, stat_of("y"));
                      scene.told("link", ::link("y", "z"));
                      same(scene, "link", before, stat_of("y"));
                      const int fd = ::open("y", O_PATH | O_NOFOLLOW);
                      struct stat held = {};
                      ::fstat(fd, &held);
                      same(scene, "descriptor", before, held);
                      same(scene, "not the directory", before, stat_of("."));
                  });
    }
    group.add("number of dotdot", {{{"x", Kind::kFull, 0755}}}, owner(), [](Scene& scene) {
        same(scene, "x/..", stat_of("."), stat_of("x/.."));
        same(scene, "x/below/..", stat_of("x"), stat_of("x/below/.."));
        same(scene, "x/below/../..", stat_of("."), stat_of("x/below/../.."));
    });
    group.add("statx", {{{"x"}}}, owner(), [](Scene& scene) {
        struct statx x = {};
        scene.told("statx", ::statx(AT_FDCWD, "x", 0, STATX_BASIC_STATS, &x));
        scene.told("mask", x.stx_mask & STATX_BASIC_STATS);
        scene.told("size", static_cast<long>(x.stx_size));
        scene.told("blocks", static_cast<long>(x.stx_blocks));
        scene.told("block size", x.stx_blksize);
        scene.told("attributes", static_cast<long>(x.stx_attributes & STATX_ATTR_IMMUTABLE));
        struct statx quick = {};
        scene.told("quick", ::statx(AT_FDCWD, "x", AT_STATX_DONT_SYNC, STATX_SIZE, &quick));
        scene.told("quick size", static_cast<long>(quick.stx_size));
    });
    group.add("birth", {{{"x"}}}, owner(), [](Scene& scene) {
        struct statx x = {};
        scene.told("statx", ::statx(AT_FDCWD, "x", 0, STATX_BTIME, &x));
        scene.say("birth", (x.stx_mask & STATX_BTIME) != 0 ? "known" : "unknown");
    });
}

void add_nameless(Group& group) {
    for (const Kind kind : {Kind::kFile, Kind::kTwin, Kind::kDirectory, Kind::kFifo, Kind::kLink}) {
        for (const bool fresh : {false, true}) {
            group.add(std::string(fresh ? "new " : "old ") + name_of(kind) + " without a name",
                      {{{"x", kind, 0755}}}, owner(), [kind, fresh](Scene& scene) {
                          if (fresh && kind == Kind::kFile) {
                              ::unlink("x");
                              ::close(::open("x", O_CREAT | O_RDWR, 0600));
                          }
                          if (fresh && kind == Kind::kDirectory) {
                              ::rmdir("x");
                              ::mkdir("x", 0700);
                          }
                          const int fd = scene.opened("open", ::open("x", O_PATH | O_NOFOLLOW));
                          scene.look("named", fd);
                          scene.told("remove",
                                     kind == Kind::kDirectory ? ::rmdir("x") : ::unlink("x"));
                          scene.look("nameless", fd);
                          scene.told("twin", ::unlink("x.twin"));
                          scene.look("nameless", fd);
                      });
        }
    }
    group.add("written without a name", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        scene.told("unlink", ::unlink("x"));
        scene.told("write", ::pwrite(fd, "nameless", 8, 9996));
        char text[16] = {};
        scene.told("read", ::pread(fd, text, 15, 9990));
        scene.say("text", text);
        auto* map =
            static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        scene.told("mmap", map == MAP_FAILED ? -1 : 0);
        map[3] = 'M';
        scene.told("msync", ::msync(map, 4096, MS_SYNC));
        scene.told("read", ::pread(fd, text, 5, 0));
        scene.say("text", text);
        const std::string self = "/proc/self/fd/" + std::to_string(fd);
        scene.opened("open again", ::open(self.c_str(), O_RDONLY));
        scene.told("anew", ::close(::open("x", O_CREAT | O_EXCL | O_WRONLY, 0600)));
        scene.look("old", fd);
    });
    for (const char* order : {"link first", "link after"}) {
        group.add(std::string("counts of many names, ") + order, {{{"x"}}}, owner(),
                  [](Scene& scene) {
                      const int fd = scene.opened("open", ::open("x", O_RDONLY));
                      for (int i = 0; i < 20; ++i)
                          ::link("x", ("n" + std::to_string(i)).c_str());
                      scene.look("linked", fd);
                      for (int i = 0; i < 20; i += 2)
                          ::unlink(("n" + std::to_string(i)).c_str());
                      scene.told("unlink", ::unlink("x"));
                      scene.look("half", fd);
                      scene.told("over", ::rename("n1", "n3"));
                      scene.told("over a new one", ::rename("n5", "fresh"));
                      scene.look("rest", fd);
                  });
    }
    group.add("counts of directories", {}, owner(), [](Scene& scene) {
        for (const char* name : {"a", "a/b", "a/c", "a/b/d"})
            scene.told("mkdir", ::mkdir(name, 0755));
        scene.told("rename", ::rename("a/b", "b"));
        scene.look_at("a");
        scene.told("exchange", ::renameat2(AT_FDCWD, "a/c", AT_FDCWD, "b/d", RENAME_EXCHANGE));
        scene.told("rmdir", ::rmdir("a/c"));
        scene.look_at("a");
        scene.look_at(".");
    });
}

void add_handles(Group& group) {
    for (const Kind kind : {Kind::kFile, Kind::kTwin, Kind::kDirectory, Kind::kFull}) {
        group.add(std::string("handle of ") + name_of(kind), {{{"x", kind, 0755}}}, root(),
                  [](Scene& scene) {
                      alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
                      auto* handle = reinterpret_cast<file_handle*>(room);
                      handle->handle_bytes = MAX_HANDLE_SZ;
                      int mount = 0;
                      scene.told("name_to_handle_at",
                                 ::name_to_handle_at(AT_FDCWD, "x", handle, &mount, 0));
                      const int dir = ::open(".", O_RDONLY | O_DIRECTORY);
                      const int fd = scene.opened("open_by_handle_at",
                                                  ::open_by_handle_at(dir, handle, O_RDONLY));
                      scene.look("fstat", fd);
                      scene.told("rename", ::rename("x", "y"));
                      scene.opened("after a rename", ::open_by_handle_at(dir, handle, O_RDONLY));
                      ::close(fd);
                  });
    }
    group.add("handle by a user", {{{"x"}}}, owner(), [](Scene& scene) {
        alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
        auto* handle = reinterpret_cast<file_handle*>(room);
        int mount = 0;
        scene.told("how long", ::name_to_handle_at(AT_FDCWD, "x", handle, &mount, 0));
        handle->handle_bytes = MAX_HANDLE_SZ;
        scene.told("name_to_handle_at", ::name_to_handle_at(AT_FDCWD, "x", handle, &mount, 0));
        const int dir = ::open(".", O_RDONLY | O_DIRECTORY);
        scene.opened("open_by_handle_at", ::open_by_handle_at(dir, handle, O_RDONLY));
    });
}

void add_filesystem(Group& group) {
    group.add("statfs", {{{"x"}}}, owner(), [](Scene& scene) {
        struct statvfs numbers = {};
        scene.told("statvfs", ::statvfs("x", &numbers));
        scene.told("block size", static_cast<long>(numbers.f_bsize));
        scene.told("fragment size", static_cast<long>(numbers.f_frsize));
        scene.told("blocks", static_cast<long>(numbers.f_blocks));
        scene.told("files", static_cast<long>(numbers.f_files));
        scene.told("longest name", static_cast<long>(numbers.f_namemax));
        scene.say("some free", numbers.f_bfree > 0 && numbers.f_ffree > 0 ? "yes" : "no");
        const int fd = scene.opened("open", ::open("x", O_RDONLY));
        scene.told("fstatvfs", ::fstatvfs(fd, &numbers));
        scene.told("nothing", ::statvfs("nothing", &numbers));
        for (const int name : {_PC_NAME_MAX, _PC_PATH_MAX, _PC_SYMLINK_MAX, _PC_CHOWN_RESTRICTED})
            scene.told("pathconf " + std::to_string(name), ::pathconf("x", name));
        scene.told("syncfs", ::syncfs(fd));
    });
    group.add("pathconf", {{{"x"}}}, owner(),
              [](Scene& scene) { scene.told("links", ::pathconf("x", _PC_LINK_MAX)); });
    group.add("inode flags", {{{"x"}, {"d", Kind::kDirectory, 0755}}}, owner(), [](Scene& scene) {
        long flags = 0;
        scene.told("of a file", ::ioctl(::open("x", O_RDWR), FS_IOC_GETFLAGS, &flags));
        scene.told("of a directory", ::ioctl(::open("d", O_RDONLY), FS_IOC_GETFLAGS, &flags));
    });
    group.add("ioctls", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        int waiting = 0;
        scene.told("FIONREAD", ::ioctl(fd, FIONREAD, &waiting));
        scene.told("bytes", waiting);
        scene.told("unknown", ::ioctl(fd, _IO('!', 77), 0));
    });
    for (const Kind kind : {Kind::kFile, Kind::kSparse, Kind::kEmpty}) {
        group.add(std::string("fiemap of ") + name_of(kind), {{{"x", kind}}}, owner(),
                  [](Scene& scene) {
                      const int fd = scene.opened("open", ::open("x", O_RDONLY));
                      alignas(fiemap) char room[sizeof(fiemap) + 8 * sizeof(fiemap_extent)] = {};
                      auto* map = reinterpret_cast<fiemap*>(room);
                      map->fm_length = 1U << 20U;
                      map->fm_flags = FIEMAP_FLAG_SYNC;
                      map->fm_extent_count = 8;
                      scene.told("fiemap", ::ioctl(fd, FS_IOC_FIEMAP, map));
                      scene.told("extents", map->fm_mapped_extents);
                  });
    }
}

}  // namespace

Group objects() {
    Group group("object");
    add_numbers(group);
    add_nameless(group);
    add_handles(group);
    add_filesystem(group);
    return group;
}

}  // namespace unwrite::tests::parity
