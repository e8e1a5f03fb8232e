// Every number that was chosen by measuring, in one place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace unwrite::fs::tuning {

/// How long the kernel may answer from its caches, in seconds: names, attributes, absent names.
/// Changes through the mount and restores are seen at once whatever stands here; only changes
/// behind the mount may be seen this much later.
inline constexpr double kEntrySeconds = 1.0;
inline constexpr double kAttributeSeconds = 1.0;
inline constexpr double kNegativeSeconds = 1.0;
/// The same where changes behind the mount are noticed (behind.h): names, and attributes of
/// directories.
inline constexpr double kKeptSeconds = 300.0;
/// Attributes of files there. Not every change of a file is noticed by its directory (decision
/// 0025); the others are seen so much later.
inline constexpr double kFileSeconds = 10.0;
/// Events are fetched so long after the first: by then many of them are one.
inline constexpr std::chrono::milliseconds kBehindDelay{4};
/// A change behind the mount is told to the kernel once more after this: an answer that was given
/// before the change may have been under way when it was told first.
inline constexpr std::chrono::milliseconds kBehindAgain{1000};
/// All names are dropped at most so often for changes behind the mount.
inline constexpr std::chrono::milliseconds kNamesPause{250};
/// From so many objects on, those to be told once more are kept each once.
inline constexpr std::size_t kMostBehind = 20'000;

/// The largest request: 256 pages.
inline constexpr unsigned kLargestRequest = 1U << 20U;
/// Read-ahead and write-back requests that may be under way at once.
inline constexpr unsigned kBackground = 64;
/// From so many on the kernel reads less ahead, and writes no mapped page that nobody waits for.
inline constexpr unsigned kCongested = kBackground * 3 / 4;

/// Threads that answer requests: as many as there are blocked requests, up to this.
inline constexpr unsigned kFirstWorkers = 2;
inline constexpr unsigned kMostWorkers = 256;
/// How long a thread that was found not to be ours is not asked for again.
inline constexpr std::chrono::milliseconds kStranger{50};
/// Requests that are kept until a person has answered, and their bytes; beyond, they are refused.
inline constexpr std::size_t kMostHeld = 4096;
inline constexpr std::size_t kMostHeldBytes = std::size_t{256} << 20U;
/// How long an idle worker looks for the next request before it sleeps, and how many may do so at
/// once; so long, too, who waits for a helper looks whether it has done.
inline constexpr std::chrono::microseconds kSpin{50};
/// When to yield the processor took so long, others want it, and nobody looks for requests without
/// sleeping for a while.
inline constexpr std::chrono::microseconds kSlowYield{150};
inline constexpr std::chrono::microseconds kCrowded{20'000};
/// After so many requests in turn that came one by one, the others do not hear of new ones while
/// the next is carried out, unless it takes as long as the second (or half of it).
inline constexpr unsigned kAlone = 8;
inline constexpr std::chrono::microseconds kLookAfter{1000};
/// From so many requests on that a worker takes without having slept between, idle processors are
/// kept awake, until this long after the last; only in machines with at most so many.
inline constexpr unsigned kBurst = 4;
inline constexpr std::chrono::milliseconds kAwake{2};
inline constexpr unsigned kMostAwake = 8;

/// How long forget() waits for the kernel to drop pages before the restore goes on without it.
inline constexpr std::chrono::milliseconds kForgetPatience{250};
/// How long an unmount waits for announcements that are still under way.
inline constexpr std::chrono::seconds kClosingPatience{2};
/// How long the end of a mount that is in use waits for dirty pages, and how long at least for a
/// moment at which nobody stores.
inline constexpr std::chrono::minutes kClosingWriteBack{10};
inline constexpr std::chrono::seconds kStoringPatience{10};
/// How long at least for a moment at which no request waits to be taken.
inline constexpr std::chrono::milliseconds kNeverEmpty{50};

/// Names and paths that watchers are told of after one restore; beyond, they get the parents'
/// events only.
inline constexpr std::size_t kMostAnnouncements = 1000;

/// Bytes of a READDIR reply that one entry takes, about: how many entries to ask the tree for.
inline constexpr std::size_t kListedBytes = 40;
inline constexpr std::size_t kListedPlusBytes = 168;

}  // namespace unwrite::fs::tuning
