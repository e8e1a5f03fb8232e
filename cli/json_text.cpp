#include "cli/json_text.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cli/json_places.h"

namespace unwrite::cli {

namespace {

constexpr int kMostDepth = 64;
constexpr std::size_t kMostIndent = 16;

Error not_json(const std::string& why) {
    return {ErrorKind::kUsage, EINVAL, why};
}

// In whatever order the members stand.
bool same(const OrderedJson& a, const OrderedJson& b) {
    return nlohmann::json(a) == nlohmann::json(b);
}

bool has(const OrderedJson& list, const OrderedJson& item) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return same(one, item); });
}

bool holds_objects(const OrderedJson& json) {
    return json.is_array() &&
           std::all_of(json.begin(), json.end(), [](const auto& one) { return one.is_object(); });
}

// What holds others, beside which somebody else's may stand; all else is added and removed whole.
bool is_collection(const OrderedJson& json) {
    if (!json.is_object()) return holds_objects(json);
    return std::all_of(json.begin(), json.end(),
                       [](const auto& one) { return one.is_object() || holds_objects(one); });
}

// The entry has all that is wanted, and perhaps more.
bool covers(const OrderedJson& now, const OrderedJson& wanted) {
    if (!now.is_object() || !wanted.is_object()) return same(now, wanted);
    return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
        return now.contains(item.key()) && covers(now[item.key()], item.value());
    });
}

Result<OrderedJson> merged(const OrderedJson& now, const OrderedJson& wanted,
                           const std::string& name) {
    OrderedJson all = now;
    const bool collects = name.empty() || is_collection(wanted);
    if (wanted.is_object() && collects && now.is_object()) {
        for (const auto& [key, value] : wanted.items()) {
            if (!now.contains(key)) {
                all[key] = value;
            } else {
                TRY_ASSIGN(all[key], merged(now[key], value, name + "." + key));
            }
        }
        return all;
    }
    if (holds_objects(wanted) && now.is_array()) {
        for (const OrderedJson& item : wanted) {
            if (!has(now, item)) all.push_back(item);
        }
        return all;
    }
    if (covers(now, wanted)) return all;
    return Error(ErrorKind::kConflict, EEXIST,
                 "it has something else in " + name.substr(std::min<std::size_t>(1, name.size())));
}

// Without what was added to `before`, as far as it is still as it was added.
OrderedJson parted(const OrderedJson& now, const OrderedJson& wanted, const OrderedJson& before) {
    OrderedJson rest = now;
    if (wanted.is_object() && now.is_object()) {
        for (const auto& [key, value] : wanted.items()) {
            if (!now.contains(key)) continue;
            const bool was_there = before.is_object() && before.contains(key);
            OrderedJson left = now[key];
            if (is_collection(value))
                left = parted(now[key], value, was_there ? before[key] : OrderedJson(nullptr));
            const bool emptied = left.is_structured() && left.empty();
            if (!was_there && (same(now[key], value) || emptied)) {
                rest.erase(key);
            } else {
                rest[key] = std::move(left);
            }
        }
    } else if (wanted.is_array() && now.is_array()) {
        rest = OrderedJson::array();
        for (const OrderedJson& item : now) {
            const bool ours = has(wanted, item) && !(before.is_array() && has(before, item));
            if (!ours) rest.push_back(item);
        }
    }
    return rest;
}

