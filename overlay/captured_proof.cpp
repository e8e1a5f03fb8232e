#include "overlay/captured_proof.h"

#include <algorithm>
#include <cerrno>

#include "overlay/path_list.h"

namespace unwrite::overlay {

CapturedProof::CapturedProof(Locator& locator)
    : locator_(locator),
      pool_(std::make_shared<journal::DeltaDataPool>(&locator.journal().checksums())) {}

void CapturedProof::note_names(const journal::Delta& delta) {
    for (const auto& [at, state] : delta.names) {
        if (state.image.object) names_.insert_or_assign(*state.image.object, at);
    }
}

Result<> CapturedProof::need(const Edges& edges) {
    for (const Edge& edge : edges) {
        note_names(edge.delta);
        for (const auto& [key, image] : edge.delta.objects) {
            for (const journal::ContentImage& part : image.content)
                TRY(need(edge.number, key, part));
        }
    }
    return {};
}

Result<> CapturedProof::need(const RevertPlan& plan) {
    note_names(plan.images);
    for (const auto& [key, image] : plan.images.objects) {
        for (std::size_t i = 0; i < image.content.size(); ++i) {
            const journal::DeltaNumber number = plan.data.at(key).at(i);
            if (number != 0) TRY(need(number, key, image.content[i]));
        }
    }
    return {};
}

Result<> CapturedProof::need(journal::DeltaNumber number, const ObjectKey& object,
                             const journal::ContentImage& image) {
    if (image.position == journal::ContentImage::kHole || damaged_.contains(object)) return {};
    const Result<> whole = verify(number, image);
    if (whole) return {};
    if (whole.error().kind() != ErrorKind::kCorrupt) return whole;
    damaged_.insert(object);
    return {};
}

Result<> CapturedProof::verify(journal::DeltaNumber number, const journal::ContentImage& image) {
    if (!found_.contains(number)) {
        const int deltas = locator_.journal().state_dir().deltas();
        TRY_ASSIGN(found_[number], journal::DeltaData::find(deltas, number, pool_));
    }
    const journal::DeltaDataPtr& found = found_.at(number);
    if (!found) return journal::captured_bytes_missing(number);
    TRY_ASSIGN(const journal::OpenData data, found->open());
    return data->verify(image.position, image.length);
}

std::string CapturedProof::path_of(const ObjectKey& object) const {
    if (auto path = locator_.live_path(object)) return *std::move(path);
    const auto named = names_.find(object);
    if (named == names_.end()) return journal::Attic::file_name(object);
    return placed_path(locator_, names_, named->second);
}

Result<> CapturedProof::refuse() const {
    if (damaged_.empty()) return {};
    std::vector<std::string> paths;
    for (const ObjectKey& object : damaged_)
        paths.push_back(path_of(object));
    std::ranges::sort(paths);
    return Error(
        ErrorKind::kCorrupt, EIO,
        "nothing was done, because what the journal has of these files is damaged:" +
            path_list(paths),
        "`unwrite check` names the damage; `unwrite restore PATH` brings back other files, "
        "one by one");
}

}  // namespace unwrite::overlay
