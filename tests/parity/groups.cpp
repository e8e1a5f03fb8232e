#include "tests/parity/groups.h"

namespace unwrite::tests::parity {

const std::vector<Group>& groups() {
    static const std::vector<Group> all = {
        opening(),         creating(),      making(),           removing(),   renaming(),
        paths(),           object_rights(), directory_rights(), attributes(), privileges(),
        reading_writing(), sizes(),         xattrs(),           acls(),       locks(),
        objects(),         listing(),
    };
    return all;
}

}  // namespace unwrite::tests::parity
