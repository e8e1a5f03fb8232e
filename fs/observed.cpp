#include <cerrno>

#include "fs/data_path.h"

namespace unwrite::fs {

namespace {

class Observed final : public DataPath {
 public:
    bool negotiate(fuse_conn_info& /*connection*/) override { return true; }
    Result<> open(fuse_req_t /*request*/, const overlay::Caller& /*caller*/, overlay::NodeId /*id*/,
                  bool /*changes*/, fuse_file_info& /*info*/) override {
        return Error(ENOSYS);
    }
    void close(fuse_req_t /*request*/, overlay::NodeId /*id*/,
               const fuse_file_info& /*info*/) override {}
};

}  // namespace

std::unique_ptr<DataPath> make_observed() {
    return std::make_unique<Observed>();
}

}  // namespace unwrite::fs
