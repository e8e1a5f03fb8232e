#include "edit/request.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/digest.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

using Json = nlohmann::json;

constexpr std::array kCommonFields = {"path", "file_hash", "region_id"};
constexpr std::array kPatchFields = {"patch"};
constexpr std::array kSnippetFields = {"old_snippet", "new_snippet", "match_hint"};
constexpr std::array kLineFields = {"start_line", "end_line", "new_content"};

// `what` may have so many bytes.
Error too_large(std::string text, const std::string& what, std::uint64_t most) {
    return {ErrorKind::kUsage, EINVAL, std::move(text),
            what + " may have " + std::to_string(most) + " bytes" +
                ". Make the change in several smaller calls."};
}

Error bad(const std::string& text, std::string advice = {}) {
    return {ErrorKind::kUsage, EINVAL, "Bad args: " + text, std::move(advice)};
}

constexpr const char* kModes =
    "Give path, old_snippet and new_snippet; or path, start_line, end_line and new_content; or "
    "patch.";

// How other tools call these fields.
constexpr std::array<std::pair<std::string_view, const char*>, 14> kOtherNames = {
    {{"old_string", "old_snippet"},
     {"new_string", "new_snippet"},
     {"old_str", "old_snippet"},
     {"new_str", "new_snippet"},
     {"old_text", "old_snippet"},
     {"new_text", "new_snippet"},
     {"file_path", "path"},
     {"filename", "path"},
     {"file", "path"},
     {"content", "new_content"},
     {"diff", "patch"},
     {"input", "patch"},
     {"start", "start_line"},
     {"end", "end_line"}}};

std::string advice_on_field(std::string_view name) {
    for (const auto& [other, ours] : kOtherNames) {
        if (name == other)
            return "Use " + std::string(ours) + " instead of " + std::string(other) + ". " + kModes;
    }
    return std::string("Leave it out. ") + kModes;
}

// A field that is null counts as one that is not there: some clients send all that a schema names.
const Json* field(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

template <class Names>
bool has_any(const Json& object, const Names& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return field(object, name) != nullptr; });
}

