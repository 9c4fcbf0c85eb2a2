#include "banditree/trees/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace banditree {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What weakest-link pruning keeps of each subtree: its leaves, their cost, and how much its splits
// gain together.
struct Subtree {
    std::uint32_t leaves = 1;
    double cost = 0;
    double gain = 0;

    // The alpha from which the node alone is as good as the subtree.
    double link() const { return gain / (leaves - 1); }
};

Subtree join(const Node& node, const Subtree& left, const Subtree& right) {
    return {left.leaves + right.leaves, left.cost + right.cost, node.gain + left.gain + right.gain};
}

// Collapses the weakest link again and again. Every node knows the weakest link at or below it, so
// that one is found by walking down and forgotten by walking up.
class WeakestLink {
 public:
    explicit WeakestLink(const Tree& tree)
        : tree_(tree),
          parents_(tree.parents()),
          subtrees_(tree.nodes.size()),
          weakest_(tree.nodes.size(), kNever) {
        path_.node_alphas.assign(tree.nodes.size(), kNever);
        for (std::int32_t i = static_cast<std::int32_t>(tree.nodes.size()) - 1; i >= 0; --i) {
            if (tree.nodes[i].is_leaf()) {
                subtrees_[i].cost = tree.nodes[i].cost;
                path_.node_alphas[i] = 0;
            } else {
                refresh(i);
            }
        }
    }

    PruningPath run() {
        record(0);
        while (subtrees_[0].leaves > 1) {
            const double alpha = weakest_[0];
            while (weakest_[0] <= alpha * (1 + kAlphaTolerance)) collapse(find_weakest(), alpha);
            record(alpha);
        }
        return std::move(path_);
    }

 private:
    void refresh(std::int32_t i) {
        const std::int32_t left = i + 1, right = tree_.nodes[i].right;
        subtrees_[i] = join(tree_.nodes[i], subtrees_[left], subtrees_[right]);
        weakest_[i] = std::min({subtrees_[i].link(), weakest_[left], weakest_[right]});
    }
    std::int32_t find_weakest() const {
        std::int32_t i = 0;
        while (weakest_[i] < subtrees_[i].link())
            i = weakest_[i + 1] == weakest_[i] ? i + 1 : tree_.nodes[i].right;
        return i;
    }
    void collapse(std::int32_t node, double alpha) {
        path_.node_alphas[node] = alpha;
        subtrees_[node] = {1, tree_.nodes[node].cost, 0};
        weakest_[node] = kNever;
        for (std::int32_t up = parents_[node]; up >= 0; up = parents_[up]) refresh(up);
    }
    void record(double alpha) {
        path_.alphas.push_back(alpha);
        path_.leaves.push_back(subtrees_[0].leaves);
        path_.costs.push_back(subtrees_[0].cost);
    }

    const Tree& tree_;
    std::vector<std::int32_t> parents_;
    std::vector<Subtree> subtrees_;
    std::vector<double> weakest_;
    PruningPath path_;
};

}  // namespace

bool category_goes_left(const Sides& sides, double value, bool missing_left) {
    if (!(value >= 0 && value < kMaxCategories)) return missing_left;
    const auto code = static_cast<std::uint32_t>(value) + 1;
    if (std::binary_search(sides.left.begin(), sides.left.end(), code)) return true;
    if (std::binary_search(sides.right.begin(), sides.right.end(), code)) return false;
    return missing_left;
}

bool Tree::goes_left_value(const Node& node, double value) const {
    if (std::isnan(value)) return node.missing_left;
    if (node.sides >= 0) return category_goes_left(sides[node.sides], value, node.missing_left);
    return value <= node.threshold;
}

const Node& Tree::leaf_of(const double* context) const {
    std::size_t i = 0;
    while (!nodes[i].is_leaf()) i = goes_left(nodes[i], context) ? i + 1 : nodes[i].right;
    return nodes[i];
}

std::uint32_t Tree::n_leaves() const { return static_cast<std::uint32_t>((nodes.size() + 1) / 2); }

std::vector<std::int32_t> Tree::parents() const {
    std::vector<std::int32_t> parents(nodes.size(), -1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].is_leaf()) continue;
        parents[i + 1] = static_cast<std::int32_t>(i);
        parents[nodes[i].right] = static_cast<std::int32_t>(i);
    }
    return parents;
}

std::uint32_t Tree::depth() const {
    const auto up = parents();
    std::vector<std::uint32_t> depths(nodes.size(), 0);
    for (std::size_t i = 1; i < nodes.size(); ++i) depths[i] = depths[up[i]] + 1;
    return *std::max_element(depths.begin(), depths.end());
}

std::vector<bool> Tree::collapsed_at(double alpha) const {
    std::vector<Subtree> subtrees(nodes.size());
    std::vector<bool> collapsed(nodes.size(), true);
    for (std::int32_t i = static_cast<std::int32_t>(nodes.size()) - 1; i >= 0; --i) {
        if (nodes[i].is_leaf()) continue;
        const Subtree kept = join(nodes[i], subtrees[i + 1], subtrees[nodes[i].right]);
        collapsed[i] = kept.link() <= alpha * (1 + kAlphaTolerance);
        if (!collapsed[i]) subtrees[i] = kept;
    }
    return collapsed;
}

Tree Tree::prune(double alpha, std::vector<std::int32_t>* origins) const {
    const auto collapsed = collapsed_at(alpha);
    Tree pruned;
    struct Pending {
        std::int32_t node;
        std::int32_t parent;  // in the new tree, of a right child; -1 otherwise
    };
    std::vector<Pending> stack{{0, -1}};
    while (!stack.empty()) {
        const auto [old, parent] = stack.back();
        stack.pop_back();
        const auto index = static_cast<std::int32_t>(pruned.nodes.size());
        if (origins != nullptr) origins->push_back(old);
        Node node = nodes[old];
        if (parent >= 0) pruned.nodes[parent].right = index;
        if (collapsed[old]) {
            Node leaf;
            leaf.weight = node.weight, leaf.mean = node.mean, leaf.cost = node.cost,
            leaf.n = node.n;
            pruned.nodes.push_back(leaf);
            continue;
        }
        if (node.sides >= 0) {
            pruned.sides.push_back(sides[node.sides]);
            node.sides = static_cast<std::int32_t>(pruned.sides.size()) - 1;
        }
        pruned.nodes.push_back(node);
        stack.push_back({nodes[old].right, index});
        stack.push_back({old + 1, -1});
    }
    return pruned;
}

PruningPath Tree::pruning_path() const { return WeakestLink(*this).run(); }

}  // namespace banditree
