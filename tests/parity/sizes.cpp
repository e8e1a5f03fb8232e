// Sizes and extents: truncate, fallocate, seeking for data, copies between files.
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

const std::vector<Kind> kFiles = {Kind::kFile, Kind::kEmpty, Kind::kSparse, Kind::kTwin};

void add_truncations(Group& group) {
    for (const Kind kind : kFiles) {
        for (const off_t size :
             {off_t{0}, off_t{1}, off_t{4096}, off_t{9999}, off_t{10000}, off_t{10001},
              off_t{600000}, off_t{1048576}, off_t{3000000}, off_t{-1}}) {
            group.add("ftruncate of " + std::string(name_of(kind)) + " to " + std::to_string(size),
                      {{{"x", kind}}}, owner(), [size](Scene& scene) {
                          const int fd = scene.opened("open", ::open("x", O_RDWR));
                          scene.told("ftruncate", ::ftruncate(fd, size));
                          scene.look("fstat", fd);
                          scene.told("grow", ::ftruncate(fd, 12000));
                          char text[8] = {};
                          scene.told("pread", ::pread(fd, text, 8, 10005));
                          scene.say("bytes", brief({text, 8}));
                      });
            group.add("truncate of " + std::string(name_of(kind)) + " to " + std::to_string(size),
                      {{{"x", kind}}}, owner(),
                      [size](Scene& scene) { scene.told("truncate", ::truncate("x", size)); });
        }
    }
    for (const Kind kind : kinds()) {
        group.add(std::string("truncate of ") + name_of(kind), {{{"x", kind}}}, owner(),
                  [](Scene& scene) { scene.told("truncate", ::truncate("x", 3)); });
    }
    group.add("truncate beyond the largest file", {{{"x"}}}, owner(), [](Scene& scene) {
        scene.told("truncate", ::truncate("x", INT64_MAX));
        scene.told("truncate", ::truncate("x", 1L << 44U));
    });
}

void add_allocations(Group& group) {
    struct Mode {
        const char* name;
        int value;
    };
    const std::vector<Mode> modes = {
        {"plain", 0},
        {"keep", FALLOC_FL_KEEP_SIZE},
        {"punch", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE},
        {"punch without keep", FALLOC_FL_PUNCH_HOLE},
        {"zero", FALLOC_FL_ZERO_RANGE},
        {"zero keep", FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE},
        {"collapse", FALLOC_FL_COLLAPSE_RANGE},
        {"insert", FALLOC_FL_INSERT_RANGE},
        {"unshare", FALLOC_FL_UNSHARE_RANGE},
        {"unknown", 0x100},
    };
    const std::vector<std::pair<off_t, off_t>> ranges = {
        {0, 4096}, {100, 200}, {4096, 8192}, {9000, 5000}, {20000, 4096}, {0, 0}, {-1, 5}};
    for (const Kind kind : {Kind::kFile, Kind::kSparse}) {
        for (const Mode& mode : modes) {
            for (const auto& [offset, length] : ranges) {
                group.add(std::string("fallocate ") + mode.name + " " + std::to_string(offset) +
                              "+" + std::to_string(length) + " of " + name_of(kind),
                          {{{"x", kind}}}, owner(),
                          [mode, offset = offset, length = length](Scene& scene) {
                              const int fd = scene.opened("open", ::open("x", O_RDWR));
                              scene.told("fallocate", ::fallocate(fd, mode.value, offset, length));
                              scene.look("fstat", fd);
                          });
            }
        }
    }
    for (const Kind kind : {Kind::kDirectory, Kind::kFifo, Kind::kCharacterDevice}) {
        group.add(std::string("fallocate of ") + name_of(kind), {{{"x", kind, 0755}}}, owner(),
                  [](Scene& scene) {
                      const int fd = ::open("x", O_RDWR | O_NONBLOCK);
                      const int fallback = ::open("x", O_RDONLY | O_NONBLOCK);
                      scene.told("fallocate", ::fallocate(fd < 0 ? fallback : fd, 0, 0, 10));
                  });
    }
}

