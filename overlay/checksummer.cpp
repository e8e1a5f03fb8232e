#include "overlay/checksummer.h"

#include "base/log.h"
#include "journal/data_file.h"

namespace unwrite::overlay {

Checksummer::Checksummer(journal::Journal& journal, std::optional<std::chrono::milliseconds> after)
    : journal_(journal),
      queue_(after, [this](journal::DeltaNumber number) { return measure(number); }) {}

void Checksummer::add(journal::DeltaNumber sealed) {
    if (journal_.checksums().find(sealed) == nullptr) queue_.add(sealed);
}

// A part of a step that was kept shares the file with the whole step.
Result<journal::ChecksumsPtr> Checksummer::sums_of(const journal::DataFile& data) {
    TRY_ASSIGN(const ObjectKey key, data.raw_key());
    if (auto known = journal_.checksums().of_file(key)) return known;
    return data.measure([this] { return queue_.is_ending(); });
}

bool Checksummer::measure(journal::DeltaNumber number) {
    const auto data = journal::open_delta_data(journal_.state_dir().deltas(), number);
    // Damage is named by whoever needs the bytes, and by `check`.
    if (!data || !*data) return false;
    const auto sums = sums_of(**data);
    if (sums && !*sums) return false;
    const Result<> added = sums ? journal_.checksums().add(number, *sums) : sums.error();
    if (added) return false;
    if (sys::is_out_of_room(added.error())) return true;
    log::warning("checksums of delta " + std::to_string(number) + ": " + added.error().message());
    return false;
}

}  // namespace unwrite::overlay
