// Unseen: the files that somebody may change without a request, because the kernel serves an open
// file or a mapping of it by itself. Nothing tells when such a change happens, so what the file
// holds is captured whole before it may begin, and again at the beginning of each interval for as
// long as it may go on.
//
// A file may only be asked what it holds at the moment that makes a state of it: the end of an
// interval. While a restore goes from state to state, and until the interval after it has its
// images, what the file holds at the state that was reached is not in the file any more (it is
// changed meanwhile) but in the journal: an image is carried along.
//
// Meanwhile who writes is held (base/write_hold.h), but stores to a mapping are not: what was
// stored since is found by a comparison, page by page when the file is written to (overwriting.h).
//
// A mapping lives on when the file that it was made with is closed, and nothing tells of its end:
// such a use lingers until the kernel says that nobody can write to the file (base/writers.h).
//
// Thread-safe; no lock is held across a system call.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "overlay/content.h"
#include "overlay/origins.h"

namespace unwrite::overlay {

class Unseen {
 public:
    /// What an object is at the state that is the head, whatever was written to it since.
    struct Image {
        HandlePtr bytes;               ///< a copy of the file, as it was at some state
        std::vector<LayerPtr> layers;  ///< that were crossed since
        journal::Attributes attributes{};
        Result<Content> content(const ObjectKey& key) const {
            return Content::open(bytes, key, layers);
        }
        /// The same at the far side of an edge.
        Image after(const LayerPtr& layer, const ObjectKey& key) const;
        /// All of the content as one file: `bytes`, or one without a name in the directory
        /// `scratch`. ENOSPC.
        Result<HandlePtr> whole(const ObjectKey& key, int scratch) const;
    };
    using ImagePtr = std::shared_ptr<const Image>;
    /// Those that are carried, or else those of the file.
    static Result<journal::Attributes> attributes(const ImagePtr& carried, int fd);
    /// A copy of the file as it is. Where somebody writes to it at that time, of each page some
    /// moment.
    static Result<ImagePtr> copy(int path, int scratch);

    struct Use {
        ObjectPtr object;
        std::vector<Who> whos;      ///< who began one: what is changed is booked to all of them
        unsigned open = 0;          ///< files that are open
        std::uint64_t begun = 0;    ///< how often it was opened
        bool lingers = false;       ///< a mapping of one that was closed may be left
        bool unprivileged = false;  ///< somebody but root has, or had, one
        bool over = false;          ///< it goes with its image
        /// The time of the last change when set-id bits were set meanwhile: a write after it would
        /// have cleared them.
        std::optional<struct timespec> set_id{};
        ImagePtr image{};  ///< carried; null: the file itself is asked
    };

    /// True when this is the first use of it.
    bool begin(const ObjectPtr& object, const Who& who, bool unprivileged);
    /// One file was closed. The use as it was until then, when it was the last one, and then it
    /// lingers, or is over.
    std::optional<Use> close(const ObjectKey& key, bool lingers);
    /// Nobody could write to it when it had been opened `begun` times; nothing when it is open, or
    /// was opened since.
    std::optional<Use> end_lingering(const ObjectKey& key, std::uint64_t begun);
    /// Set-id bits were set.
    void note_set_id(const ObjectKey& key, const struct timespec& changed);
    bool any() const;
    bool has(const ObjectKey& key) const;
    std::vector<Use> all() const;
    /// Those that no file is open of; so many at most.
    std::vector<Use> lingering(std::size_t most = SIZE_MAX) const;

    // Carried images: the operation that has the gate closed sets them.
    ImagePtr image(const ObjectKey& key) const;
    void carry(const ObjectKey& key, ImagePtr image);
    /// An edge was crossed. The layer is one to keep (Layers): its delta may be removed after this.
    /// An image of many layers becomes one file in the directory `scratch`, if there is room.
    void crossed(const LayerPtr& layer, int scratch);
    /// The interval has it: the file itself is asked again.
    void drop_image(const ObjectKey& key);
    void drop_images();

 private:
    mutable std::mutex mutex_;
    std::unordered_map<ObjectKey, Use> uses_;  // guarded by mutex_
};

}  // namespace unwrite::overlay
