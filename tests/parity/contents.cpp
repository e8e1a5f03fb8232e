// Bytes: read, write and their kin, direct and mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

// No memory is there.
char* volatile g_nowhere = reinterpret_cast<char*>(16);

const std::vector<Kind> kFiles = {Kind::kFile, Kind::kEmpty, Kind::kSparse, Kind::kTwin};
const std::vector<off_t> kOffsets = {0, 1, 4095, 4096, 9999, 10000, 12345, 65536, 524288, 1048576};

void tell_bytes(Scene& scene, const char* call, long result, const char* bytes) {
    scene.told(call, result);
    if (result > 0) scene.say("bytes", brief({bytes, static_cast<std::size_t>(result)}));
}

void add_offsets(Group& group) {
    for (const Kind kind : kFiles) {
        for (const off_t offset : kOffsets) {
            for (const std::size_t length :
                 {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{200000}}) {
                group.add(std::string("at ") + std::to_string(offset) + ", " +
                              std::to_string(length) + " bytes of " + name_of(kind),
                          {{{"x", kind}}}, owner(), [offset, length](Scene& scene) {
                              std::string bytes(length, '#');
                              const int fd = scene.opened("open", ::open("x", O_RDWR));
                              tell_bytes(scene, "pread", ::pread(fd, bytes.data(), length, offset),
                                         bytes.data());
                              bytes.assign(length, '*');
                              scene.told("pwrite", ::pwrite(fd, bytes.data(), length, offset));
                              tell_bytes(scene, "pread", ::pread(fd, bytes.data(), length, offset),
                                         bytes.data());
                              scene.look("fstat", fd);
                          });
            }
        }
    }
}

void add_vectors(Group& group) {
    group.add("writev and readv", {{{"x"}}}, owner(), [](Scene& scene) {
        char one[3] = {'1', '2', '3'};
        char two[5] = {'a', 'b', 'c', 'd', 'e'};
        const iovec parts[3] = {{one, 3}, {two, 0}, {two, 5}};
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        scene.told("writev", ::writev(fd, parts, 3));
        scene.told("readv", ::readv(fd, parts, 3));
        scene.say("bytes", std::string(one, 3) + std::string(two, 5));
        scene.told("pwritev", ::pwritev(fd, parts, 3, 9990));
        scene.told("preadv", ::preadv(fd, parts, 3, 9998));
        scene.told("pwritev2 append", ::pwritev2(fd, parts, 3, 0, RWF_APPEND));
        scene.told("pwritev2 nowait", ::pwritev2(fd, parts, 3, 0, RWF_DSYNC));
        scene.look("fstat", fd);
    });
    group.add("append", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR | O_APPEND));
        const int second = scene.opened("open", ::open("x", O_RDWR | O_APPEND));
        scene.told("write", ::write(fd, "one", 3));
        scene.told("write", ::write(second, "two", 3));
        scene.told("write", ::write(fd, "three", 5));
        scene.told("pwrite", ::pwrite(fd, "four", 4, 0));
        scene.told("at", ::lseek(fd, 0, SEEK_CUR));
        scene.told("ftruncate", ::ftruncate(fd, 10));
        scene.told("write", ::write(second, "five", 4));
        scene.look("fstat", fd);
    });
    group.add("wrong calls", {{{"x"}, {"d", Kind::kDirectory, 0755}}}, owner(), [](Scene& scene) {
        char byte = 0;
        const int reader = scene.opened("open", ::open("x", O_RDONLY));
        const int writer = scene.opened("open", ::open("x", O_WRONLY));
        const int directory = scene.opened("open", ::open("d", O_RDONLY));
        scene.told("write to a reader", ::write(reader, "a", 1));
        scene.told("read of a writer", ::read(writer, &byte, 1));
        scene.told("read of a directory", ::read(directory, &byte, 1));
        scene.told("ftruncate of a reader", ::ftruncate(reader, 1));
        scene.told("ftruncate of a directory", ::ftruncate(directory, 1));
        scene.told("truncate of a directory", ::truncate("d", 1));
        scene.told("negative offset", ::pread(reader, &byte, 1, -1));
        scene.told("lseek before", ::lseek(reader, -1, SEEK_SET));
        scene.told("lseek of a directory", ::lseek(directory, 0, SEEK_END) >= 0 ? 0 : -1);
        scene.told("beyond the largest file", ::pwrite(writer, "a", 1, INT64_MAX - 10));
        scene.told("fsync of a reader", ::fsync(reader));
        scene.told("fdatasync", ::fdatasync(writer));
        scene.told("fsync of a directory", ::fsync(directory));
    });
    group.add("lseek far", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDONLY));
        scene.told("lseek", ::lseek(fd, 1L << 50U, SEEK_SET));
    });
    group.add("bad address", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        scene.told("write", ::write(fd, g_nowhere, 5));
        scene.told("read", ::read(fd, g_nowhere, 5));
    });
    group.add("file size limit", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR));
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = {10010, 10010};
        scene.told("setrlimit", ::setrlimit(RLIMIT_FSIZE, &limit));
        scene.told("pwrite", ::pwrite(fd, "0123456789abcdef", 16, 10000));
        scene.told("pwrite", ::pwrite(fd, "0123456789abcdef", 16, 10010));
        scene.told("ftruncate", ::ftruncate(fd, 10011));
        scene.told("fallocate", ::fallocate(fd, 0, 0, 20000));
    });
}

