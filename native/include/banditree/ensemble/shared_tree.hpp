// A tree whose splits all arms share, with a value for each arm in every leaf.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/coder.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/state.hpp"

namespace banditree {

class SharedTree {
 public:
    // A leaf has no child. The right child comes right after the left one.
    struct Node {
        std::uint64_t left_codes = 0;  // of the feature; of a leaf, its number
        std::uint32_t feature = 0;
        std::uint32_t child = 0;
    };

    SharedTree() : nodes_(1) {}  // one leaf

    std::uint32_t leaf_of(const std::uint8_t* codes) const {
        const Node* node = nodes_.data();
        while (node->child != 0) node = &nodes_[child_of(*node, codes)];
        return static_cast<std::uint32_t>(node->left_codes);
    }
    std::size_t child_of(const Node& node, const std::uint8_t* codes) const {
        return node.child + (~node.left_codes >> codes[node.feature] & 1);
    }
    std::size_t n_leaves() const { return (nodes_.size() + 1) / 2; }
    const std::vector<Node>& nodes() const { return nodes_; }

    void write(ByteWriter& out) const;
    static SharedTree read(ByteReader& in, std::size_t n_features);

 private:
    friend class TreeGrower;
    std::vector<Node> nodes_;
};

// A row as a tree is grown on it: the arm that was played, and by how much its value should move.
struct GradientRow {
    std::uint32_t row = 0;
    std::uint32_t arm = 0;
    float gradient = 0;
    float hessian = 0;
};

struct SharedGrowth {
    std::uint32_t max_depth = 60;
    std::uint32_t min_rows = 2;  // in a leaf
    float penalty = 1;           // on the Hessian of an arm, in gains
    float shrinkage = 1;         // of an arm's value in a node towards that in its parent
    double feature_share = 1;    // of features tried at a node
};

// Of a node: what gradients say of each arm, shrunk along the way from the root, there and in the
// node above; the last one of all arms together, for arms that are not there yet. Where an arm has
// no row, it says what it says above.
struct NodeValues {
    std::span<const float> value, above;
    std::span<const std::uint32_t> present;  // the arms that have rows
    std::span<const float> hessian;          // of each of these
};

// Takes what a tree says as it is grown, from the root on; leaves in the order of their numbers.
class LeafSink {
 public:
    virtual ~LeafSink() = default;
    // Returns what the nodes below are told is above them; the root is told 0.
    virtual std::uint32_t inner(std::uint32_t, const NodeValues&) { return 0; }
    virtual void leaf(std::uint32_t above, const NodeValues& node) = 0;
};

// In each leaf, arm by arm, the last of all together: its value, and how much Hessian says so.
struct LeafValues : LeafSink {
    std::vector<float> value;
    std::vector<float> hessian;

    void leaf(std::uint32_t above, const NodeValues& node) override;
};

// Grows trees on codes, one column a feature: best first feature by feature, the gain of a split
// being the sum over arms of G^2 / (H + penalty).
class TreeGrower {
 public:
    TreeGrower(std::span<const std::vector<std::uint8_t>> codes, const Coder& coder,
               std::uint32_t n_arms, const SharedGrowth& growth, Rng& rng);
    SharedTree grow(std::vector<GradientRow>& rows, LeafSink& leaves);

 private:
    // Sums of the rows of one code and arm.
    struct Item {
        std::uint32_t code = 0;
        std::uint32_t arm = 0;
        std::uint32_t n = 0;
        float gradient = 0;
        float hessian = 0;
    };
    struct Split {
        double gain = 0;
        std::uint32_t feature = 0;
        std::uint64_t left_codes = 0;
    };
    struct ArmSums {
        double gradient = 0, hessian = 0, left_gradient = 0, left_hessian = 0;
        double terms = 0;  // of both sides
    };
    // Of the rows of a code and an arm.
    struct Cell {
        float gradient = 0, hessian = 0;
        std::uint32_t n = 0;
    };

    void grow_node(std::uint32_t node, std::span<GradientRow> rows, std::uint32_t depth,
                   const std::vector<float>& parent, std::uint32_t above, LeafSink& leaves);
    std::vector<float> shrunk(const std::vector<float>& parent) const;
    void sum_arms(std::span<const GradientRow> rows);
    Split best_split(std::span<const GradientRow> rows);
    void collect(std::uint32_t feature, std::span<const GradientRow> rows);
    void collect_by_counting(const std::vector<std::uint8_t>& codes, std::uint32_t n_codes,
                             std::span<const GradientRow> rows);
    void collect_by_sorting(const std::vector<std::uint8_t>& codes,
                            std::span<const GradientRow> rows);
    void list_codes();
    double rank_codes();
    void scan(std::uint32_t feature, std::size_t n_rows, double chance, Split& best);
    std::uint64_t left_set(std::uint32_t feature, std::uint32_t n_left, std::size_t left_rows,
                           std::size_t n_rows) const;
    std::size_t partition(std::span<GradientRow> rows, const Split& split);
    double term(double gradient, double hessian) const {
        return gradient * gradient / (hessian + growth_.penalty);
    }

    std::span<const std::vector<std::uint8_t>> codes_;
    const Coder& coder_;
    std::uint32_t n_arms_;
    SharedGrowth growth_;
    Rng& rng_;
    SharedTree tree_;
    std::vector<std::uint32_t> features_;
    std::vector<ArmSums> arms_;
    std::vector<std::uint32_t> present_;  // arms of the node
    std::vector<float> hessians_;         // of these
    std::uint32_t n_leaves_ = 0;
    double noise_ = 0;  // of its rows: squared gradient per Hessian
    std::vector<Item> items_;
    std::vector<Cell> cells_;
    std::vector<GradientRow> right_;                       // rows that go there, while others move
    std::array<std::uint32_t, Coder::kCodes> codes_at_{};  // of each rank, as cuts are tried
    std::uint32_t n_ranks_ = 0;
};

}  // namespace banditree
