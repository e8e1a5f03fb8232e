// write_seeds FOLDER: the seeds of every target, in FOLDER/<target>/.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/targets.h"

int main(int count, char** arguments) {
    if (count != 2) {
        static_cast<void>(std::fprintf(stderr, "usage: write_seeds FOLDER\n"));
        return 2;
    }
    for (const std::string& target : unwrite::fuzz::target_names()) {
        const auto folder = std::filesystem::path(arguments[1]) / target;
        std::error_code failure;
        std::filesystem::create_directories(folder, failure);
        int number = 0;
        for (const std::string& seed : unwrite::fuzz::seeds_of(target)) {
            std::ofstream file(folder / ("seed-" + std::to_string(++number)), std::ios::binary);
            file << seed;
            if (!file.flush()) {
                static_cast<void>(std::fprintf(stderr, "cannot write to %s\n", folder.c_str()));
                return 1;
            }
        }
    }
    return 0;
}
