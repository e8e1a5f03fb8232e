#include "cli/network/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

#include "cli/network/endpoint.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostListed = 5;
constexpr std::string_view kEnd = "end\n";

using Tallies = std::map<std::string, Tally>;

std::string encode(char kind, const Tallies& tallies) {
    std::string text;
    for (const auto& [name, tally] : tallies) {
        text += fmt::format("{} {} {} {} {}\n", kind, tally.connections, tally.sent, tally.received,
                            name);
    }
    return text;
}

bool take_number(std::string_view& text, std::uint64_t& number) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
}

/// Those with the most connections first.
std::vector<std::pair<std::string, Tally>> sorted(const Tallies& tallies) {
    std::vector<std::pair<std::string, Tally>> list(tallies.begin(), tallies.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& one, const auto& other) {
        return one.second.connections > other.second.connections;
    });
    return list;
}

std::string list_words(const Tallies& tallies, const std::function<std::string(const Tally&)>& of) {
    std::string words;
    std::size_t listed = 0;
    for (const auto& [name, tally] : sorted(tallies)) {
        if (listed++ == kMostListed) break;
        words += (words.empty() ? "" : ", ") + quote_name(name) + of(tally);
    }
    if (tallies.size() > kMostListed)
        words += fmt::format(" and {} more", tallies.size() - kMostListed);
    return words;
}

std::string in_brackets(const Tally& tally) {
    return fmt::format(" ({})", grouped(tally.connections));
}

std::string with_bytes(const Tally& tally) {
    return " " + counted(tally.connections, "connection", "connections") + ", " +
           size_words(tally.sent + tally.received);
}

/// The refused name that was asked for most and can be allowed; "" where there is none.
std::string name_to_allow(const Traffic& traffic) {
    for (const auto& [name, tally] : sorted(traffic.refused))
        if (parse_endpoint(name, kHttps)) return name;
    return {};
}

control::Json list_json(const Tallies& tallies) {
    control::Json list = control::Json::array();
    for (const auto& [name, tally] : tallies) {
        list.push_back({{"endpoint", name},
                        {"connections", tally.connections},
                        {"sent", tally.sent},
                        {"received", tally.received}});
    }
    return list;
}

}  // namespace

void Traffic::add(Passed passed, const std::string& name, const Tally& tally) {
    Tallies& all = passed == Passed::kAllowed   ? allowed
                   : passed == Passed::kRefused ? refused
                                                : failed;
    const bool has_room = all.size() < kMostNames || all.contains(name);
    Tally& sum = all[has_room ? name : std::string(kOthers)];
    sum.connections += tally.connections;
    sum.sent += tally.sent;
    sum.received += tally.received;
}

std::string encode_traffic(const Traffic& traffic) {
    std::string text =
        encode('a', traffic.allowed) + encode('r', traffic.refused) + encode('f', traffic.failed);
    if (!traffic.log.empty()) text += "l " + traffic.log + "\n";
    return text + std::string(kEnd);
}

Traffic decode_traffic(std::string_view text) {
    Traffic traffic;
    traffic.is_whole = text.ends_with(kEnd);
    for (const std::string_view line : lines_of(text)) {
        if (line.size() < 3 || line[1] != ' ') continue;
        std::string_view rest = line.substr(2);
        Tally tally;
        if (line[0] == 'l') traffic.log = rest;
        const bool is_tally = take_number(rest, tally.connections) &&
                              take_number(rest, tally.sent) && take_number(rest, tally.received);
        if (!is_tally || rest.empty()) continue;
        if (line[0] == 'a') traffic.add(Passed::kAllowed, std::string(rest), tally);
        if (line[0] == 'r') traffic.add(Passed::kRefused, std::string(rest), tally);
        if (line[0] == 'f') traffic.add(Passed::kFailed, std::string(rest), tally);
    }
    return traffic;
}

std::string traffic_words(const Traffic& traffic) {
    std::string words;
    const auto add = [&](const std::string& part) { words += (words.empty() ? "" : "; ") + part; };
    if (!traffic.allowed.empty()) add(list_words(traffic.allowed, with_bytes));
    if (!traffic.refused.empty()) add("refused: " + list_words(traffic.refused, in_brackets));
    if (!traffic.failed.empty()) add("not reached: " + list_words(traffic.failed, in_brackets));
    return words.empty() ? words : "Network: " + words;
}

void tell_traffic(Context& context, const Traffic& traffic) {
    if (!traffic.is_whole) {
        context.notes.line(
            "The proxy of the run ended before it, so connections are missing in this list.");
    }
    const std::string words = traffic_words(traffic);
    if (words.empty()) return;
    context.notes.line(words);
    const std::string name = name_to_allow(traffic);
    if (!name.empty()) {
        context.notes.line("hint: unwrite run --network model --endpoint " + quote_name(name) +
                           " lets the next run reach it");
    }
    if (!traffic.log.empty())
        context.notes.line("Each connection is listed in " + quote_name(traffic.log) + ".");
}

control::Json traffic_json(const Traffic& traffic) {
    return {{"allowed", list_json(traffic.allowed)},
            {"refused", list_json(traffic.refused)},
            {"failed", list_json(traffic.failed)},
            {"log", control::encode_bytes(traffic.log)},
            {"whole", traffic.is_whole}};
}

}  // namespace unwrite::cli
