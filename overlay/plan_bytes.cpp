#include "overlay/plan_bytes.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/syscalls.h"

namespace unwrite::overlay {

Result<> plan_bytes(RevertPlan& plan, const ObjectKey& key, journal::Attributes attributes,
                    std::string_view bytes, int deltas) {
    if (!plan.bytes) {
        TRY_ASSIGN(UniqueFd fd, sys::open_at(deltas, ".", O_TMPFILE | O_RDWR, 0600));
        plan.bytes = std::make_shared<UniqueFd>(std::move(fd));
    }
    TRY_ASSIGN(const struct stat file, sys::stat_fd(plan.bytes->get()));
    const auto end = static_cast<std::uint64_t>(file.st_size);
    TRY(sys::write_all_at(plan.bytes->get(), std::as_bytes(std::span(bytes)), end));
    const std::int64_t now = wall_clock_ns();
    attributes.mtime_s = now / 1'000'000'000;
    attributes.mtime_ns = static_cast<std::uint32_t>(now % 1'000'000'000);
    journal::ObjectImage image;
    image.attributes = std::move(attributes);
    image.size = bytes.size();
    std::vector<journal::DeltaNumber> data;
    if (!bytes.empty()) {
        image.content.push_back({0, bytes.size(), end});
        data.push_back(0);
    }
    plan.images.objects[key] = std::move(image);
    plan.data[key] = std::move(data);
    return {};
}

}  // namespace unwrite::overlay
