// The best split of a node by one feature.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/sums.hpp"

namespace banditree {

// "No code": above the present values there is only "missing".
inline constexpr std::uint32_t kNoCode = std::numeric_limits<std::uint32_t>::max();

// A node's rows summed by code, codes ascending. `counts` is kept only where min_leaf needs it.
struct Groups {
    std::uint32_t size = 0;
    std::vector<std::uint32_t> codes;
    std::vector<Sums> sums;
    std::vector<std::uint32_t> counts;
    Sums missing;
    std::uint32_t missing_count = 0;

    // Empties it, with room for so many groups.
    void start(std::size_t capacity);
    void add(std::uint32_t code, const Sums& sum) {
        codes[size] = code;
        sums[size++] = sum;
    }
    // Writes first and counts then: which codes occur follows no pattern that a processor could
    // foresee.
    void add_if(bool occurs, std::uint32_t code, const Sums& sum) {
        codes[size] = code;
        sums[size] = sum;
        size += occurs;
    }
    bool has_missing() const { return missing.w > 0; }
    std::uint32_t n_present() const { return size + has_missing(); }
    bool varies() const { return n_present() > 1; }
};

// The best split of one feature.
struct FeatureScan {
    double gain = 0;
    double runner_up = 0;  // no other split of the feature gains more than this, admissible or not
    std::uint32_t below = 0;
    std::uint32_t above = 0;  // numbers: codes <= below go left, codes >= above right
    bool missing_left = false;
    std::uint32_t n_left = 0;  // categories: so many groups, in order of mean, go left
    std::uint32_t n_categories = 0;
    double between = 0;  // what all categories explain, each predicted by its own mean
};

// What spares a node from being searched again at every row that it gets. When a row arrives, no
// split's gain grows by more than the node's cost does; so what a feature can gain is at most its
// bound plus the node's cost, where the bound is what it could gain at the time of the last search
// minus the cost at that time. When a row leaves, what a split does not explain falls by no more
// than `Loss` says, and gains may grow by that: so with "cost" is meant the cost plus all losses.
float bound_of(const FeatureScan& scan, bool is_own_number, double cost);

// What the rows that have left a node can have taken with them.
struct Loss {
    double cost = 0;  // of what any split of the node leaves unexplained
    std::uint32_t rows = 0;
};

// Categories on each side of a split; code 0 (missing) may be among them.
struct Sides {
    std::vector<std::uint32_t> left;
    std::vector<std::uint32_t> right;
};

FeatureScan scan_numbers(const Groups& groups, const Moments& node, std::uint32_t min_leaf);
FeatureScan scan_categories(const Groups& groups, const Moments& node, std::uint32_t min_leaf);
Sides sides_of(const Groups& groups, std::uint32_t n_left);

// How much of the gain of a category's best cut counts, weights aside. The rewards that the cut is
// to explain have put the categories in order, so the best cut of many gains much by chance. All
// categories together explain `between` of the cost; each beyond the second explains on average
// cost / (n - 1) by chance, if it means nothing. kChance times that is taken off. With two
// categories there is one cut, and nothing is gained by choosing.
//
// A factor of 1 takes off what chance adds to the rows at hand; on new rows the same amount is lost
// once more, which would make it 2. In between is best: docs/trees.md has the measurement.
inline constexpr double kChance = 1.5;
double credit_of(const FeatureScan& scan, std::uint32_t n_rows, double cost);
// The same of some rows of the data, whose weights are not all 1.
double credit_of_rows(const Dataset& data, std::uint32_t feature,
                      std::span<const std::uint32_t> rows);

// What was known of a category's cut when it was last searched.
struct CategoryBound {
    double gain = std::numeric_limits<double>::infinity();
    double between = 0;
    double cost = 0;
    std::uint32_t n_categories = 0;
    Loss loss;
};
inline CategoryBound category_bound(const FeatureScan& scan, const Moments& node,
                                    const Loss& loss) {
    return {scan.gain, scan.between, node.raw_cost(), scan.n_categories, loss};
}
// The most that can count of it by now: neither the gain nor what the categories explain together
// has grown by more than the cost and the losses have, and each row that has left took at most one
// category with it.
double most_of(const CategoryBound& then, const Moments& now, const Loss& loss);

inline FeatureScan scan(Kind kind, const Groups& groups, const Moments& node,
                        std::uint32_t min_leaf) {
    return kind == Kind::number ? scan_numbers(groups, node, min_leaf)
                                : scan_categories(groups, node, min_leaf);
}

}  // namespace banditree
