#include "cli/screen/model.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "cli/screen/diff_page.h"

namespace unwrite::cli::screen {

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

bool has_in_name(const overlay::Change& change, std::string_view word) {
    const char* end = S_ISDIR(change.type) ? "/" : "";
    return holds(change.path + end, word) || holds(change.old_path, word);
}

bool passes(const Item& item, const std::string& word) {
    if (word == "is:open") return !is_decided(item);
    if (word == "is:accepted") return item.verdict == Verdict::kAccept;
    if (word == "is:rejected") return item.verdict == Verdict::kReject;
    if (word == "is:parts") return item.verdict == Verdict::kParts;
    return has_in_name(item.change, word);
}

}  // namespace

Verdict verdict_of(const std::vector<Verdict>& hunks, Verdict whole) {
    if (hunks.empty()) return whole;
    const bool same = std::all_of(hunks.begin(), hunks.end(),
                                  [&](Verdict verdict) { return verdict == hunks.front(); });
    return same ? hunks.front() : Verdict::kParts;
}

bool is_decided(const Item& item) {
    if (item.verdict != Verdict::kParts) return item.verdict != Verdict::kOpen;
    return std::find(item.hunks.begin(), item.hunks.end(), Verdict::kOpen) == item.hunks.end();
}

Model::Model(std::vector<Item> items) : items_(std::move(items)) {
    set_filter("");
}

const Item* Model::current() const {
    return shown_.empty() ? nullptr : &items_[shown_[cursor_]];
}

Tally Model::tally() const {
    Tally tally;
    for (const Item& item : items_) {
        std::size_t& count = !is_decided(item)                  ? tally.open
                             : item.verdict == Verdict::kParts  ? tally.parts
                             : item.verdict == Verdict::kAccept ? tally.accepted
                                                                : tally.rejected;
        ++count;
    }
    return tally;
}

void Model::move_to(std::size_t place) {
    cursor_ = shown_.empty() ? 0 : std::min(place, shown_.size() - 1);
}

void Model::move_by(std::ptrdiff_t steps) {
    const auto to = static_cast<std::ptrdiff_t>(cursor_) + steps;
    move_to(to < 0 ? 0 : static_cast<std::size_t>(to));
}

Model::Said Model::said(std::size_t item) const {
    return {item, items_[item].verdict, items_[item].hunks};
}

Model::Said Model::whole(std::size_t item, Verdict verdict) const {
    return {item, verdict, std::vector<Verdict>(items_[item].hunks.size(), verdict)};
}

bool Model::say(const std::vector<Said>& now) {
    Step step{{}, shown_.empty() ? 0 : shown_[cursor_]};
    for (const Said& one : now) {
        Item& item = items_[one.item];
        if (item.verdict == one.verdict && item.hunks == one.hunks) continue;
        step.before.push_back(said(one.item));
        item.verdict = one.verdict;
        item.hunks = one.hunks;
    }
    if (step.before.empty()) return false;
    steps_.push_back(std::move(step));
    return true;
}

bool Model::judge(Verdict verdict) {
    return !shown_.empty() && say({whole(shown_[cursor_], verdict)});
}

bool Model::judge_hunk(std::size_t hunk, Verdict verdict) {
    if (shown_.empty() || hunk >= items_[shown_[cursor_]].hunks.size()) return false;
    Said now = said(shown_[cursor_]);
    now.hunks[hunk] = verdict;
    now.verdict = verdict_of(now.hunks, now.verdict);
    return say({now});
}

bool Model::judge_shown(Verdict verdict) {
    std::vector<Said> now;
    for (const std::size_t item : shown_)
        now.push_back(whole(item, verdict));
    return say(now);
}

bool Model::judge_open(Verdict verdict) {
    std::vector<Said> now;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (is_decided(items_[i])) continue;
        Said one = items_[i].verdict == Verdict::kOpen ? whole(i, verdict) : said(i);
        std::replace(one.hunks.begin(), one.hunks.end(), Verdict::kOpen, verdict);
        one.verdict = verdict_of(one.hunks, verdict);
        now.push_back(std::move(one));
    }
    return say(now);
}

