// Traffic: what went over the proxy of a run, counted for each endpoint, and the words for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "control/wire.h"

namespace unwrite::cli {

enum class Passed { kAllowed, kRefused, kFailed };

struct Tally {
    std::uint64_t connections = 0;
    std::uint64_t sent = 0;  ///< bytes from the command
    std::uint64_t received = 0;
};

/// Further names of one kind are counted together, under kOthers. (No endpoint has a space.)
constexpr std::size_t kMostNames = 200;
constexpr std::string_view kOthers = "other names";
/// Under this what is no request of a proxy's client is counted.
constexpr std::string_view kNoRequest = "unreadable requests";

struct Traffic {
    std::map<std::string, Tally> allowed{};  ///< by words_of(Endpoint)
    std::map<std::string, Tally> refused{};
    std::map<std::string, Tally> failed{};  ///< allowed, and not reached
    std::string log{};                      ///< the file with each connection; "": there is none
    bool is_whole = true;                   ///< false: the proxy ended early

    void add(Passed passed, const std::string& name, const Tally& tally);
};

/// For a pipe. What cannot be decoded is not whole.
std::string encode_traffic(const Traffic& traffic);
Traffic decode_traffic(std::string_view text);

/// "Network: api.anthropic.com 12 connections, 3.4 MiB; refused: registry.example (4)"; "" where
/// nothing was asked for.
std::string traffic_words(const Traffic& traffic);
/// Those, where the list is, and the option that allows what was refused.
void tell_traffic(Context& context, const Traffic& traffic);
control::Json traffic_json(const Traffic& traffic);

}  // namespace unwrite::cli
