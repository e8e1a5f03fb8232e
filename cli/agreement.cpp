#include "cli/agreement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include "base/digest.h"
#include "base/syscalls.h"
#include "cli/state_directory.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

using overlay::Rule;
using overlay::Subjects;

Result<> make_directories(const std::string& path) {
    if (path.empty() || sys::stat_at(AT_FDCWD, path)) return {};
    TRY(make_directories(path.substr(0, path.rfind('/'))));
    const Result<> made = sys::make_directory(AT_FDCWD, path, 0700);
    return made || made.error().number() == EEXIST ? Result<>() : made;
}

constexpr const char* kAgreed = "/agreed";

/// Of limits: 0 stands for none.
bool is_looser(std::uint64_t wanted, std::uint64_t user) {
    return user != 0 && (wanted == 0 || wanted > user);
}

bool is_looser(Subjects wanted, Subjects user) {
    return user == Subjects::kEveryone && wanted != Subjects::kEveryone;
}

/// How long something is kept; 0: for ever.
bool keeps_less(std::uint64_t wanted, std::uint64_t user) {
    return wanted != 0 && (user == 0 || wanted < user);
}

/// How many are asked before a database changes: 0 nobody, 1 agents, 2 everybody.
int strength(const Config& config) {
    if (config.profile == "none" || config.databases == "allow") return 0;
    const bool all =
        config.databases ? config.databases == "everyone" : config.bind == Subjects::kEveryone;
    return all ? 2 : 1;
}

/// Takes values over from what is wanted, or names the key.
class Sieve {
 public:
    explicit Sieve(Config& result) : result_(result) {}
    template <class Value>
    void take(const char* key, bool looser, Value& target, const Value& wanted) {
        if (looser) {
            result_.held_back.emplace_back(key);
        } else {
            target = wanted;
        }
    }

 private:
    Config& result_;
};

void take_breaker(Sieve& sieve, overlay::BreakerLimits& own, const overlay::BreakerLimits& wanted) {
    using Limits = overlay::BreakerLimits;
    sieve.take("policy.breaker.for", is_looser(wanted.subjects, own.subjects), own.subjects,
               wanted.subjects);
    sieve.take("policy.breaker.deleted_share", is_looser(wanted.deleted_share, own.deleted_share),
               own.deleted_share, wanted.deleted_share);
    for (const auto& [key, limit] :
         {std::pair{"policy.breaker.deletions", &Limits::deletions},
          std::pair{"policy.breaker.deletions_per_second", &Limits::deletions_per_second},
          std::pair{"policy.breaker.overwritten", &Limits::overwritten},
          std::pair{"policy.breaker.overwritten_per_second", &Limits::overwritten_per_second},
          std::pair{"policy.breaker.directories", &Limits::directories},
          std::pair{"policy.breaker.directories_per_second", &Limits::directories_per_second}})
        sieve.take(key, is_looser(wanted.*limit, own.*limit), own.*limit, wanted.*limit);
}

/// The rules of the workspace follow the user's in `wanted`.
void take_rules(Config& result, const Config& user, const Config& wanted) {
    for (std::size_t i = user.rules.size(); i < wanted.rules.size(); ++i) {
        Rule rule = wanted.rules[i];
        const bool unsaid = wanted.unsaid.contains(i);
        if (rule.pattern.starts_with('!') || rule.action == overlay::Action::kAllow) {
            result.held_back.push_back("the rule in " + rule.source);
        } else if (rule.action == overlay::Action::kAsk) {
            if (unsaid) rule.subjects = result.bind;
            result.first_rules.push_back(std::move(rule));
        } else {
            if (unsaid) result.unsaid.insert(result.rules.size());
            result.rules.push_back(std::move(rule));
        }
    }
}

}  // namespace

bool is_agreed(std::string_view text) {
    const std::string state = user_state_directory();
    if (state.empty()) return false;
    const auto st = sys::stat_at(AT_FDCWD, state + kAgreed + "/" + to_hex(digest_of(text)));
    return st && S_ISREG(st->st_mode);
}

Result<> agree(std::string_view text) {
    const std::string state = user_state_directory();
    const std::string why = "cannot write down what you agreed to";
    if (state.empty())
        return Error(ErrorKind::kSystem, ENOENT, why + ": there is no home directory");
    const Result<> made = make_directories(state + kAgreed);
    const Result<UniqueFd> directory =
        made ? sys::open_at(AT_FDCWD, state + kAgreed, O_RDONLY | O_DIRECTORY) : made.error();
    const Result<> written =
        directory ? sys::replace_file_at(directory->get(), to_hex(digest_of(text)), text, 0600)
                  : directory.error();
    return written ? written : written.error().with_context(why);
}

Config tightened(const Config& user, const Config& wanted) {
    Config result = user;
    Sieve sieve(result);
    const auto proof = [](const Config& one) { return one.durable ? 2 : one.ordered ? 1 : 0; };
    const bool less = proof(user) > proof(wanted);
    sieve.take("durability", less, result.durable, wanted.durable);
    if (!less) result.ordered = wanted.ordered;
    result.mtime_now = wanted.mtime_now;
    result.idle = wanted.idle;
    result.uncompressed = wanted.uncompressed;
    result.ask_timeout = wanted.ask_timeout;
    const auto keep = [&](const char* key, std::uint64_t overlay::Retention::*limit) {
        sieve.take(key, keeps_less(wanted.retention.*limit, user.retention.*limit),
                   result.retention.*limit, wanted.retention.*limit);
    };
    keep("gc.max_age_days", &overlay::Retention::max_age_seconds);
    keep("gc.max_abandoned", &overlay::Retention::max_abandoned);
    keep("gc.max_bytes", &overlay::Retention::max_bytes);
    constexpr std::uint64_t kUsualReserve = std::uint64_t{64} << 20;
    sieve.take("journal.reserve",
               wanted.reserve && *wanted.reserve < user.reserve.value_or(kUsualReserve),
               result.reserve, wanted.reserve);
    const bool other = wanted.profile != user.profile && user.profile != "none";
    sieve.take("policy.profile", other, result.profile, wanted.profile);
    sieve.take("policy.bind", is_looser(wanted.bind, user.bind), result.bind, wanted.bind);
    // What holds without the text, and with it, under the profile that holds.
    Config with = result;
    with.databases = wanted.databases;
    sieve.take("policy.databases", strength(with) < strength(result), result.databases,
               wanted.databases);
    sieve.take("policy.size_cap", is_looser(wanted.size_cap.bytes, user.size_cap.bytes),
               result.size_cap.bytes, wanted.size_cap.bytes);
    sieve.take("policy.size_cap_for", is_looser(wanted.size_cap.subjects, user.size_cap.subjects),
               result.size_cap.subjects, wanted.size_cap.subjects);
    take_breaker(sieve, result.breaker, wanted.breaker);
    take_rules(result, user, wanted);
    return result;
}

std::string held_back_words(const Config& config) {
    std::vector<std::string> all = config.held_back;
    constexpr std::size_t kMost = 5;
    const std::size_t more = all.size() > kMost ? all.size() - kMost : 0;
    all.resize(all.size() - more);
    for (std::string& one : all)
        one = harmless(one);
    return fmt::format("{}{}", fmt::join(all, ", "),
                       more != 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace unwrite::cli