template <class Names>
bool knows(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Result<> no_unknown_field(const Json& object) {
    for (const auto& item : object.items()) {
        const std::string& name = item.key();
        if (!knows(kCommonFields, name) && !knows(kPatchFields, name) &&
            !knows(kSnippetFields, name) && !knows(kLineFields, name)) {
            return bad("unknown field \"" + displayed(name.substr(0, 60)) + "\"",
                       advice_on_field(name));
        }
    }
    return {};
}

Result<std::string> required_text(const Json& object, const char* name) {
    const Json* value = field(object, name);
    if (value == nullptr) return bad(std::string(name) + " is required", kModes);
    if (!value->is_string())
        return bad(std::string(name) + " must be a string",
                   "Give " + std::string(name) + " as a string.");
    return value->get_ref<const std::string&>();
}

Result<std::optional<std::string>> optional_text(const Json& object, const char* name) {
    if (field(object, name) == nullptr) return std::optional<std::string>{};
    TRY_ASSIGN(std::string text, required_text(object, name));
    return std::optional<std::string>{std::move(text)};
}

// To JSON, 1.0 is an integer as 1 is.
std::optional<std::uint64_t> whole_number(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (!value.is_number_float()) return std::nullopt;
    constexpr double most = 9007199254740992.0;  // 2^53: beyond it, not every number has a double
    const double number = value.get<double>();
    if (!(number >= 0 && number <= most)) return std::nullopt;
    const auto whole = static_cast<std::uint64_t>(number);
    return static_cast<double>(whole) == number ? std::optional(whole) : std::nullopt;
}

Result<std::uint64_t> line_number(const Json& object, const char* name) {
    const Json* value = field(object, name);
    if (value == nullptr) return bad(std::string(name) + " is required", kModes);
    const std::string advice = "Lines are numbered from 1, as Read shows them.";
    const auto number = whole_number(*value);
    if (number) return *number;
    const bool negative = value->is_number() && value->get<double>() < 1;
    return bad(std::string(name) + (negative ? " must be at least 1" : " must be an integer"),
               advice);
}

Result<LineRange> line_range(const Json& object) {
    LineRange lines;
    TRY_ASSIGN(lines.start, line_number(object, "start_line"));
    TRY_ASSIGN(lines.end, line_number(object, "end_line"));
    return lines;
}

constexpr const char* kHint =
    "Give it as match_hint: {\"start_line\": 3, \"end_line\": 9}, or leave it out.";

Result<std::optional<LineRange>> match_hint(const Json& object) {
    const Json* hint = field(object, "match_hint");
    if (hint == nullptr) return std::optional<LineRange>{};
    if (!hint->is_object()) return bad("match_hint must be an object", kHint);
    for (const auto& item : hint->items()) {
        if (item.key() != "start_line" && item.key() != "end_line")
            return bad(
                "unknown field \"" + displayed(item.key().substr(0, 60)) + "\" in match_hint",
                kHint);
    }
    if (field(*hint, "start_line") == nullptr || field(*hint, "end_line") == nullptr)
        return bad("match_hint needs both start_line and end_line", kHint);
    auto lines = line_range(*hint);
    if (!lines) return std::move(lines).error();
    return std::optional<LineRange>{*lines};
}

Result<EditRequest> decode_patch(const Json& object) {
    for (const char* name : kCommonFields) {
        if (field(object, name) != nullptr)
            return bad(std::string(name) + " cannot be given with patch",
                       "The patch names its files itself: leave " + std::string(name) + " out.");
    }
    PatchRequest request;
    TRY_ASSIGN(request.patch, required_text(object, "patch"));
    return EditRequest{std::move(request)};
}

template <class Request>
Result<> decode_common(const Json& object, Request& request) {
    TRY_ASSIGN(request.path, required_text(object, "path"));
    TRY_ASSIGN(request.file_hash, optional_text(object, "file_hash"));
    TRY_ASSIGN(request.region_id, optional_text(object, "region_id"));
    return {};
}

Result<EditRequest> decode_snippet(const Json& object) {
    SnippetRequest request;
    TRY(decode_common(object, request));
    TRY_ASSIGN(request.old_snippet, required_text(object, "old_snippet"));
    TRY_ASSIGN(request.new_snippet, required_text(object, "new_snippet"));
    TRY_ASSIGN(request.match_hint, match_hint(object));
    return EditRequest{std::move(request)};
}

Result<EditRequest> decode_lines(const Json& object) {
    LineRequest request;
    TRY(decode_common(object, request));
    TRY_ASSIGN(request.lines, line_range(object));
    TRY_ASSIGN(request.new_content, required_text(object, "new_content"));
    return EditRequest{std::move(request)};
}

Result<EditRequest> decode_object(const Json& object) {
    TRY(no_unknown_field(object));
    const bool patch = has_any(object, kPatchFields);
    const bool snippet = has_any(object, kSnippetFields);
    const bool lines = has_any(object, kLineFields);
    if (static_cast<int>(patch) + static_cast<int>(snippet) + static_cast<int>(lines) > 1)
        return bad(
            "fields of two edit modes are mixed: give patch, or old_snippet and "
            "new_snippet, or start_line, end_line and new_content",
            kModes);
    if (patch) return decode_patch(object);
    if (snippet) return decode_snippet(object);
    if (lines) return decode_lines(object);
    return bad(
        "patch, or old_snippet and new_snippet, or start_line, end_line and new_content "
        "are required",
        kModes);
}

Result<> check_range(const LineRange& lines) {
    if (lines.start < 1) return bad("start_line must be at least 1");
    if (lines.end < lines.start) return bad("end_line must not be less than start_line");
    return {};
}

template <class Request>
Result<> check_common(const Request& request, const Settings& settings) {
    TRY(check_path(request.path));
    if (request.region_id && request.region_id->size() > kMaxRegionId)
        return bad("region_id is longer than " + std::to_string(kMaxRegionId) + " bytes");
    const std::string advice = "Call Read for the file; its answer has file_hash.";
    if (settings.require_file_hash && !request.file_hash)
        return bad("file_hash is required", advice);
    if (request.file_hash && !digest_from(*request.file_hash))
        return bad("file_hash must be \"sha256:\" and 64 hexadecimal digits", advice);
    return {};
}

Result<> check(const PatchRequest& request, const Settings& settings) {
    if (settings.require_file_hash)
        return bad("file_hash is required (tools.edit.require_file_hash), and a patch has none",
                   "Edit file by file with path, file_hash and old_snippet or start_line.");
    if (request.patch.size() > settings.max_patch)
        return too_large("Patch exceeds max_patch_bytes", "A patch", settings.max_patch);
    return {};
}

Result<> check(const SnippetRequest& request, const Settings& settings) {
    TRY(check_common(request, settings));
    if (request.old_snippet.empty()) return bad("old_snippet must not be empty");
    if (std::max(request.old_snippet.size(), request.new_snippet.size()) > settings.max_snippet)
        return too_large("Snippet exceeds max_snippet_bytes", "A snippet", settings.max_snippet);
    return request.match_hint ? check_range(*request.match_hint) : Result<>{};
}

Result<> check(const LineRequest& request, const Settings& settings) {
    TRY(check_common(request, settings));
    if (request.new_content.size() > settings.max_line_edit)
        return too_large("Line edit exceeds max_line_edit_bytes", "new_content",
                         settings.max_line_edit);
    return check_range(request.lines);
}

}  // namespace

Result<EditRequest> decode_request(std::string_view arguments, const Settings& settings) {
    if (arguments.size() > settings.max_arguments) {
        return Error(ErrorKind::kUsage, EINVAL, "Tool arguments too large",
                     "A call may have " + std::to_string(settings.max_arguments) +
                         " bytes of arguments. Make the change in several smaller calls.");
    }
    const Json object = Json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    if (object.is_discarded()) return bad("the arguments are not JSON");
    if (!object.is_object()) return bad("the arguments are not an object");
    TRY_ASSIGN(EditRequest request, decode_object(object));
    TRY(check_request(request, settings));
    return request;
}

Result<> check_request(const EditRequest& request, const Settings& settings) {
    if (!settings.enabled)
        return {
            Error(ErrorKind::kRefused, EPERM, "The Edit tool is disabled (tools.edit.enabled)")};
    return std::visit([&](const auto& one) { return check(one, settings); }, request);
}

}  // namespace unwrite::edit