// The changes of a text that lead from one value to another. Offsets are those of the old text.
class TextEdits {
 public:
    explicit TextEdits(std::string_view text)
        : text_(text), newline_(text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n") {}

    void change(const JsonPlace& place, const OrderedJson& from, const OrderedJson& to);
    std::string done() &&;
    void learn_unit(const JsonPlace& root);

 private:
    struct Edit {
        std::size_t at;
        std::size_t removed;
        std::string added;
    };

    void change_members(const JsonPlace& place, const OrderedJson& from, const OrderedJson& to);
    void change_elements(const JsonPlace& place, const OrderedJson& from, const OrderedJson& to);
    void add(const JsonPlace& place, const std::vector<std::pair<std::string, OrderedJson>>& items);
    void remove(const JsonPlace& place, const std::vector<bool>& gone);
    std::string indent_at(std::size_t at) const;
    bool begins_its_line(std::size_t at) const;
    std::string written(const std::string& key, const OrderedJson& value, bool lines,
                        const std::string& indent) const;

    const std::string_view text_;
    const std::string newline_;
    std::string unit_ = "  ";
    std::vector<Edit> edits_;
};

bool TextEdits::begins_its_line(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t'))
        --at;
    return at > 0 && text_[at - 1] == '\n';
}

// The blanks at the beginning of the line.
std::string TextEdits::indent_at(std::size_t at) const {
    const std::size_t line = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
    const std::size_t end = std::min(text_.find_first_not_of(" \t", line), text_.size());
    return std::string(text_.substr(line, end - line));
}

void TextEdits::learn_unit(const JsonPlace& root) {
    if (root.items.empty() || !begins_its_line(root.items.front().begin)) return;
    const std::string indent = indent_at(root.items.front().begin);
    if (!indent.empty() && indent.size() <= kMostIndent) unit_ = indent;
}

std::string TextEdits::written(const std::string& key, const OrderedJson& value, bool lines,
                               const std::string& indent) const {
    std::string text;
    if (!key.empty()) text = OrderedJson(key).dump() + ": ";
    if (!lines) return text + value.dump();
    const bool tabs = unit_.front() == '\t';
    for (const char c : value.dump(static_cast<int>(unit_.size()), tabs ? '\t' : ' ')) {
        if (c == '\n') {
            text += newline_ + indent;
        } else {
            text += c;
        }
    }
    return text;
}

void TextEdits::add(const JsonPlace& place,
                    const std::vector<std::pair<std::string, OrderedJson>>& items) {
    const bool empty = place.items.empty();
    const std::size_t first = empty ? 0 : place.items.front().begin;
    const bool lines = empty || begins_its_line(first);
    const std::string own = indent_at(place.open);
    const std::string indent = !empty && lines ? indent_at(first) : own + unit_;
    std::string text;
    for (const auto& [key, value] : items) {
        if (!text.empty()) text += lines ? "," : ", ";
        if (lines) text += newline_ + indent;
        text += written(key, value, lines, indent);
    }
    if (!empty) {
        const std::size_t end = place.items.back().end;
        edits_.push_back({end, 0, lines ? "," : ", "});
        edits_.push_back({lines ? skip_rest_of_line(text_, end) : end, 0, text});
        return;
    }
    const std::size_t inside = place.open + 1;
    const bool bare = skip_blanks(text_, inside, /*comments=*/false) == place.end - 1;
    if (bare) {
        edits_.push_back({inside, place.end - 1 - inside, text + newline_ + own});
    } else {
        edits_.push_back({inside, 0, text});
    }
}

void TextEdits::remove(const JsonPlace& place, const std::vector<bool>& gone) {
    const bool all = std::all_of(gone.begin(), gone.end(), [](bool one) { return one; });
    // The comma goes that stands before, or for what comes first the one behind.
    bool kept_before = false;
    for (std::size_t i = 0; i < gone.size(); ++i) {
        const JsonPlace& item = place.items[i];
        if (!gone[i]) {
            kept_before = true;
            continue;
        }
        std::size_t begin = item.begin;
        while (begin > place.open + 1 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t'))
            --begin;
        if (begin > place.open + 1 && text_[begin - 1] == '\n') --begin;
        if (begin > place.open + 1 && text_[begin - 1] == '\r') --begin;
        std::size_t comma = std::string_view::npos;
        if (kept_before) {
            comma = skip_blanks(text_, place.items[i - 1].end);
        } else if (i + 1 < gone.size()) {
            comma = skip_blanks(text_, item.end);
        }
        if (comma != std::string_view::npos && comma < begin) edits_.push_back({comma, 1, ""});
        edits_.push_back({begin, item.end - begin, ""});
        if (comma != std::string_view::npos && comma >= begin) edits_.push_back({comma, 1, ""});
    }
    if (!all) return;
    const std::size_t tail = place.items.back().end;
    if (skip_blanks(text_, tail, /*comments=*/false) == place.end - 1)
        edits_.push_back({tail, place.end - 1 - tail, ""});
}

void TextEdits::change_members(const JsonPlace& place, const OrderedJson& from,
                               const OrderedJson& to) {
    std::vector<bool> gone;
    for (const JsonPlace& item : place.items) {
        gone.push_back(!to.contains(item.key));
        if (!gone.back()) change(item, from[item.key], to[item.key]);
    }
    std::vector<std::pair<std::string, OrderedJson>> fresh;
    for (const auto& [key, value] : to.items()) {
        if (!from.contains(key)) fresh.emplace_back(key, value);
    }
    if (std::find(gone.begin(), gone.end(), true) != gone.end()) remove(place, gone);
    if (!fresh.empty()) add(place, fresh);
}

// Elements come at the end, and go anywhere; they are not changed.
void TextEdits::change_elements(const JsonPlace& place, const OrderedJson& from,
                                const OrderedJson& to) {
    if (to.size() < from.size()) {
        std::vector<bool> gone;
        for (const OrderedJson& item : from)
            gone.push_back(!has(to, item));
        return remove(place, gone);
    }
    std::vector<std::pair<std::string, OrderedJson>> fresh;
    for (std::size_t i = from.size(); i < to.size(); ++i)
        fresh.emplace_back("", to[i]);
    if (!fresh.empty()) add(place, fresh);
}

void TextEdits::change(const JsonPlace& place, const OrderedJson& from, const OrderedJson& to) {
    if (from == to) return;
    if (from.is_object()) return change_members(place, from, to);
    change_elements(place, from, to);
}

std::string TextEdits::done() && {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.at < b.at; });
    std::string text;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
        if (edit.at > at) text += text_.substr(at, edit.at - at);
        text += edit.added;
        at = std::max(at, edit.at + edit.removed);
    }
    return text + std::string(text_.substr(std::min(at, text_.size())));
}

