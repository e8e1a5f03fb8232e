#include "overlay/unseen.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/lend_mode.h"
#include "overlay/attributes.h"

namespace unwrite::overlay {

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
// A file that gets shorter while it is copied is copied again, so often at most.
constexpr unsigned kMostTries = 10;
// Each may hold a descriptor.
constexpr std::size_t kMostLayers = 32;

Result<UniqueFd> nameless(int directory) {
    return sys::open_at(directory, ".", O_TMPFILE | O_RDWR, 0600);
}

HandlePtr handle_of(UniqueFd fd) {
    return std::make_shared<const Handle>(Handle{std::move(fd), Access::kRead});
}

}  // namespace

Result<HandlePtr> Unseen::Image::whole(const ObjectKey& key, int scratch) const {
    if (layers.empty()) return bytes;
    TRY_ASSIGN(const Content all, content(key));
    TRY_ASSIGN(UniqueFd file, nameless(scratch));
    TRY(sys::truncate(file.get(), all.size()));
    std::vector<std::byte> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, all.size())));
    for (std::uint64_t offset = 0; offset < all.size();) {
        const Content::Segment segment = all.segment(offset);
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(segment.end - offset, buffer.size()));
        if (segment.hole) {
            offset = segment.end;
            continue;
        }
        const sys::Bytes piece = sys::Bytes(buffer).first(length);
        TRY_ASSIGN(const std::size_t got, all.read(piece, offset));
        if (got != length) return Error(EIO);
        TRY(sys::write_all_at(file.get(), piece, offset));
        offset += length;
    }
    return handle_of(std::move(file));
}

Unseen::Image Unseen::Image::after(const LayerPtr& layer, const ObjectKey& key) const {
    Image next = *this;
    const journal::ObjectImage* const crossed = layer->object(key);
    if (crossed == nullptr) return next;
    next.layers.push_back(layer);
    if (crossed->attributes) next.attributes = *crossed->attributes;
    return next;
}

Result<journal::Attributes> Unseen::attributes(const ImagePtr& carried, int fd) {
    if (carried) return carried->attributes;
    return read_attributes(fd);
}

Result<Unseen::ImagePtr> Unseen::copy(int path, int scratch) {
    auto image = std::make_shared<Image>();
    TRY_ASSIGN(const UniqueFd file, sys::open_unseen(path, O_RDONLY | O_NONBLOCK));
    TRY_ASSIGN(image->attributes, read_attributes(file.get()));
    for (unsigned i = 1;; ++i) {
        TRY_ASSIGN(UniqueFd copy, nameless(scratch));
        TRY_ASSIGN(const struct stat before, sys::stat_fd(file.get()));
        const auto size = static_cast<std::uint64_t>(before.st_size);
        TRY(sys::truncate(copy.get(), size));
        const Result<> copied = sys::copy_bytes(file.get(), 0, copy.get(), 0, size);
        TRY_ASSIGN(const struct stat after, sys::stat_fd(file.get()));
        if (after.st_size < before.st_size && i < kMostTries) continue;
        TRY(copied);
        image->bytes = handle_of(std::move(copy));
        return ImagePtr(std::move(image));
    }
}

bool Unseen::begin(const ObjectPtr& object, const Who& who, bool unprivileged) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = uses_.try_emplace(object->key());
    Use& use = found->second;
    use.object = object;
    const bool first = is_new || use.over;
    const bool known =
        std::ranges::any_of(use.whos, [&](const Who& one) { return one.session == who.session; });
    if (!known) use.whos.push_back(who);
    ++use.open;
    ++use.begun;
    use.over = false;
    use.unprivileged |= unprivileged;
    return first;
}

std::optional<Unseen::Use> Unseen::close(const ObjectKey& key, bool lingers) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    if (found == uses_.end() || found->second.open == 0) return std::nullopt;
    Use& use = found->second;
    use.lingers |= lingers;
    if (--use.open != 0) return std::nullopt;
    Use last = use;
    use.over = !use.lingers;
    if (use.over && !use.image) uses_.erase(found);
    return last;
}

std::optional<Unseen::Use> Unseen::end_lingering(const ObjectKey& key, std::uint64_t begun) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    if (found == uses_.end()) return std::nullopt;
    const Use& use = found->second;
    if (use.open != 0 || use.begun != begun || use.image) return std::nullopt;
    Use last = use;
    uses_.erase(found);
    return last;
}

void Unseen::note_set_id(const ObjectKey& key, const struct timespec& changed) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    if (found != uses_.end() && found->second.unprivileged) found->second.set_id = changed;
}

bool Unseen::any() const {
    const std::lock_guard lock(mutex_);
    return !uses_.empty();
}

bool Unseen::has(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    return uses_.contains(key);
}

std::vector<Unseen::Use> Unseen::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Use> all;
    all.reserve(uses_.size());
    for (const auto& [key, use] : uses_)
        all.push_back(use);
    return all;
}

std::vector<Unseen::Use> Unseen::lingering(std::size_t most) const {
    const std::lock_guard lock(mutex_);
    std::vector<Use> found;
    for (const auto& [key, use] : uses_) {
        if (found.size() >= most) break;
        if (use.open == 0 && !use.over) found.push_back(use);
    }
    return found;
}

Unseen::ImagePtr Unseen::image(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    return found == uses_.end() ? nullptr : found->second.image;
}

void Unseen::carry(const ObjectKey& key, ImagePtr image) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    if (found != uses_.end()) found->second.image = std::move(image);
}

void Unseen::crossed(const LayerPtr& layer, int scratch) {
    std::vector<std::pair<ObjectKey, ImagePtr>> many;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [key, use] : uses_) {
            if (!use.image || layer->object(key) == nullptr) continue;
            use.image = std::make_shared<const Image>(use.image->after(layer, key));
            if (use.image->layers.size() >= kMostLayers) many.emplace_back(key, use.image);
        }
    }
    for (const auto& [key, image] : many) {
        const auto whole = image->whole(key, scratch);
        if (whole) carry(key, std::make_shared<const Image>(Image{*whole, {}, image->attributes}));
    }
}

void Unseen::drop_image(const ObjectKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(key);
    if (found == uses_.end()) return;
    found->second.image = nullptr;
    if (found->second.over) uses_.erase(found);
}

void Unseen::drop_images() {
    const std::lock_guard lock(mutex_);
    std::erase_if(uses_, [](const auto& use) { return use.second.over; });
    for (auto& [key, use] : uses_)
        use.image = nullptr;
}

}  // namespace unwrite::overlay
