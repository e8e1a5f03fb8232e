#include "tests/fuzz/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "edit/diff.h"
#include "edit/lp1.h"
#include "edit/patch_names.h"
#include "edit/plan.h"
#include "edit/report.h"
#include "edit/revert_request.h"
#include "edit/span_edit.h"
#include "edit/text_safety.h"
#include "edit/unified_patch.h"
#include "tests/edit/memory_files.h"

namespace unwrite::fuzz {

namespace {

using namespace unwrite::edit;

void require(bool holds, const char* promise) {
    if (holds) return;
    static_cast<void>(std::fprintf(stderr, "broken promise: %s\n", promise));
    std::abort();
}

struct Parts {
    std::string_view first;
    std::string_view second;
};

Parts parts_of(std::string_view input) {
    static constexpr std::string_view kDivider = "\n===\n";
    const std::size_t at = input.find(kDivider);
    if (at == std::string_view::npos) return {input, {}};
    return {input.substr(0, at + 1), input.substr(at + kDivider.size())};
}

// A plan changes only what it names; carried out and undone it leaves what was.
void check_plan(const Result<EditPlan>& plan, MemoryFiles& memory) {
    if (!plan) {
        require(!plan.error().message().empty(), "a refusal has a reason");
        return;
    }
    const auto before = memory.files;
    require(edit_report(*plan).ok(), "every plan can be reported");
    for (const PlannedFile& file : plan->files) {
        const auto found = before.find(file.path);
        require(file.existed == (found != before.end()), "a plan knows what existed");
        require(!file.existed || file.before == found->second.bytes, "a plan knows what was");
        require(file.hash_after == digest_of(file.after), "a plan knows what will be");
    }
    memory.carry_out(*plan);
    UndoEntries entries;
    entries.applied("s", targets_of(*plan));
    const auto undone = entries.undo("s", memory);
    require(undone.ok() || plan->files.empty(), "what was just applied can be undone");
    require(memory.files == before, "undo leaves what was");
}

MemoryFiles memory_with(std::string_view bytes) {
    MemoryFiles memory;
    memory.files["a"].bytes = bytes;
    memory.files["b"].bytes = "1\n2\n3\n";
    return memory;
}

void check_section(const Lp1Section& section, std::string_view bytes, MixedEndings mode) {
    auto file = read_text(bytes, mode);
    if (!file) return;
    const std::uint64_t count = file->lines.size();
    if (mode == MixedEndings::kPreserve)
        require(written(*file) == bytes, "a file is written as it was read");
    const auto lines = apply_lp1(section, *file);
    if (!lines) return;
    for (std::size_t i = 0; i < lines->size(); ++i) {
        require((*lines)[i] >= 1 && (*lines)[i] <= count, "targets are lines of the file");
        require(i == 0 || (*lines)[i - 1] < (*lines)[i], "targets are sorted");
    }
    require(read_text(written(*file), MixedEndings::kPreserve).ok(),
            "a patched file can be patched again");
}

void check_response(const EditResponse& response) {
    const auto json = nlohmann::json::parse(encode_response(response), nullptr, false);
    require(json.is_object(), "a response is JSON");
    for (const char* name : {"action", "status", "message", "current_file_hash", "newline_kind"})
        require(json.contains(name), "a response has every field");
}

void check_span(const SpanEdit& edit, std::string_view bytes) {
    check_response(edit.response);
    if (edit.response.status != EditStatus::kOk) {
        require(edit.bytes.empty(), "what failed has no bytes");
        return;
    }
    const auto [start, end] = *edit.response.replaced;
    const std::string_view after = edit.bytes;
    require(after.substr(0, start) == bytes.substr(0, start), "bytes before the span stay");
    require(after.substr(start + edit.response.bytes_written) == bytes.substr(end),
            "bytes behind the span stay");
    require(edit.response.hash_after == digest_of(after), "the hash is that of the result");
}

void check_view(std::string_view bytes) {
    const CanonicalView view(bytes);
    require(view.text() == with_newlines(bytes, Newline::kLf), "the view has LF for every ending");
    require(view.original_offset(view.text().size()) == bytes.size(), "the end is the end");
    const NewlineCounts& counts = view.newlines();
    require(counts.lf + counts.crlf + counts.cr ==
                static_cast<std::size_t>(std::count(view.text().begin(), view.text().end(), '\n')),
            "every ending is counted");
    std::size_t last = 0;
    for (std::size_t at = 0; at <= view.text().size(); ++at) {
        const std::size_t offset = view.original_offset(at);
        require(offset >= last && offset <= bytes.size(), "offsets go forwards");
        const bool ending = at < view.text().size() && view.text()[at] == '\n';
        require(ending || at == view.text().size() || view.text()[at] == bytes[offset],
                "offsets lead to the same byte");
        last = offset;
    }
    for (const Newline kind : {Newline::kLf, Newline::kCrlf, Newline::kCr})
        require(with_newlines(with_newlines(bytes, kind), Newline::kLf) == view.text(),
                "endings can be changed and changed back");
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char byte) {
        const auto code = static_cast<unsigned char>(byte);
        return code < 0x20 || code == 0x7f;
    });
}

}  // namespace