void add_seeks(Group& group) {
    for (const Kind kind : kFiles) {
        for (const int whence : {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 99}) {
            for (const off_t offset :
                 {off_t{0}, off_t{4096}, off_t{9999}, off_t{10000}, off_t{524288}, off_t{530000},
                  off_t{1048575}, off_t{1048576}, off_t{-1}}) {
                group.add("lseek " + std::to_string(whence) + " " + std::to_string(offset) +
                              " of " + name_of(kind),
                          {{{"x", kind}}}, owner(), [whence, offset](Scene& scene) {
                              const int fd = scene.opened("open", ::open("x", O_RDONLY));
                              scene.told("lseek", ::lseek(fd, offset, whence));
                              scene.told("at", ::lseek(fd, 0, SEEK_CUR));
                          });
            }
        }
    }
}

using Copy = std::function<long(int in, off64_t from, int out, off64_t to, std::size_t length)>;

std::vector<std::pair<const char*, Copy>> copies() {
    return {
        {"copy_file_range",
         [](int in, off64_t from, int out, off64_t to, std::size_t length) -> long {
             return ::copy_file_range(in, &from, out, &to, length, 0);
         }},
        {"sendfile",
         [](int in, off64_t from, int out, off64_t to, std::size_t length) -> long {
             ::lseek(out, to, SEEK_SET);
             return ::sendfile(out, in, &from, length);
         }},
        {"clone range",
         [](int in, off64_t from, int out, off64_t to, std::size_t length) -> long {
             const file_clone_range range = {in, static_cast<unsigned long long>(from), length,
                                             static_cast<unsigned long long>(to)};
             return ::ioctl(out, FICLONERANGE, &range);
         }},
        {"clone",
         [](int in, off64_t, int out, off64_t, std::size_t) -> long {
             return ::ioctl(out, FICLONE, in);
         }},
    };
}

void add_copies(Group& group) {
    struct Range {
        off64_t from;
        off64_t to;
        std::size_t length;
    };
    const std::vector<Range> ranges = {
        {0, 0, 10000},       {0, 0, 100000}, {4096, 0, 4096},   {100, 7, 3000},
        {9000, 20000, 5000}, {20000, 0, 10}, {524288, 0, 8192}, {0, 0, 0}};
    for (const auto& [call, copy] : copies()) {
        for (const Kind from : {Kind::kFile, Kind::kSparse, Kind::kEmpty}) {
            for (const Range& range : ranges) {
                group.add(std::string(call) + " of " + name_of(from) + " " +
                              std::to_string(range.from) + " to " + std::to_string(range.to) + "+" +
                              std::to_string(range.length),
                          {{{"x", from}, {"y"}}}, owner(), [copy = copy, range](Scene& scene) {
                              const int in = scene.opened("open", ::open("x", O_RDONLY));
                              const int out = scene.opened("open", ::open("y", O_RDWR));
                              scene.told("copy", copy(in, range.from, out, range.to, range.length));
                              scene.told("at", ::lseek(out, 0, SEEK_CUR));
                              scene.look("fstat", out);
                          });
            }
        }
        group.add(std::string(call) + " within a file", {{{"x"}}}, owner(),
                  [copy = copy](Scene& scene) {
                      const int fd = scene.opened("open", ::open("x", O_RDWR));
                      scene.told("apart", copy(fd, 0, fd, 5000, 1000));
                      scene.told("overlapping", copy(fd, 0, fd, 500, 1000));
                  });
        group.add(std::string(call) + " with wrong descriptors",
                  {{{"x"}, {"y"}, {"d", Kind::kDirectory, 0755}}}, owner(),
                  [copy = copy](Scene& scene) {
                      const int in = scene.opened("open", ::open("x", O_RDONLY));
                      const int writer = scene.opened("open", ::open("x", O_WRONLY));
                      const int append = scene.opened("open", ::open("y", O_WRONLY | O_APPEND));
                      const int directory = scene.opened("open", ::open("d", O_RDONLY));
                      scene.told("to a reader", copy(in, 0, in, 20000, 10));
                      scene.told("from a writer", copy(writer, 0, append, 0, 10));
                      scene.told("to an appender", copy(in, 0, append, 0, 10));
                      scene.told("from a directory", copy(directory, 0, writer, 0, 10));
                      scene.told("to a directory", copy(in, 0, directory, 0, 10));
                  });
    }
}

}  // namespace

Group sizes() {
    Group group("size");
    add_truncations(group);
    add_allocations(group);
    add_seeks(group);
    add_copies(group);
    return group;
}

}  // namespace unwrite::tests::parity
