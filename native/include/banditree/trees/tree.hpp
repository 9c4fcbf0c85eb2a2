// A grown tree: prediction, weakest-link pruning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/state.hpp"
#include "banditree/trees/split.hpp"

namespace banditree {

// A leaf has feature -1. The left child of node i is i + 1, so nodes stand in depth-first order.
struct Node {
    double weight = 0;
    double mean = 0;
    double cost = 0;
    double gain = 0;
    double threshold =
        0;  // numbers: value <= threshold goes left; +inf: only missing values go right
    std::uint32_t n = 0;
    std::int32_t feature = -1;
    std::int32_t right = -1;
    std::int32_t sides = -1;  // categories: index into Tree::sides
    bool missing_left = false;
    bool saw_missing = false;  // when it was grown; else missing values follow the greater weight

    bool is_leaf() const { return feature < 0; }
};

struct PruningPath {
    std::vector<double> alphas;
    std::vector<std::uint32_t> leaves;
    std::vector<double> costs;
    // For each node the alpha at which it becomes a leaf: 0 for leaves, infinity if a node above
    // goes first.
    std::vector<double> node_alphas;
};

class Tree {
 public:
    std::vector<Node> nodes;
    std::vector<Sides> sides;

    bool goes_left(const Node& node, const double* context) const {
        return goes_left_value(node, context[node.feature]);
    }
    bool goes_left_value(const Node& node, double value) const;
    const Node& leaf_of(const double* context) const;
    std::uint32_t n_leaves() const;
    std::uint32_t depth() const;
    std::vector<std::int32_t> parents() const;
    // Adds to `origins` which node each of the pruned tree was.
    Tree prune(double alpha, std::vector<std::int32_t>* origins = nullptr) const;
    PruningPath pruning_path() const;

    void write(ByteWriter& out) const;
    // A tree of at least one node on features of these kinds; no walk can leave it.
    static Tree read(ByteReader& in, const std::vector<Kind>& kinds);

 private:
    std::vector<bool> collapsed_at(double alpha) const;
};

// Whether the nodes are one tree in depth-first order, so that no walk can leave it or run in
// circles.
bool is_depth_first(const std::vector<Node>& nodes);

// Which way a category goes; one that the node did not see follows the missing values.
bool category_goes_left(const Sides& sides, double category, bool missing_left);

}  // namespace banditree
