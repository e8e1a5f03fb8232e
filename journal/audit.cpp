#include "journal/audit.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

#include "base/crash_point.h"
#include "base/syscalls.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr std::size_t kDigits = 64;
constexpr std::size_t kMostField = 4096;

/// No blank, no control character, nothing outside ASCII; an empty field stands between two blanks.
std::string escaped(std::string_view bytes) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string text;
    for (const char byte : bytes.substr(0, kMostField)) {
        const auto value = static_cast<unsigned char>(byte);
        if (value > 0x20 && value < 0x7f && byte != '%') {
            text += byte;
        } else {
            text += '%';
            text += kHex[value >> 4];
            text += kHex[value & 15];
        }
    }
    return text;
}

std::string unescaped(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const bool coded =
            text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(&text[i + 1], &text[i + 1] + 2, value, 16).ec == std::errc();
        bytes += coded ? static_cast<char>(value) : text[i];
        if (coded) i += 2;
    }
    return bytes;
}

/// Takes the next field off.
std::string_view next_field(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return field;
}

template <class Number>
Number number_of(std::string_view text) {
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string body_of(const AuditEntry& entry) {
    std::string body;
    const auto add = [&body](const std::string& field) {
        if (!body.empty()) body += ' ';
        body += field;
    };
    add(std::to_string(entry.time_ns));
    add(escaped(entry.event));
    add(std::to_string(entry.count));
    add(std::to_string(entry.pid));
    add(std::to_string(entry.uid));
    add(entry.agent ? "1" : "0");
    for (const std::string* field :
         {&entry.operation, &entry.path, &entry.executable, &entry.session, &entry.detail})
        add(escaped(*field));
    return body;
}

AuditEntry parse_body(std::string_view rest) {
    AuditEntry entry;
    entry.time_ns = number_of<std::int64_t>(next_field(rest));
    entry.event = unescaped(next_field(rest));
    entry.count = number_of<std::uint64_t>(next_field(rest));
    entry.pid = number_of<std::int64_t>(next_field(rest));
    entry.uid = number_of<std::uint32_t>(next_field(rest));
    entry.agent = next_field(rest) == "1";
    for (std::string* field :
         {&entry.operation, &entry.path, &entry.executable, &entry.session, &entry.detail})
        *field = unescaped(next_field(rest));
    return entry;
}

Digest chained(const Digest& before, std::string_view body) {
    return digest_of(to_hex(before) + ' ' + std::string(body));
}

/// What a line says its digest is; nothing when it does not begin with one.
std::optional<Digest> digest_at(std::string_view line) {
    if (line.size() <= kDigits || line[kDigits] != ' ') return std::nullopt;
    return digest_from(line.substr(0, kDigits));
}

/// Walks over whole lines; `seen` gets each with its number, from 1.
template <class Seen>
void each_line(std::string_view text, const Seen& seen) {
    for (std::size_t number = 1;; ++number) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return;
        seen(number, text.substr(0, end));
        text.remove_prefix(end + 1);
    }
}

/// `before`: the digest of the line before; nothing when that line is gone for good.
void read_part(const std::string& name, std::string_view text, std::optional<Digest>& before,
               AuditTrail& trail) {
    each_line(text, [&](std::size_t number, std::string_view line) {
        const auto digest = digest_at(line);
        const std::string_view body = digest ? line.substr(kDigits + 1) : std::string_view();
        if (!digest || (before && chained(*before, body) != *digest)) {
            trail.problems.push_back(name + ": line " + std::to_string(number) +
                                     " was changed, or one before it was taken out");
        }
        if (digest) trail.entries.push_back(parse_body(body));
        before = digest;
    });
}

}  // namespace

std::string format_audit(const Digest& before, const AuditEntry& entry) {
    const std::string body = body_of(entry);
    return to_hex(chained(before, body)) + ' ' + body;
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(int state_dir, bool durable,
                                                 std::uint64_t most_bytes) {
    std::unique_ptr<AuditLog> log(new AuditLog(state_dir, durable, most_bytes));
    const std::lock_guard lock(log->mutex_);
    TRY(log->continue_file());
    return log;
}

Result<> AuditLog::continue_file() {
    TRY_ASSIGN(file_, sys::open_at(state_dir_, kName, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    TRY_ASSIGN(std::string text, read_whole(state_dir_, kName));
    const std::size_t newline = text.rfind('\n');
    end_ = newline == std::string::npos ? 0 : newline + 1;
    if (end_ < text.size()) TRY(sys::truncate(file_.get(), end_));
    if (end_ == 0) {
        // Between the end of one part and the first line of the next.
        TRY_ASSIGN(text, read_whole(state_dir_, kOldName));
    }
    last_ = Digest();
    each_line(text, [this](std::size_t, std::string_view line) {
        if (const auto digest = digest_at(line)) last_ = *digest;
    });
    return {};
}

Result<> AuditLog::begin_new() {
    TRY(sys::rename(state_dir_, kName, state_dir_, kOldName));
    crash_point("audit.renamed");
    TRY_ASSIGN(file_, sys::open_at(state_dir_, kName, O_RDWR | O_CREAT | O_EXCL, 0600));
    end_ = 0;
    return {};
}

Result<> AuditLog::append(const AuditEntry& entry) {
    const std::lock_guard lock(mutex_);
    if (end_ >= most_bytes_) TRY(begin_new());
    const std::string line = format_audit(last_, entry) + '\n';
    const Result<> written = sys::write_all_at(file_.get(), std::as_bytes(std::span(line)), end_);
    if (!written) {
        ignore(sys::truncate(file_.get(), end_), "what is left of it is cut off at the next open");
        return written;
    }
    end_ += line.size();
    last_ = *digest_at(line);
    if (durable_) TRY(sys::sync_data(file_.get()));
    return {};
}

Result<> AuditLog::set_aside() {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(std::string text, read_whole(state_dir_, kOldName));
    TRY_ASSIGN(const std::string newer, read_whole(state_dir_, kName));
    text += newer;
    TRY(sys::replace_file_at(state_dir_, kBrokenName, text, 0600));
    TRY(remove_whole(state_dir_, kOldName));
    TRY(sys::truncate(file_.get(), 0));
    end_ = 0;
    last_ = Digest();
    return {};
}

Result<AuditTrail> read_audit(int state_dir) {
    AuditTrail trail;
    TRY_ASSIGN(const std::string old_part, read_whole(state_dir, AuditLog::kOldName));
    TRY_ASSIGN(const std::string new_part, read_whole(state_dir, AuditLog::kName));
    // The first line of an old part follows one that is gone; without an old part it is the first
    // of all.
    std::optional<Digest> before;
    if (old_part.empty()) before = Digest();
    read_part(AuditLog::kOldName, old_part, before, trail);
    read_part(AuditLog::kName, new_part, before, trail);
    return trail;
}

}  // namespace unwrite::journal