void lp1(std::string_view input) {
    const auto [patch, bytes] = parts_of(input);
    const auto sections = parse_lp1(patch);
    if (sections) {
        for (const Lp1Section& section : *sections) {
            for (const auto mode :
                 {MixedEndings::kPreserve, MixedEndings::kStrict, MixedEndings::kNormalize})
                check_section(section, bytes, mode);
        }
    }
    require(approval_summary(patch).size() <= kMaxSummary, "the summary is short");
    MemoryFiles memory = memory_with(bytes);
    check_plan(plan_lp1(patch, {}, memory, {}), memory);
}

void request(std::string_view input) {
    const auto [arguments, bytes] = parts_of(input);
    const auto revert = decode_revert(arguments);
    if (revert) require(!revert_acknowledgement(*revert).empty(), "a revert is acknowledged");
    const auto decoded = decode_request(arguments, {});
    if (!decoded) {
        check_response(refusal(arguments, decoded.error()));
        return;
    }
    require(check_request(*decoded, {}).ok(), "what was decoded is right");
    if (const auto* snippet = std::get_if<SnippetRequest>(&*decoded))
        check_span(apply_snippet(*snippet, bytes, {}), bytes);
    if (const auto* lines = std::get_if<LineRequest>(&*decoded))
        check_span(apply_lines(*lines, bytes, {}), bytes);
}

void newlines(std::string_view input) {
    const auto [bytes, snippet] = parts_of(input);
    check_view(bytes);
    SnippetRequest wanted;
    wanted.old_snippet = bytes.substr(bytes.size() / 3, bytes.size() / 3 + 1);
    wanted.new_snippet = snippet;
    if (!wanted.old_snippet.empty()) check_span(apply_snippet(wanted, bytes, {}), bytes);
    const std::string shown = displayed(input);
    require(is_utf8(shown) && !has_control(shown), "what is shown is harmless");
    const std::string name = '"' + std::string(input);
    const auto read = unquoted_name(quoted_name(name));
    require(read && read->name == name, "a quoted name is read back");
}

void unified(std::string_view input) {
    const auto [first, second] = parts_of(input);
    MemoryFiles memory = memory_with(second);
    check_plan(plan_unified(first, 1, {}, memory, {}), memory);

    const auto text = unified_diff({"a", first}, {"a", second});
    require(text.ok(), "texts can be compared");
    require(numbered_diff(first, second).ok(), "texts can be compared with numbers");
    const auto patch = parse_unified(*text);
    const bool binary = text->find("\nBinary files a/a and b/a differ\n") != std::string::npos;
    if (binary || first == second) return;
    require(patch.ok() && patch->size() == 1, "a diff is a patch");
    const auto applied = apply_hunks(patch->front().hunks, first);
    require(applied.ok() && *applied == second, "a diff makes the newer text of the older one");
}

Target target_named(std::string_view name) {
    if (name == "lp1") return lp1;
    if (name == "request") return request;
    if (name == "newlines") return newlines;
    if (name == "unified") return unified;
    if (name == "rpc") return rpc;
    if (name == "delta") return delta;
    if (name == "packed") return packed;
    if (name == "checksums") return checksums;
    if (name == "socket") return socket;
    if (name == "rules") return rules;
    if (name == "gitindex") return gitindex;
    return nullptr;
}

const std::vector<std::string>& target_names() {
    static const std::vector<std::string> names = {"lp1",       "request", "newlines", "unified",
                                                   "rpc",       "delta",   "packed",   "socket",
                                                   "checksums", "rules",   "gitindex"};
    return names;
}

}  // namespace unwrite::fuzz
