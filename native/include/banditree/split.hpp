// Finding the best split of a node, feature by feature.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "banditree/dataset.hpp"
#include "banditree/sums.hpp"

namespace banditree {

struct Growth {
    std::uint32_t min_split = 2;
    std::uint32_t min_leaf = 1;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
};

// The rows of a node beside their weights and weighted rewards (Sums or Counts), in the order of
// their arrival.
template <class Sum>
struct NodeRows {
    std::span<const std::uint32_t> rows;
    std::span<const Sum> sums;
};

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
    bool has_missing() const { return missing.w > 0; }
    bool varies() const { return size + has_missing() > 1; }
};

// The best split of one feature.
struct FeatureScan {
    double gain = 0;
    double runner_up = 0;  // no other split of the feature gains more than this, admissible or not
    std::uint32_t below = 0;
    std::uint32_t above = 0;  // numbers: codes <= below go left, codes >= above right
    bool missing_left = false;
    std::uint32_t n_left = 0;  // categories: so many groups, in order of mean, go left
};

struct Split {
    double gain = 0;
    std::int32_t feature = -1;
    FeatureScan scan;
    bool exists() const { return feature >= 0; }
};

// Categories on each side of a split; code 0 (missing) may be among them.
struct Sides {
    std::vector<std::uint32_t> left;
    std::vector<std::uint32_t> right;
};

FeatureScan scan_numbers(const Groups& groups, const Moments& node, std::uint32_t min_leaf);
FeatureScan scan_categories(const Groups& groups, const Moments& node, std::uint32_t min_leaf);
Sides sides_of(const Groups& groups, std::uint32_t n_left);

inline FeatureScan scan(Kind kind, const Groups& groups, const Moments& node,
                        std::uint32_t min_leaf) {
    return kind == Kind::number ? scan_numbers(groups, node, min_leaf)
                                : scan_categories(groups, node, min_leaf);
}

template <class Sum>
class SplitFinder {
 public:
    SplitFinder(const Dataset& data, const Growth& growth) : data_(data), growth_(growth) {}

    // The best split of the node over the features in `active`, which loses those that are constant
    // in the node.
    Split best(const NodeRows<Sum>& node, const Moments& moments,
               std::vector<std::uint32_t>& active);
    const Groups& group(std::uint32_t feature, const NodeRows<Sum>& node);

 private:
    template <class Code>
    void tally(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node);
    template <class Code>
    void tally_two(const Code* codes, const NodeRows<Sum>& node);
    template <class Code>
    void tally_dense(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node);
    template <class Code>
    void tally_sparse(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node);
    template <class Code>
    void count(const Code* codes, const NodeRows<Sum>& node);
    void sum_flags(const NodeRows<Sum>& node, const std::vector<std::uint32_t>& active);
    bool group_flag(std::uint32_t feature, const Moments& moments);
    void make_room(std::uint32_t n_codes);

    const Dataset& data_;
    Growth growth_;
    Groups groups_;
    // Of each flag of the data: the sums of the node's rows that have it, and whether some but not
    // all have it.
    std::vector<Sum> flag_sums_;
    std::vector<std::uint64_t> mixed_;
    std::vector<std::uint64_t> wanted_;
    std::vector<Sum> by_code_;
    std::vector<std::uint32_t> count_by_code_;
    // Which codes occur, 64 to a word, and which of those words are not empty, for nodes much
    // smaller than the number of codes.
    std::vector<std::uint64_t> occurs_;
    std::vector<std::uint64_t> occupied_;
};

}  // namespace banditree