bool Model::undo() {
    if (steps_.empty()) return false;
    const Step step = std::move(steps_.back());
    steps_.pop_back();
    for (const Said& one : step.before) {
        items_[one.item].verdict = one.verdict;
        items_[one.item].hunks = one.hunks;
    }
    refresh(step.item);
    return true;
}

void Model::set_parts(std::size_t count, const std::string& seen) {
    if (shown_.empty()) return;
    const std::size_t at = shown_[cursor_];
    Item& item = items_[at];
    const bool other = !item.seen.empty() && item.seen != seen;
    if (other) reopen(item.change.path);
    if (item.hunks.size() != count) item.hunks.assign(count, item.verdict);
    // A verdict from before the file was read was on the whole of it.
    for (Step& step : steps_) {
        for (Said& one : step.before) {
            if (one.item == at && one.hunks.size() != count) one.hunks.assign(count, one.verdict);
        }
    }
    item.seen = seen;
}

void Model::reopen(const std::string& path) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].change.path != path) continue;
        items_[i].verdict = Verdict::kOpen;
        items_[i].hunks.clear();
        items_[i].seen.clear();
        for (Step& step : steps_)
            std::erase_if(step.before, [&](const Said& one) { return one.item == i; });
        std::erase_if(steps_, [](const Step& step) { return step.before.empty(); });
    }
}

void Model::open_directory(std::vector<overlay::Change> inside) {
    if (shown_.empty() || inside.empty()) return;
    const std::size_t at = shown_[cursor_];
    const Verdict verdict = items_[at].verdict;
    std::vector<Item> opened;
    for (overlay::Change& change : inside)
        opened.push_back({std::move(change), verdict, {}, {}});
    const std::size_t more = opened.size() - 1;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(at),
                  std::make_move_iterator(opened.begin()), std::make_move_iterator(opened.end()));
    // What was said of the directory before is, on the way back, said of all that lies in it.
    for (Step& step : steps_) {
        std::vector<Said> before;
        for (Said& one : step.before) {
            if (one.item != at) {
                if (one.item > at) one.item += more;
                before.push_back(std::move(one));
                continue;
            }
            for (std::size_t i = 0; i <= more; ++i)
                before.push_back({at + i, one.verdict, {}});
        }
        step.before = std::move(before);
        if (step.item > at) step.item += more;
    }
    refresh(at);
}

// The place stays with the item, if it is still shown.
void Model::refresh(std::size_t item) {
    const std::vector<std::string> words = words_of(filter_);
    shown_.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const bool all = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            return passes(items_[i], word);
        });
        if (all) shown_.push_back(i);
    }
    const auto place = std::lower_bound(shown_.begin(), shown_.end(), item);
    move_to(static_cast<std::size_t>(place - shown_.begin()));
}

void Model::set_filter(const std::string& words) {
    const std::size_t item = shown_.empty() ? 0 : shown_[cursor_];
    filter_ = words;
    refresh(item);
}

bool Model::search(std::string_view text, bool backwards) {
    const std::size_t count = shown_.size();
    for (std::size_t n = 1; n <= count; ++n) {
        const std::size_t place =
            backwards ? (cursor_ + count - n % count) % count : (cursor_ + n) % count;
        if (!has_in_name(items_[shown_[place]].change, text)) continue;
        move_to(place);
        return true;
    }
    return false;
}

std::vector<Judged> Model::judged() const {
    std::vector<Judged> all;
    for (const Item& item : items_) {
        Judged one{item.change, is_decided(item) ? item.verdict : Verdict::kOpen, {}, item.seen};
        for (std::size_t i = 0; one.verdict == Verdict::kParts && i < item.hunks.size(); ++i) {
            if (item.hunks[i] == Verdict::kAccept) one.hunks.push_back(i + 1);
        }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace unwrite::cli::screen
