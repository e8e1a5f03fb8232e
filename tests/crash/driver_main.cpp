// crash_driver run SCENARIO DIRECTORY PROGRESS: does the scenario. crash_driver open DIRECTORY:
// opens the session and closes it.
#include <cstdio>
#include <exception>
#include <string>

#include "tests/crash/driver.h"

int main(int count, char** arguments) {
    using namespace unwrite::tests;
    try {
        const std::string verb = count > 1 ? arguments[1] : "";
        if (verb == "run" && count == 5) {
            drive(arguments[2], arguments[3], arguments[4]);
            return 0;
        }
        if (verb == "open" && count == 3) {
            const World world(arguments[2]);
            return 0;
        }
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    std::fprintf(stderr, "usage: crash_driver run SCENARIO DIRECTORY PROGRESS | open DIRECTORY\n");
    return 2;
}
