#include "cli/json_places.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace unwrite::cli {

namespace {

constexpr unsigned kMostDepth = 100;  // what was parsed before is not so deep

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The end of the comment at `at`; `at` itself when there is none.
std::size_t comment_end(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) != "/*") return at;
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
}

class Walker {
 public:
    explicit Walker(std::string_view text) : text_(text) {}

    Result<JsonPlace> value(unsigned depth);
    void skip() { at_ = skip_blanks(text_, at_); }
    void pass(std::size_t bytes) { at_ += bytes; }

 private:
    char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    std::size_t string_end() const;
    Result<> items(JsonPlace& place, char closing, unsigned depth);
    Result<JsonPlace> item(bool keyed, unsigned depth);

    const std::string_view text_;
    std::size_t at_ = 0;
};

std::size_t Walker::string_end() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"')
        end += text_[end] == '\\' ? 2U : 1U;
    return std::min(end + 1, text_.size());
}

Result<JsonPlace> Walker::item(bool keyed, unsigned depth) {
    if (!keyed) return value(depth);
    const std::size_t begin = at_;
    const std::size_t end = string_end();
    const auto key = nlohmann::json::parse(text_.substr(begin, end - begin), nullptr, false);
    at_ = end;
    skip();
    pass(1);  // the colon
    skip();
    TRY_ASSIGN(JsonPlace place, value(depth));
    place.begin = begin;
    place.key = key.is_string() ? key.get<std::string>() : "";
    return place;
}

Result<> Walker::items(JsonPlace& place, char closing, unsigned depth) {
    pass(1);
    for (skip(); now() != closing && now() != '\0'; skip()) {
        TRY_ASSIGN(JsonPlace next, item(closing == '}', depth));
        if (closing == '}' && place.find(next.key) != nullptr)
            return Error(ErrorKind::kUsage, EINVAL, "it has \"" + next.key + "\" twice");
        place.items.push_back(std::move(next));
        skip();
        if (now() == ',') pass(1);
    }
    pass(1);
    return {};
}

Result<JsonPlace> Walker::value(unsigned depth) {
    if (depth > kMostDepth) return Error(ErrorKind::kUsage, EINVAL, "it is nested too deeply");
    JsonPlace place;
    place.begin = place.open = at_;
    if (now() == '{' || now() == '[') {
        TRY(items(place, now() == '{' ? '}' : ']', depth + 1));
    } else if (now() == '"') {
        at_ = string_end();
    } else {
        const std::size_t end = text_.find_first_of(",]} \t\r\n/", at_);
        at_ = std::max(at_ + 1, std::min(end, text_.size()));
    }
    place.end = at_;
    return place;
}

}  // namespace

const JsonPlace* JsonPlace::find(std::string_view name) const {
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const JsonPlace& item) { return item.key == name; });
    return found == items.end() ? nullptr : &*found;
}

std::size_t skip_blanks(std::string_view text, std::size_t at, bool comments) {
    while (at < text.size()) {
        const std::size_t behind = comments ? comment_end(text, at) : at;
        if (behind > at) {
            at = behind;
        } else if (is_blank(text[at])) {
            ++at;
        } else {
            break;
        }
    }
    return at;
}

std::size_t skip_rest_of_line(std::string_view text, std::size_t at) {
    std::size_t behind = at;
    for (std::size_t next = at; next < text.size() && text[next] != '\n' && text[next] != '\r';) {
        const std::size_t comment = comment_end(text, next);
        if (comment > next) {
            behind = next = comment;
        } else if (is_blank(text[next])) {
            ++next;
        } else {
            break;
        }
    }
    // The comment of a line ends before its line ending.
    while (behind > at && text[behind - 1] == '\r')
        --behind;
    return behind;
}

Result<JsonPlace> places_of(std::string_view text) {
    Walker walker(text);
    if (text.starts_with("\xef\xbb\xbf")) walker.pass(3);
    walker.skip();
    return walker.value(0);
}

}  // namespace unwrite::cli
