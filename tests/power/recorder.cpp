// recorder IMAGE LOG DIRECTORY: a disk that remembers. DIRECTORY/disk has the bytes of IMAGE, for a
// loop device. Each write and each flush is appended to LOG, and DIRECTORY/records says how many
// there are. It ends when DIRECTORY is unmounted.
//
// A record: type u8 (1 write, 2 flush), time u64 (ns since 1970), offset u64, length u32, bytes.
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Recorder {
    int image = -1;
    int log = -1;
    std::uint64_t records = 0;
};

Recorder& recorder() {
    return *static_cast<Recorder*>(fuse_get_context()->private_data);
}

template <class Number>
void put(std::string& text, Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text.append(bytes, sizeof value);
}

int record(std::uint8_t type, std::uint64_t offset, const char* bytes, std::uint32_t length) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::string text;
    put(text, type);
    put(text, std::uint64_t(now.tv_sec) * 1'000'000'000U + std::uint64_t(now.tv_nsec));
    put(text, offset);
    put(text, length);
    text.append(bytes, length);
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = ::write(recorder().log, text.data() + at, text.size() - at);
        if (written < 0) return -errno;
        at += static_cast<std::size_t>(written);
    }
    ++recorder().records;
    return 0;
}

int get_attributes(const char* path, struct stat* st, fuse_file_info* /*file*/) {
    *st = {};
    if (std::strcmp(path, "/") == 0) {
        st->st_mode = S_IFDIR | 0700;
        return 0;
    }
    st->st_mode = S_IFREG | 0600;
    if (std::strcmp(path, "/records") == 0) return 0;
    if (std::strcmp(path, "/disk") != 0) return -ENOENT;
    struct stat image {};
    if (::fstat(recorder().image, &image) != 0) return -errno;
    st->st_size = image.st_size;
    return 0;
}

int open_file(const char* /*path*/, fuse_file_info* file) {
    file->direct_io = 1;
    return 0;
}

int read_file(const char* path, char* out, std::size_t size, off_t offset,
              fuse_file_info* /*file*/) {
    if (std::strcmp(path, "/records") == 0) {
        const std::string text = std::to_string(recorder().records) + "\n";
        if (offset >= static_cast<off_t>(text.size())) return 0;
        const std::string rest = text.substr(static_cast<std::size_t>(offset), size);
        std::memcpy(out, rest.data(), rest.size());
        return static_cast<int>(rest.size());
    }
    const ssize_t got = ::pread(recorder().image, out, size, offset);
    return got < 0 ? -errno : static_cast<int>(got);
}

int write_file(const char* /*path*/, const char* bytes, std::size_t size, off_t offset,
               fuse_file_info* /*file*/) {
    const int noted =
        record(1, static_cast<std::uint64_t>(offset), bytes, static_cast<std::uint32_t>(size));
    if (noted != 0) return noted;
    const ssize_t written = ::pwrite(recorder().image, bytes, size, offset);
    return written < 0 ? -errno : static_cast<int>(written);
}

int sync_file(const char* /*path*/, int /*data_only*/, fuse_file_info* /*file*/) {
    return record(2, 0, "", 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: recorder IMAGE LOG DIRECTORY\n");
        return 2;
    }
    Recorder recorder;
    recorder.image = ::open(argv[1], O_RDWR | O_CLOEXEC);
    recorder.log = ::open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (recorder.image < 0 || recorder.log < 0) {
        std::perror("recorder");
        return 1;
    }
    fuse_operations operations{};
    operations.getattr = get_attributes;
    operations.open = open_file;
    operations.read = read_file;
    operations.write = write_file;
    operations.fsync = sync_file;
    // One thread: the order of the records is the order in which they were answered.
    std::vector<std::string> words = {argv[0], "-f", "-s", argv[3]};
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    return fuse_main(static_cast<int>(arguments.size()), arguments.data(), &operations, &recorder);
}
