#include "journal/node_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace unwrite::journal {
namespace {

using Wanted = std::map<NodeNumber, std::string>;

Node named(NodeNumber number, std::string name) {
    Node node;
    node.number = number;
    node.name = std::move(name);
    return node;
}

Wanted rows(const NodeTree& tree) {
    Wanted rows;
    for (const Node& node : tree)
        rows.emplace(node.number, node.name);
    return rows;
}

Wanted rows_from_the_end(const NodeTree& tree) {
    Wanted rows;
    for (auto node = tree.rbegin(); node != tree.rend(); ++node)
        rows.emplace(node->number, node->name);
    return rows;
}

TEST(NodeTree, IsLikeAMapWhateverIsDoneToIt) {
    std::mt19937 random(7);
    NodeTree tree;
    Wanted wanted;
    std::vector<std::pair<NodeTree, Wanted>> copies;
    for (int step = 0; step < 5000; ++step) {
        const NodeNumber number = 1 + random() % 400;
        if (random() % 3 == 0) {
            tree.erase(number);
            wanted.erase(number);
        } else {
            tree.put(named(number, std::to_string(step)));
            wanted[number] = std::to_string(step);
        }
        const NodeNumber other = random() % 402;
        ASSERT_EQ(tree.size(), wanted.size());
        ASSERT_EQ(tree.contains(other), wanted.contains(other));
        const auto after = tree.after(other);
        const auto behind = wanted.upper_bound(other);
        ASSERT_EQ(after == tree.end(), behind == wanted.end());
        if (behind != wanted.end()) {
            ASSERT_EQ(after->number, behind->first);
        }
        if (step % 500 == 0) copies.emplace_back(tree, wanted);
    }
    copies.emplace_back(tree, wanted);
    for (const auto& [copy, then] : copies) {
        EXPECT_EQ(rows(copy), then);
        EXPECT_EQ(rows_from_the_end(copy), then);
    }
}

TEST(NodeTree, AnEmptyOneHasNothing) {
    const NodeTree tree;
    EXPECT_EQ(tree.size(), 0U);
    EXPECT_EQ(tree.begin(), tree.end());
    EXPECT_EQ(tree.after(0), tree.end());
    EXPECT_EQ(tree.find(1), nullptr);
    EXPECT_THROW(static_cast<void>(tree.at(1)), std::out_of_range);
}

}  // namespace
}  // namespace unwrite::journal
