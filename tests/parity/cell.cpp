#include "tests/parity/cell.h"

#include <cstdio>

namespace unwrite::tests::parity {

const std::vector<Actor>& actors() {
    static const std::vector<Actor> all = {
        {"root", 0, 0, {}},
        {"owner", kOwner, kGroup, {}},
        {"member", 3002, kGroup, {}},
        {"supplementary", 3003, 3103, {3104, kGroup}},
        {"stranger", 3004, 3105, {3106, 3107}},
        {"other", 3005, 3108, {}},
    };
    return all;
}

const Actor& root() {
    return actors()[0];
}

const Actor& owner() {
    return actors()[1];
}

const Actor& member() {
    return actors()[2];
}

const Actor& other() {
    return actors()[5];
}

Actor with_umask(Actor actor, mode_t umask) {
    actor.umask = umask;
    return actor;
}

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::kAbsent:
            return "absent";
        case Kind::kFile:
            return "file";
        case Kind::kEmpty:
            return "empty";
        case Kind::kSparse:
            return "sparse";
        case Kind::kTwin:
            return "twin";
        case Kind::kDirectory:
            return "directory";
        case Kind::kFull:
            return "full";
        case Kind::kLink:
            return "link";
        case Kind::kLinkToDirectory:
            return "link-to-directory";
        case Kind::kDangling:
            return "dangling";
        case Kind::kLoop:
            return "loop";
        case Kind::kFifo:
            return "fifo";
        case Kind::kSocket:
            return "socket";
        case Kind::kCharacterDevice:
            return "character-device";
        case Kind::kBlockDevice:
            return "block-device";
    }
    return "?";
}

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {
        Kind::kFile, Kind::kEmpty,  Kind::kSparse,          Kind::kTwin,        Kind::kDirectory,
        Kind::kFull, Kind::kLink,   Kind::kLinkToDirectory, Kind::kDangling,    Kind::kLoop,
        Kind::kFifo, Kind::kSocket, Kind::kCharacterDevice, Kind::kBlockDevice,
    };
    return all;
}

std::string octal(mode_t mode) {
    char text[16];
    std::snprintf(text, sizeof text, "%04o", mode & 07777U);
    return text;
}

}  // namespace unwrite::tests::parity
