// What the tests share that damage a state directory.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <thread>

#include "journal/checksums.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {

class Damaging : public Looking {
 protected:
    std::filesystem::path state() const { return raw() / ".unwrite"; }
    /// A world that gives captured bytes their checksums at once.
    void begin_proving() {
        overlay::SessionOptions options;
        options.checksum_after = std::chrono::milliseconds(0);
        world_.emplace(raw().string(), options);
    }
    /// Until all captured bytes have checksums.
    void wait_for_proof() const {
        for (int tries = 0; tries < 2500 && !is_proved(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        EXPECT_TRUE(is_proved());
    }
    static void flip(const std::filesystem::path& file, std::uint64_t position, int bit) {
        std::fstream text(file, std::ios::in | std::ios::out | std::ios::binary);
        text.seekg(static_cast<std::streamoff>(position));
        const char byte = static_cast<char>(text.get() ^ (1 << bit));
        text.seekp(static_cast<std::streamoff>(position));
        text.put(byte);
    }

 private:
    bool is_proved() const {
        const auto directory = sys::open_at(AT_FDCWD, state().string(), O_RDONLY | O_DIRECTORY);
        if (!directory) return false;
        const auto sums = journal::Checksums::open(directory->get());
        if (!sums) return false;
        for (const auto& entry : std::filesystem::directory_iterator(state() / "deltas")) {
            const bool is_data = entry.path().extension() == ".dat";
            if (is_data && !(*sums)->find(std::stoull(entry.path().stem()))) return false;
        }
        return true;
    }
};

}  // namespace unwrite::tests
