#include "cli/heaps.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/paths.h"

namespace unwrite::cli {

using overlay::Change;
using overlay::ChangeKind;

namespace {

constexpr std::array<std::string_view, 4> kHeaps = {".git", "node_modules", ".venv", "__pycache__"};
constexpr std::ptrdiff_t kMostSingle = 3;

}  // namespace

std::string heap_above(const std::string& path) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = path.find('/', begin)) != std::string::npos; begin = end + 1) {
        const std::string_view name = std::string_view(path).substr(begin, end - begin);
        if (std::find(kHeaps.begin(), kHeaps.end(), name) != kHeaps.end())
            return path.substr(0, end);
    }
    return "";
}

bool is_heap(const Change& change) {
    return change.kind == ChangeKind::kModified && S_ISDIR(change.type) && change.below > 0;
}

std::vector<Change> heaped(const std::vector<Change>& changes) {
    std::vector<Change> all;
    for (auto change = changes.begin(); change != changes.end();) {
        const std::string heap = heap_above(change->path);
        const auto end =
            heap.empty() ? change + 1 : std::find_if(change, changes.end(), [&](const Change& one) {
                return !is_below(one.path, heap);
            });
        if (end - change <= kMostSingle) {
            all.insert(all.end(), change, end);
            change = end;
            continue;
        }
        Change whole;
        whole.files = 0;
        whole.path = heap;
        whole.type = S_IFDIR;
        for (; change != end; ++change) {
            ++whole.below;
            whole.bytes += change->bytes;
            whole.files += change->files;
            whole.ignored += change->ignored;
        }
        all.push_back(std::move(whole));
    }
    return all;
}

}  // namespace unwrite::cli
