// The nodes of the tree of states, in memory. A NodeTree is a value: a copy shares its pages with
// the original, so it costs a small part of what the tree holds, and neither sees what becomes of
// the other. A change makes one page anew.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/images.h"

namespace unwrite::journal {

enum class NodeKind { kRoot, kCheckpoint, kStep, kRun, kUndo, kMount, kTurn, kBegin };

/// One state of the tree. The live state has no row: it is what `current` became since.
struct Node {
    NodeNumber number = 0;
    NodeNumber parent = 0;  ///< 0 for the root
    NodeKind kind = NodeKind::kStep;
    std::string name{};  ///< empty: unnamed
    std::string text{};
    std::int64_t time_ns = 0;  ///< when it was sealed, ns since 1970
    OriginNumber origin = 0;
    /// The delta of the edge to `parent`. When `down` is false it holds the images of the parent's
    /// side (the node is on the trunk: applying it goes up); when true, those of the node's side
    /// (applying it goes down to it).
    DeltaNumber delta = 0;
    bool down = false;
    bool open = true;  ///< a named checkpoint that was not popped
    std::map<std::string, std::string> tags{};
};

/// Like a std::map by number. Not thread-safe, but copies may be used by different threads.
class NodeTree {
    using Page = std::vector<std::shared_ptr<const Node>>;  // sorted by number, never empty
    using Pages = std::vector<std::pair<NodeNumber, std::shared_ptr<const Page>>>;  // sorted, too

 public:
    /// From the lowest number to the highest.
    class Iterator {
     public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = Node;
        using difference_type = std::ptrdiff_t;
        using pointer = const Node*;
        using reference = const Node&;
        Iterator() = default;
        reference operator*() const { return *(*page_->second)[row_]; }
        pointer operator->() const { return &**this; }
        Iterator& operator++();
        Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        Iterator& operator--();
        Iterator operator--(int) { return std::exchange(*this, std::prev(*this)); }
        bool operator==(const Iterator&) const = default;

     private:
        friend class NodeTree;
        Iterator(Pages::const_iterator page, std::size_t row) : page_(page), row_(row) {}
        Pages::const_iterator page_{};
        std::size_t row_ = 0;
    };

    /// Null when there is none.
    const Node* find(NodeNumber number) const;
    bool contains(NodeNumber number) const { return find(number) != nullptr; }
    /// Throws std::out_of_range, as a map does, when there is none.
    const Node& at(NodeNumber number) const;
    std::size_t size() const { return size_; }
    Iterator begin() const { return {pages_.begin(), 0}; }
    Iterator end() const { return {pages_.end(), 0}; }
    auto rbegin() const { return std::make_reverse_iterator(end()); }
    auto rend() const { return std::make_reverse_iterator(begin()); }
    /// The first one whose number is higher.
    Iterator after(NodeNumber number) const;

    /// Instead of one with its number, if there is one.
    void put(Node node);
    void erase(NodeNumber number);

 private:
    Pages::const_iterator page_of(NodeNumber number) const;
    void replace(Pages::const_iterator at, Page page);

    Pages pages_;
    std::size_t size_ = 0;
};

}  // namespace unwrite::journal
