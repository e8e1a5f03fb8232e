#include "overlay/rulebook.h"

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/log.h"

namespace unwrite::overlay {

namespace {

/// The pattern that takes this path alone (and what is below).
std::string pattern_of(const std::string& path) {
    std::string pattern = "/";
    for (const char byte : path) {
        if (byte == '*' || byte == '?' || byte == '[' || byte == '\\') pattern += '\\';
        pattern += byte;
    }
    return pattern;
}

Rule rule_of(const Allowance& allowance) {
    Rule rule;
    rule.pattern = pattern_of(allowance.path);
    rule.action = Action::kAllow;
    rule.subjects = allowance.agents ? Subjects::kEveryone : Subjects::kUser;
    rule.source = "policy allow";
    return rule;
}

}  // namespace

Rulebook::Rulebook(std::shared_ptr<const Policy> policy)
    : current_(policy.get()), base_(policy), kept_{std::move(policy)} {}

const Policy& Rulebook::now() {
    const std::int64_t end = next_end_ns_.load(std::memory_order_relaxed);
    if (end != 0 && wall_clock_ns() >= end) {
        const std::lock_guard lock(mutex_);
        if (drop_expired()) {
            const Result<> compiled = compile();
            if (!compiled) log::error("end an allowance: " + compiled.error().message());
        }
    }
    return *current_.load(std::memory_order_acquire);
}

bool Rulebook::drop_expired() {
    const std::int64_t now = wall_clock_ns();
    const std::size_t gone = std::erase_if(allowances_, [now](const Allowance& allowance) {
        return allowance.until_ns != 0 && allowance.until_ns <= now;
    });
    return gone != 0;
}

Result<> Rulebook::compile() {
    std::vector<Rule> rules = base_->rules();
    std::int64_t next = 0;
    for (const Allowance& allowance : allowances_) {
        rules.push_back(rule_of(allowance));
        if (allowance.until_ns != 0)
            next = next == 0 ? allowance.until_ns : std::min(next, allowance.until_ns);
    }
    TRY_ASSIGN(std::shared_ptr<const Policy> compiled, Policy::compile(std::move(rules)));
    current_.store(compiled.get(), std::memory_order_release);
    kept_.push_back(std::move(compiled));
    next_end_ns_.store(next);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    return {};
}

Result<> Rulebook::replace(std::shared_ptr<const Policy> policy) {
    const std::lock_guard lock(mutex_);
    const auto before = std::exchange(base_, std::move(policy));
    replaced_.store(true, std::memory_order_release);
    Result<> compiled = compile();
    if (!compiled) base_ = before;
    return compiled;
}

Result<> Rulebook::allow(const Allowance& allowance) {
    const std::lock_guard lock(mutex_);
    drop_expired();
    std::erase_if(allowances_, [&](const Allowance& one) { return one.path == allowance.path; });
    allowances_.push_back(allowance);
    Result<> compiled = compile();
    if (!compiled) allowances_.pop_back();
    return compiled;
}

std::vector<Allowance> Rulebook::allowances() {
    const std::lock_guard lock(mutex_);
    drop_expired();
    return allowances_;
}

}  // namespace unwrite::overlay
