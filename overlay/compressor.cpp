#include "overlay/compressor.h"

#include "base/log.h"
#include "journal/delta_format.h"
#include "journal/pack.h"

namespace unwrite::overlay {

Compressor::Compressor(int deltas, const journal::Checksums& sums,
                       std::optional<std::chrono::milliseconds> cold, bool durable)
    : deltas_(deltas),
      sums_(sums),
      always_(cold && cold->count() == 0),  // tests want to meet it everywhere
      durable_(durable),
      reserve_(deltas, std::nullopt),
      queue_(cold, [this](journal::DeltaNumber number) { return pack(number); }) {}

bool Compressor::pack(journal::DeltaNumber number) {
    const auto raw = sys::stat_at(deltas_, journal::delta_data_name(number));
    if (!raw) return false;
    if (!reserve_.allows(static_cast<std::uint64_t>(raw->st_blocks) * 512)) return true;
    journal::PackRequest request;
    request.durable = durable_;
    request.always = always_;
    request.sums = sums_.find(number);
    // Also when others fill the disk meanwhile: what is written here is not to be what is missing.
    request.stop = [this] { return !reserve_.allows(0) || queue_.is_ending(); };
    const auto packed = journal::pack_delta_data(deltas_, number, request);
    if (packed) {
        return *packed == journal::Packed::kShared || *packed == journal::Packed::kStopped;
    }
    if (sys::is_out_of_room(packed.error())) return true;
    log::warning(packed.error().message());
    return false;
}

}  // namespace unwrite::overlay
