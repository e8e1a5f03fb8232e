#include "fs/held.h"

#include <linux/fuse.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

Result<std::unique_ptr<Held>> Held::start(Server& server, overlay::Waiting& waiting) {
    std::unique_ptr<Held> held(new Held(server, waiting));
    TRY_ASSIGN(held->thread_, start_thread("unwrite-held", [self = held.get()] { self->live(); }));
    waiting.set_release(
        [self = held.get()](const auto& tickets, int error) { self->release(tickets, error); });
    server.held = held.get();
    return Result<std::unique_ptr<Held>>(std::move(held));
}

Held::~Held() {
    if (!thread_.joinable()) return;
    waiting_.close();
    waiting_.set_release({});
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }
    thread_.join();
    server_.held = nullptr;
}

bool Held::add(Kept kept) {
    const std::scoped_lock lock(mutex_);
    const std::size_t size = kept.bytes.size();
    if (kept_.size() >= tuning::kMostHeld || bytes_ + size > tuning::kMostHeldBytes) return false;
    bytes_ += size;
    kept_.insert_or_assign(raw_flags().unique, std::move(kept));
    return true;
}

bool Held::take(std::uint64_t unique, int answer) {
    const auto found = kept_.find(unique);
    if (found == kept_.end()) return false;
    bytes_ -= found->second.bytes.size();
    released_.push_back(std::move(found->second));
    released_.back().answer = answer;
    kept_.erase(found);
    changed_.notify_all();
    return true;
}

void Held::release(const std::vector<overlay::Ticket>& tickets, int error) {
    const std::scoped_lock lock(mutex_);
    for (const overlay::Ticket ticket : tickets)
        take(ticket, error);
}

// The order matters. It is kept before libfuse gives it up, so an interrupt finds it at one of the
// two (interrupt() looks at both with the lock held); and it waits for the answer only after it is
// kept, so that an answer finds it.
void Held::keep(fuse_req_t request, int error) {
    const std::uint64_t unique = raw_flags().unique;
    const overlay::QuestionNumber question = raw_flags().question;
    const std::span<const char> bytes = raw_flags().bytes;
    if (!add(Kept{std::string(bytes.data(), bytes.size()), question, 0})) {
        fuse_reply_err(request, error);
        return;
    }
    const bool interrupted = fuse_req_interrupted(request) != 0;
    fuse_reply_none(request);
    const bool waits = !interrupted && waiting_.await(question, unique);
    bool gone = false;
    {
        const std::scoped_lock lock(mutex_);
        if (!waits) take(unique, interrupted ? EINTR : 0);
        gone = waits && !kept_.contains(unique);
        look_again_ = true;
        changed_.notify_all();
    }
    if (gone) waiting_.leave(question, unique);  // it was interrupted in between, or is answered
}

void Held::interrupt(const fuse_buf& buffer) {
    fuse_interrupt_in target = {};
    if (buffer.size < sizeof(fuse_in_header) + sizeof target) return;
    std::memcpy(&target, static_cast<const char*>(buffer.mem) + sizeof(fuse_in_header),
                sizeof target);
    overlay::QuestionNumber question = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (const auto found = kept_.find(target.unique); found != kept_.end()) {
            question = found->second.question;
            take(target.unique, EINTR);
        } else {
            fuse_session_process_buf(server_.session, &buffer);
        }
    }
    if (question != 0) waiting_.leave(question, target.unique);
}

/// Once more, as if it had just arrived.
void Held::process(Kept& kept) {
    raw_flags() = decode_raw_flags(kept.bytes.data(), kept.bytes.size());
    raw_flags().answer = kept.answer;
    fuse_buf buffer = {};
    buffer.size = kept.bytes.size();
    buffer.mem = kept.bytes.data();
    fuse_session_process_buf(server_.session, &buffer);
}

void Held::live() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (!released_.empty()) {
            Kept next = std::move(released_.front());
            released_.pop_front();
            lock.unlock();
            process(next);
            lock.lock();
            continue;
        }
        if (stop_) return;
        look_again_ = false;
        lock.unlock();
        const auto next = waiting_.expire();
        lock.lock();
        const auto wake = [&] { return stop_ || look_again_ || !released_.empty(); };
        if (next) {
            changed_.wait_until(lock, *next, wake);
        } else {
            changed_.wait(lock, wake);
        }
    }
}

}  // namespace unwrite::fs
