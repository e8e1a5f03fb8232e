#include "overlay/set_aside.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "overlay/attributes.h"
#include "overlay/content.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kSuffix = ".unwrite-kept";
constexpr unsigned kMostTries = 1000;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kPiece = std::size_t{256} << 10;
// A kill may end a copy between two of these; a part of one is never written alone.
constexpr std::size_t kUnit = 512;

/// Calls `make` with names beside `beside` until one is free; that one's path goes to `kept`.
Result<> under_a_free_name(Locator& locator, const NameKey& beside, std::vector<std::string>& kept,
                           const std::function<Result<>(const std::string& name)>& make) {
    for (unsigned i = 1; i <= kMostTries; ++i) {
        const std::string suffix = i == 1 ? kSuffix : kSuffix + ("-" + std::to_string(i));
        const std::string name =
            beside.name.substr(0, kLongestName - std::min(kLongestName, suffix.size())) + suffix;
        const Result<> made = make(name);
        if (!made && made.error().number() == EEXIST) continue;
        if (!made) return made.error().with_context("cannot set aside " + beside.name);
        const auto parent = locator.live_path(beside.parent);
        kept.push_back(!parent || parent->empty() ? name : *parent + "/" + name);
        return {};
    }
    return Error(EEXIST).with_context("cannot set aside " + beside.name);
}

class Keeper {
 public:
    Keeper(Locator& locator, const LayerPtr& wanted, const LayerPtr& before)
        : locator_(locator), wanted_(wanted), before_(before) {}

    Result<std::vector<std::string>> keep() {
        for (const auto& [key, image] : wanted_->delta.objects) {
            if (image.size) TRY(look_at_file(key));
        }
        for (const auto& [at, state] : wanted_->delta.names)
            TRY(look_at_name(at, state.image.object));
        return std::move(kept_);
    }

 private:
    Result<> look_at_file(const ObjectKey& key);
    Result<bool> has_bytes_of_others(const HandlePtr& live, const ObjectKey& key) const;
    Result<> look_at_name(const NameKey& at, const std::optional<ObjectKey>& wanted);
    Locator& locator_;
    const LayerPtr& wanted_;
    const LayerPtr& before_;
    std::vector<std::string> kept_;
};

/// Where a restore to `wanted` writes in a file of this size, or cuts it off.
Ranges written_by(const journal::ObjectImage& wanted, std::uint64_t size) {
    Ranges ranges;
    for (const journal::ContentImage& range : wanted.content) {
        const std::uint64_t end = std::min(range.offset + range.length, size);
        if (range.offset < end) ranges.emplace_back(range.offset, end);
    }
    if (size > *wanted.size) ranges.emplace_back(*wanted.size, size);
    return ranges;
}

Result<bool> Keeper::has_bytes_of_others(const HandlePtr& live, const ObjectKey& key) const {
    TRY_ASSIGN(const Content now, Content::open(live, key, {}));
    TRY_ASSIGN(const Content wanted, Content::open(live, key, {wanted_}));
    TRY_ASSIGN(const Content before, Content::open(live, key, {before_}));
    if (now.size() != wanted.size() && now.size() != before.size()) return true;
    std::vector<std::byte> buffer(3 * kPiece);
    const sys::Bytes all(buffer);
    for (const auto& [first, last] : written_by(*wanted_->object(key), now.size())) {
        for (std::uint64_t offset = first; offset < last;) {
            // Beyond the end of one, it has zeros. No unit crosses the border of a range or of a
            // size: a kill may come between two ranges.
            std::uint64_t end = std::min(last, offset + kPiece);
            for (const std::uint64_t size : {wanted.size(), before.size()}) {
                if (size > offset) end = std::min(end, size);
            }
            const auto length = static_cast<std::size_t>(end - offset);
            std::ranges::fill(buffer, std::byte{0});
            TRY(now.read(all.first(length), offset));
            TRY(wanted.read(all.subspan(kPiece, length), offset));
            TRY(before.read(all.subspan(2 * kPiece, length), offset));
            for (std::size_t at = 0; at < length;) {
                const std::size_t unit =
                    std::min<std::size_t>(kUnit - (offset + at) % kUnit, length - at);
                const std::byte* here = buffer.data() + at;
                if (std::memcmp(here, here + kPiece, unit) != 0 &&
                    std::memcmp(here, here + 2 * kPiece, unit) != 0)
                    return true;
                at += unit;
            }
            offset = end;
        }
    }
    return false;
}

Result<> Keeper::look_at_file(const ObjectKey& key) {
    // In the attic only the restore has written.
    const std::optional<NameKey> at = locator_.live_name(key);
    if (!at) return {};
    TRY_ASSIGN(const HandlePtr live, locator_.object(key, Access::kRead));
    TRY_ASSIGN(const bool others, has_bytes_of_others(live, key));
    if (!others) return {};
    TRY_ASSIGN(const HandlePtr parent, locator_.directory(at->parent));
    return under_a_free_name(locator_, *at, kept_, [&](const std::string& name) -> Result<> {
        TRY_ASSIGN(const UniqueFd copy, sys::lend_access(parent->fd.get(), [&] {
                       return sys::open_at(parent->fd.get(), name, O_RDWR | O_CREAT | O_EXCL, 0600);
                   }));
        TRY(copy_file(live->fd.get(), copy.get()));
        crash_point("set_aside.copied");
        return sys::sync(copy.get());
    });
}

Result<> Keeper::look_at_name(const NameKey& at, const std::optional<ObjectKey>& wanted) {
    const auto standing = locator_.standing(at);
    if (!standing || !*standing) return {};  // without its directory the restore itself will say so
    const ObjectKey& there = (*standing)->key;
    const journal::NameState* was = before_->name(at);
    if (there == wanted || (was != nullptr && there == was->image.object)) return {};
    return move_aside(locator_, at, there, kept_);
}

}  // namespace

Result<> move_aside(Locator& locator, const NameKey& at, const ObjectKey& there,
                    std::vector<std::string>& kept) {
    TRY_ASSIGN(const HandlePtr parent, locator.directory(at.parent));
    return under_a_free_name(locator, at, kept, [&](const std::string& name) -> Result<> {
        TRY(sys::lend_access(parent->fd.get(), [&] {
            return sys::rename(parent->fd.get(), at.name, parent->fd.get(), name, RENAME_NOREPLACE);
        }));
        locator.objects().moved(there, at.parent, name);
        return {};
    });
}

Result<std::vector<std::string>> set_aside(Locator& locator, const LayerPtr& wanted,
                                           const LayerPtr& before) {
    return Keeper(locator, wanted, before).keep();
}

}  // namespace unwrite::overlay
