// A pruned tree that only finds leaves: 16 bytes a node, nothing of the rows that it was grown on.
#pragma once

#include <cstdint>
#include <vector>

#include "banditree/state.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

class FlatTree {
 public:
    // One leaf.
    FlatTree() : nodes_(1) { nodes_[0].is_leaf = true; }
    explicit FlatTree(const Tree& tree);

    // The number of the leaf where the context falls; leaves count from left to right.
    std::uint32_t leaf_of(const double* context) const {
        std::size_t at = 0;
        while (!nodes_[at].is_leaf)
            at = goes_left(nodes_[at], context[nodes_[at].feature]) ? at + 1 : nodes_[at].next;
        return nodes_[at].next;
    }
    std::size_t n_leaves() const { return (nodes_.size() + 1) / 2; }
    // The tree again; its nodes know their splits, and nothing of rows.
    Tree unfolded() const;

    // Right children follow from the order of the nodes, so they are not written.
    void write(ByteWriter& writer) const;
    // Throws std::invalid_argument unless it is a tree that splits features of these kinds.
    static FlatTree read(ByteReader& reader, const std::vector<Kind>& kinds);

 private:
    static constexpr std::uint32_t kMostFeatures = 1u << 28;
    // Depth first: the left child of a node is the next one.
    struct Node {
        double threshold = 0;    // of a category: which of the sides
        std::uint32_t next = 0;  // the right child; of a leaf, its number
        std::uint32_t feature : 28 = 0;
        std::uint32_t is_leaf : 1 = false;
        std::uint32_t is_category : 1 = false;
        std::uint32_t missing_left : 1 = false;
        std::uint32_t saw_missing : 1 = false;
    };
    static_assert(sizeof(Node) == 16);

    bool goes_left(const Node& node, double value) const {
        if (value != value) return node.missing_left;
        if (!node.is_category) return value <= node.threshold;
        return category_goes_left(sides_[static_cast<std::size_t>(node.threshold)], value,
                                  node.missing_left);
    }
    void number_leaves_and_children();

    std::vector<Node> nodes_;
    std::vector<Sides> sides_;
};

}  // namespace banditree