// The text is trusted only when it reads as what was meant.
Result<std::string> rewritten(std::string_view text, const OrderedJson& from,
                              const OrderedJson& to) {
    if (same(from, to)) return std::string(text);
    if (skip_blanks(text, 0, false) == text.size()) return to.dump(2) + "\n";
    TRY_ASSIGN(const JsonPlace root, places_of(text));
    TextEdits edits(text);
    edits.learn_unit(root);
    edits.change(root, from, to);
    std::string fresh = std::move(edits).done();
    const auto read = parse_commented(fresh);
    if (!read || *read != to) return not_json("it is written in a way that is not understood here");
    return fresh;
}

}  // namespace

Result<OrderedJson> parse_commented(std::string_view text) {
    if (skip_blanks(text, 0, /*comments=*/false) == text.size()) return OrderedJson::object();
    bool deep = false;
    const auto watch = [&](int depth, OrderedJson::parse_event_t, OrderedJson&) {
        deep = deep || depth > kMostDepth;
        return !deep;
    };
    auto json = OrderedJson::parse(text, watch, /*allow_exceptions=*/false,
                                   /*ignore_comments=*/true);
    if (deep) return not_json("it is nested too deeply");
    if (json.is_discarded()) return not_json("it is not JSON");
    if (!json.is_object()) return not_json("it is not a JSON object");
    return json;
}

Result<std::string> with_entries(std::string_view text, const OrderedJson& wanted) {
    TRY_ASSIGN(const OrderedJson now, parse_commented(text));
    TRY_ASSIGN(const OrderedJson all, merged(now, wanted, ""));
    return rewritten(text, now, all);
}

Result<std::string> without_entries(std::string_view text, const OrderedJson& wanted,
                                    const OrderedJson& before) {
    TRY_ASSIGN(const OrderedJson now, parse_commented(text));
    return rewritten(text, now, parted(now, wanted, before));
}

}  // namespace unwrite::cli
