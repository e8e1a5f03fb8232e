#include "overlay/revert_merge.h"

#include <sys/stat.h>

#include <algorithm>

#include "edit/diff.h"
#include "edit/merge.h"
#include "overlay/line_diff.h"

namespace unwrite::overlay {

namespace {

struct Text {
    std::string bytes{};
    journal::Attributes attributes{};
};

Result<std::optional<Text>> text_in(View& view, const ObjectKey& key) {
    TRY_ASSIGN(const auto found, view.object(key));
    if (!found || !S_ISREG(found->type)) return std::optional<Text>();
    TRY_ASSIGN(const std::uint64_t size, view.size(*found));
    if (size > kMaxTextSize) return std::optional<Text>();
    Text text;
    TRY_ASSIGN(const Content content, view.content(*found));
    TRY_ASSIGN(text.bytes, content.read_all());
    if (edit::is_binary(text.bytes)) return std::optional<Text>();
    TRY_ASSIGN(text.attributes, view.attributes(*found));
    return std::optional(std::move(text));
}

bool same_but_for_time(const journal::Attributes& one, const journal::Attributes& other) {
    return one.mode == other.mode && one.uid == other.uid && one.gid == other.gid &&
           one.xattrs == other.xattrs;
}

}  // namespace

// From the newest touch to the first selected one: the change of a selected one is turned round and
// put together with what was made of its outcome since.
Result<std::optional<std::string>> without_selected(
    const ObjectKey& key, const std::vector<ObjectTouch>& touches, View& live,
    const std::function<View(const ObjectTouch& touch)>& before) {
    const std::optional<std::string> unclear;
    TRY_ASSIGN(const auto now, text_in(live, key));
    if (!now) return unclear;
    const auto first = first_selected(touches);
    std::string remains = now->bytes;
    std::string after = now->bytes;  // what the touch left
    for (auto touch = touches.end(); touch != first;) {
        --touch;
        if (touch->selected && touch->others) return unclear;
        View then = before(*touch);
        TRY_ASSIGN(auto was, text_in(then, key));
        if (!was || !same_but_for_time(was->attributes, now->attributes)) return unclear;
        if (touch->selected) {
            TRY_ASSIGN(auto without, edit::merged(after, remains, was->bytes));
            if (!without) return unclear;
            remains = *std::move(without);
        }
        after = std::move(was->bytes);
    }
    return std::optional(std::move(remains));
}

}  // namespace unwrite::overlay