void add_direct(Group& group) {
    for (const auto& [offset, length] : std::vector<std::pair<off_t, std::size_t>>{
             {0, 4096}, {4096, 8192}, {8192, 4096}, {0, 1000}, {100, 4096}, {9000, 5}}) {
        group.add("direct at " + std::to_string(offset) + ", " + std::to_string(length) + " bytes",
                  {{{"x"}}}, owner(), [offset = offset, length = length](Scene& scene) {
                      alignas(4096) static char block[16384];
                      const int fd = scene.opened("open", ::open("x", O_RDWR | O_DIRECT));
                      tell_bytes(scene, "pread", ::pread(fd, block, length, offset), block);
                      std::memset(block, 'D', sizeof block);
                      scene.told("pwrite", ::pwrite(fd, block, length, offset));
                      scene.look("fstat", fd);
                  });
    }
    // The last page of a file that a direct writer has open, stored to through a mapping.
    group.add("mapped tail of a direct file", {{{"x"}}}, owner(), [](Scene& scene) {
        const int fd = scene.opened("open", ::open("x", O_RDWR | O_DIRECT));
        auto* map =
            static_cast<char*>(::mmap(nullptr, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        scene.told("mmap", map == MAP_FAILED ? -1 : 0);
        map[9999] = 'T';
        scene.told("msync", ::msync(map, 10000, MS_SYNC));
        scene.told("munmap", ::munmap(map, 10000));
        scene.look("fstat", fd);
    });
    for (const int flags : {PROT_READ, PROT_READ | PROT_WRITE}) {
        for (const int share : {MAP_SHARED, MAP_PRIVATE}) {
            for (const int access : {O_RDONLY, O_RDWR, O_WRONLY}) {
                group.add("mmap " + std::to_string(flags) + " " + std::to_string(share) + " of " +
                              std::to_string(access),
                          {{{"x"}}}, owner(), [flags, share, access](Scene& scene) {
                              const int fd = scene.opened("open", ::open("x", access));
                              auto* map =
                                  static_cast<char*>(::mmap(nullptr, 8192, flags, share, fd, 0));
                              scene.told("mmap", map == MAP_FAILED ? -1 : 0);
                              if (map == MAP_FAILED) return;
                              scene.say("bytes", brief({map, 40}));
                              if ((flags & PROT_WRITE) != 0) std::memcpy(map + 10, "mapped", 6);
                              scene.told("msync", ::msync(map, 8192, MS_SYNC));
                              char text[20] = {};
                              scene.told("pread", ::pread(fd, text, 18, 0));
                              scene.say("text", text);
                              scene.told("ftruncate", ::ftruncate(fd, 5));
                          });
            }
        }
    }
}

}  // namespace

Group reading_writing() {
    Group group("content");
    add_offsets(group);
    add_vectors(group);
    add_direct(group);
    return group;
}

}  // namespace unwrite::tests::parity
