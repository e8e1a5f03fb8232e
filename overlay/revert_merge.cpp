#include "overlay/revert_merge.h"

#include <sys/stat.h>

#include <algorithm>

#include "edit/diff.h"
#include "edit/merge.h"
#include "overlay/line_diff.h"

namespace unwrite::overlay {

namespace {

struct Text {
    ObjectKey object{};
    std::string bytes{};
    journal::Attributes attributes{};
};

Result<std::optional<Text>> text_in(View& view, const ObjectKey& key) {
    const Located found{key, S_IFREG, nullptr, {}, 0};
    Text text{key, {}, {}};
    auto attributes = view.attributes(found);
    if (!attributes && is_vanished(attributes.error())) return std::optional<Text>();
    if (!attributes) return std::move(attributes).error();
    text.attributes = *std::move(attributes);
    if (!S_ISREG(text.attributes.mode)) return std::optional<Text>();
    TRY_ASSIGN(const std::uint64_t size, view.size(found));
    if (size > kMaxTextSize) return std::optional<Text>();
    TRY_ASSIGN(const Content content, view.content(found));
    TRY_ASSIGN(text.bytes, content.read_all());
    if (edit::is_binary(text.bytes)) return std::optional<Text>();
    return std::optional(std::move(text));
}

enum class Xattrs { kOfSystem, kOfUser };

sys::Xattrs xattrs_of(const journal::Attributes& attributes, Xattrs wanted) {
    sys::Xattrs found;
    std::copy_if(attributes.xattrs.begin(), attributes.xattrs.end(), std::back_inserter(found),
                 [&](const auto& one) {
                     return one.first.starts_with("user.") == (wanted == Xattrs::kOfUser);
                 });
    return found;
}

/// Who may do what: mode, owner and the attributes with which they are one (ACLs).
bool same_access(const journal::Attributes& one, const journal::Attributes& other) {
    return one.mode == other.mode && one.uid == other.uid && one.gid == other.gid &&
           xattrs_of(one, Xattrs::kOfSystem) == xattrs_of(other, Xattrs::kOfSystem);
}

bool same_user_xattrs(const journal::Attributes& one, const journal::Attributes& other) {
    return xattrs_of(one, Xattrs::kOfUser) == xattrs_of(other, Xattrs::kOfUser);
}

sys::Xattrs joined(sys::Xattrs one, const sys::Xattrs& other) {
    one.insert(one.end(), other.begin(), other.end());
    std::sort(one.begin(), one.end());
    return one;
}

/// Takes the change from `was` to `after` out. False where they were changed since in another way.
bool take_out(journal::Attributes& remains, const journal::Attributes& after,
              const journal::Attributes& was) {
    if (!same_access(after, was) && !same_access(remains, was)) {
        if (!same_access(remains, after)) return false;
        remains.mode = was.mode;
        remains.uid = was.uid;
        remains.gid = was.gid;
        remains.xattrs =
            joined(xattrs_of(was, Xattrs::kOfSystem), xattrs_of(remains, Xattrs::kOfUser));
    }
    if (!same_user_xattrs(after, was) && !same_user_xattrs(remains, was)) {
        if (!same_user_xattrs(remains, after)) return false;
        remains.xattrs =
            joined(xattrs_of(remains, Xattrs::kOfSystem), xattrs_of(was, Xattrs::kOfUser));
    }
    return true;
}

}  // namespace

MergeStep step_of(const ObjectTouch& touch, const ObjectKey& key) {
    const bool unclear = is_imageless(touch) && !touch.left;
    return {touch.selected || unclear, touch.others || unclear, key, touch.part, false};
}

// From the newest step to the first selected one: the change of a selected one is turned round and
// put together with what was made of its outcome since.
Result<std::optional<Remains>> without_selected(const std::vector<MergeStep>& steps,
                                                const ObjectKey& now, View& live,
                                                const std::function<View&(std::size_t)>& state) {
    const std::optional<Remains> unclear;
    TRY_ASSIGN(auto after, text_in(live, now));  // what a step left
    if (!after) return unclear;
    const auto first = std::find_if(steps.begin(), steps.end(),
                                    [](const MergeStep& step) { return step.selected; });
    Remains remains{now, std::nullopt, after->bytes, after->attributes};
    for (auto step = steps.end(); step != first;) {
        --step;
        if (step->selected && step->others) return unclear;
        TRY_ASSIGN(auto was, text_in(state(step->state), step->object));
        if (!was) return unclear;
        if (step->selected) {
            TRY_ASSIGN(auto without, edit::merged(after->bytes, remains.bytes, was->bytes));
            if (!without) return unclear;
            remains.bytes = *std::move(without);
            if (!take_out(remains.attributes, after->attributes, was->attributes)) return unclear;
            if (step->replaces && remains.object == after->object) {
                remains.object = was->object;
                remains.displaced = step->state;
            }
        }
        after = std::move(was);
    }
    return std::optional(std::move(remains));
}

namespace {

/// An object that stood at a name, and in which parts.
struct Stay {
    ObjectKey object{};
    std::size_t from = 0;
    std::size_t to = 0;
};

/// The stays up to that of now, without a gap, oldest first; nothing where the selection changed
/// the name before.
std::vector<Stay> stays(const std::vector<NameTouch>& touches, const ObjectKey& now) {
    std::vector<Stay> found = {{now, 0, std::size_t(-1)}};
    bool whole = true;
    for (auto touch = touches.rbegin(); touch != touches.rend(); ++touch) {
        if (whole) found.back().from = touch->part;
        const journal::NameImage& image = touch->image->image;
        whole = whole && image.object && S_ISREG(image.type);
        if (whole) found.push_back({*image.object, 0, touch->part});
        if (!whole && touch->selected) return {};
    }
    std::reverse(found.begin(), found.end());
    return found;
}

bool is_in(const Stay& stay, std::size_t part) {
    return stay.from <= part && part <= stay.to;
}

bool is_others_write(const ObjectTouch& touch) {
    return touch.others && touch.real;
}

/// Others wrote to a file after it was taken from here, and it came back: what they wrote may be
/// made of what stood here meanwhile.
bool came_back_written(const std::vector<Stay>& chain, const ObjectKey& object,
                       const std::vector<ObjectTouch>& touches) {
    const auto first = std::find_if(chain.begin(), chain.end(),
                                    [&](const Stay& stay) { return stay.object == object; });
    return std::any_of(touches.begin(), touches.end(), [&](const ObjectTouch& touch) {
        return is_others_write(touch) && touch.part >= first->to;
    });
}

/// The same in the part in which it was taken: whether before or after that is not to be known.
bool is_unclear(const std::vector<Stay>& chain, const Stay& left,
                const std::vector<ObjectTouch>& touches) {
    const bool came_back =
        std::any_of(&left + 1, chain.data() + chain.size(),
                    [&](const Stay& stay) { return stay.object == left.object; });
    return came_back && std::any_of(touches.begin(), touches.end(), [&](const ObjectTouch& touch) {
               return is_others_write(touch) && touch.part == left.to;
           });
}

}  // namespace

std::optional<ReplacedFile> replaced_file(const RevertTouches& touches, const NameKey& at,
                                          const ObjectKey& now) {
    const auto& names = touches.names.at(at);
    const std::vector<Stay> chain = stays(names, now);
    if (chain.size() < 2) return std::nullopt;
    ReplacedFile file;
    file.at = at;
    const auto note = [&](const auto& touch, const MergeStep& step) {
        if (touch.selected)
            file.origins.insert(touch.image->origins.begin(), touch.image->origins.end());
        file.steps.push_back(step);
    };
    auto replacing = names.end() - static_cast<std::ptrdiff_t>(chain.size() - 1);
    for (const Stay& stay : chain) {
        static const std::vector<ObjectTouch> none;
        const auto found = touches.objects.find(stay.object);
        const auto& touched = found == touches.objects.end() ? none : found->second;
        const bool again = !file.objects.insert(stay.object).second;
        if (again && !came_back_written(chain, stay.object, touched)) return std::nullopt;
        for (const ObjectTouch& touch : touched) {
            const bool was_here = std::any_of(chain.begin(), chain.end(), [&](const Stay& one) {
                return one.object == stay.object && is_in(one, touch.part);
            });
            if (!was_here && touch.selected) return std::nullopt;
            if (!was_here && touch.part > stay.to && is_others_write(touch))
                file.written_elsewhere.insert(stay.object);
            if (is_in(stay, touch.part)) note(touch, step_of(touch, stay.object));
        }
        if (replacing == names.end()) continue;
        const bool others = replacing->others || is_unclear(chain, stay, touched);
        note(*replacing, {replacing->selected, others, stay.object, replacing->part + 1, true});
        if (replacing->selected) file.brought.insert((&stay + 1)->object);
        ++replacing;
    }
    const auto first = std::find_if(file.steps.begin(), file.steps.end(),
                                    [](const MergeStep& step) { return step.selected; });
    const bool both =
        std::any_of(first, file.steps.end(), [](const MergeStep& step) { return step.others; });
    if (!both) return std::nullopt;
    return file;
}

}  // namespace unwrite::overlay
