// Growing a tree, and answering for one context without growing it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "banditree/trees/tree.hpp"

namespace banditree {

// Some rows of a data set, in ascending order, and their weights (empty: all 1).
struct Sample {
    std::vector<std::uint32_t> rows;
    std::vector<double> weights;

    // All rows of the data whose weight is positive; `weights` (one a row) replace the data's own
    // unless empty.
    static Sample of(const Dataset& data, std::span<const double> weights);
    // The given rows, with the data's own weights.
    static Sample of(const Dataset& data, std::vector<std::uint32_t> rows);
    bool is_weighted() const {
        return std::any_of(weights.begin(), weights.end(), [](double w) { return w != 1; });
    }
};

struct Segment {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t size() const { return end - begin; }
};

// What a node knew when it was grown, beyond what the tree keeps.
struct Trace {
    Segment segment;
    std::uint32_t below = 0;  // the codes on either side of a number's threshold
    std::uint32_t above = 0;
    double credit = 1;  // how much of the split's gain counts
    bool saw_missing = false;
    bool cut = false;           // a leaf only for want of levels
    std::vector<float> bounds;  // of each feature (see bound_of); empty unless the node is watched
    std::vector<CategoryBound> category_bounds;
};

// A tree, the moments of each node and, if it is traced, the rows, reordered so that every node's
// are contiguous, and a trace of each node.
struct Grown {
    Tree tree;
    std::vector<Moments> moments;
    std::vector<std::uint32_t> rows;
    std::vector<Trace> traces;
};

Node leaf_node(const Moments& moments, double offset);
bool may_split(const Moments& moments, const Growth& growth, std::uint32_t depth);

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

// How many levels of splits below a node of this cost can survive pruning at alpha. For a split to
// survive, all those above it must, down from the node; together they must gain more than alpha
// each; and all splits below a node together gain no more than its cost.
std::uint32_t levels_of(double cost, double alpha);

// For a subtree that is grown inside another tree.
struct Site {
    std::uint32_t depth = 0;                  // of its root
    std::uint32_t watched_from = kUnlimited;  // nodes of so many rows get bounds
    std::uint32_t levels = kUnlimited;        // of splits
};

// Without traces.
Grown grow(const Dataset& data, Sample sample, const Growth& growth);
Grown grow_traced(const Dataset& data, Sample sample, const Growth& growth, Site site = {});

// What the tree grown on these rows and pruned at alpha predicts for the context, reward offset
// included.
double lazy_predict(const Dataset& data, Sample sample, const Growth& growth, double alpha,
                    const double* context);

}  // namespace banditree
