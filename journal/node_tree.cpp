#include "journal/node_tree.h"

#include <algorithm>
#include <stdexcept>

namespace unwrite::journal {

namespace {

/// Numbers that share a page.
constexpr NodeNumber kPerPage = 64;

template <class Rows>
auto row_of(Rows& page, NodeNumber number) {
    return std::lower_bound(
        page.begin(), page.end(), number,
        [](const auto& row, NodeNumber wanted) { return row->number < wanted; });
}

}  // namespace

NodeTree::Iterator& NodeTree::Iterator::operator++() {
    if (++row_ == page_->second->size()) {
        ++page_;
        row_ = 0;
    }
    return *this;
}

NodeTree::Iterator& NodeTree::Iterator::operator--() {
    if (row_ == 0) {
        --page_;
        row_ = page_->second->size();
    }
    --row_;
    return *this;
}

/// That page, or the one before which it would be.
NodeTree::Pages::const_iterator NodeTree::page_of(NodeNumber number) const {
    return std::lower_bound(
        pages_.begin(), pages_.end(), number / kPerPage,
        [](const auto& page, NodeNumber wanted) { return page.first < wanted; });
}

const Node* NodeTree::find(NodeNumber number) const {
    const auto page = page_of(number);
    if (page == pages_.end() || page->first != number / kPerPage) return nullptr;
    const auto row = row_of(*page->second, number);
    return row == page->second->end() || (*row)->number != number ? nullptr : row->get();
}

const Node& NodeTree::at(NodeNumber number) const {
    const Node* const node = find(number);
    if (node == nullptr) throw std::out_of_range("node n" + std::to_string(number));
    return *node;
}

NodeTree::Iterator NodeTree::after(NodeNumber number) const {
    const auto page = page_of(number + 1);
    if (page == pages_.end()) return end();
    const auto row = row_of(*page->second, number + 1);
    if (row == page->second->end()) return {std::next(page), 0};
    return {page, static_cast<std::size_t>(row - page->second->begin())};
}

// Pages are never changed: another tree may have them, in another thread.
void NodeTree::replace(Pages::const_iterator at, Page page) {
    const auto place = pages_.begin() + (at - pages_.cbegin());
    if (page.empty()) {
        pages_.erase(place);
    } else {
        place->second = std::make_shared<const Page>(std::move(page));
    }
}

void NodeTree::put(Node node) {
    const NodeNumber number = node.number;
    auto row = std::make_shared<const Node>(std::move(node));
    const auto at = page_of(number);
    if (at == pages_.end() || at->first != number / kPerPage) {
        pages_.emplace(at, number / kPerPage, std::make_shared<const Page>(1, std::move(row)));
        ++size_;
        return;
    }
    Page page = *at->second;
    const auto place = row_of(page, number);
    if (place != page.end() && (*place)->number == number) {
        *place = std::move(row);
    } else {
        page.insert(place, std::move(row));
        ++size_;
    }
    replace(at, std::move(page));
}

void NodeTree::erase(NodeNumber number) {
    if (!contains(number)) return;
    const auto at = page_of(number);
    Page page = *at->second;
    page.erase(row_of(page, number));
    replace(at, std::move(page));
    --size_;
}

}  // namespace unwrite::journal
