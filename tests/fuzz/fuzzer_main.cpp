// The door for libFuzzer; UNWRITE_FUZZ_TARGET is the function of targets.h that a program is for.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    unwrite::fuzz::UNWRITE_FUZZ_TARGET(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
