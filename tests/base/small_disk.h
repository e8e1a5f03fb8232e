// A small filesystem of its own, which needs privileges.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/base/scratch.h"

namespace unwrite::tests {

class SmallDisk {
 public:
    explicit SmallDisk(const char* size = "size=2m")
        : mounted_(::mount("none", scratch_.path().c_str(), "tmpfs", 0, size) == 0) {}
    ~SmallDisk() {
        if (mounted_) ::umount2(scratch_.path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool mounted() const { return mounted_; }
    std::filesystem::path path() const { return scratch_.path(); }
    std::string workspace() const { return scratch_.path() / "w"; }
    /// Takes all room but so many pages.
    void fill(std::uint64_t pages_left) const {
        struct statvfs fs = {};
        ASSERT_EQ(::statvfs(scratch_.path().c_str(), &fs), 0);
        const std::uint64_t pages = fs.f_bavail * fs.f_bsize / 4096;
        if (pages > pages_left)
            std::ofstream(scratch_.path() / "full", std::ios::app)
                << std::string((pages - pages_left) * 4096, 'f');
    }
    void make_room() const { std::filesystem::remove(scratch_.path() / "full"); }

 private:
    const Scratch scratch_;
    const bool mounted_;
};

}  // namespace unwrite::tests
