// Finding the best split of a node, feature by feature.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/sums.hpp"
#include "banditree/trees/scan.hpp"

namespace banditree {

struct Growth {
    std::uint32_t min_split = 2;
    std::uint32_t min_leaf = 1;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    // The alpha at which the tree is going to be pruned, so that splits which cannot survive are
    // left out from the start (see levels_of).
    double alpha = 0;
    // Whether a category's gain counts as far as its categories are credible (see credibility).
    bool adjusts_categories = false;
};

// The rows of a node beside their weights and weighted rewards (Sums or Counts), in the order of
// their arrival.
template <class Sum>
struct NodeRows {
    std::span<const std::uint32_t> rows;
    std::span<const Sum> sums;
};

struct Split {
    double gain = 0;  // what counts of it
    std::int32_t feature = -1;
    FeatureScan scan;
    bool exists() const { return feature >= 0; }
    double credit() const { return gain / scan.gain; }
};

template <class Sum>
class SplitFinder {
 public:
    // What a node's rows sum up to by flag and by code of the other features. Sums of counts are
    // exact, so a node's table less that of one child is that of the other.
    using Table = std::vector<Sum>;

    // weighted: some weights differ from 1.
    SplitFinder(const Dataset& data, const Growth& growth, bool weighted = false);

    // Turns to a node, whose features in `wanted` will be asked for. The rows must stay where they
    // are as long as groups of them are asked for.
    void enter(const NodeRows<Sum>& node, const Moments& moments,
               const std::vector<std::uint32_t>& wanted);
    // The node's rows by codes of a feature; valid until the next call.
    const Groups& group(std::uint32_t feature);
    // Enters the node and finds its best split over the features in `active`, which loses those
    // that are constant in the node.
    Split best(const NodeRows<Sum>& node, const Moments& moments,
               std::vector<std::uint32_t>& active);
    // The same, given the node's table as well, which must have the active features.
    Split best(const Table& table, const NodeRows<Sum>& node, const Moments& moments,
               std::vector<std::uint32_t>& active);
    void tabulate(const NodeRows<Sum>& node, const std::vector<std::uint32_t>& features,
                  Table& table);
    void subtract(Table& table, const Table& part,
                  const std::vector<std::uint32_t>& features) const;
    // How many rows make a table worth its while.
    std::uint32_t tabled_from() const;
    // After `best`: what else each feature could gain there (see bound_of).
    std::vector<float> bounds() const;
    // The same of categories, if those are adjusted.
    std::vector<CategoryBound> category_bounds() const;

 private:
    template <class Code>
    void tally(const Code* codes, std::uint32_t n_codes);
    template <class Code>
    void add_up(const Code* codes, std::uint32_t n_codes, Sum* by_code) const;
    template <class Code>
    void add_up_two(const Code* codes, std::uint32_t n_codes, Sum* by_code) const;
    template <class Code>
    void add_up_few(const Code* codes, std::uint32_t n_codes, Sum* by_code) const;
    template <class Code>
    void tally_sparse(const Code* codes, std::uint32_t n_codes);
    template <class Code>
    void count(const Code* codes);
    void collect(const Sum* by_code, std::uint32_t n_codes);
    void want(const std::vector<std::uint32_t>& features);
    void sum_flags(Sum* sums);
    void see_flags(const Sum* sums);
    bool is_summed(std::int32_t bit) const;
    void group_flag(std::uint32_t feature, std::uint32_t bit);
    Split search(const Moments& moments, std::vector<std::uint32_t>& active);
    // How much of the gain counts.
    double credit(std::uint32_t feature, const FeatureScan& found, const Moments& moments) const;
    void make_room(std::uint32_t n_codes);

    static constexpr std::uint32_t kFewCodes = 32;

    const Dataset& data_;
    Growth growth_;
    bool weighted_;
    Groups groups_;
    NodeRows<Sum> node_;
    const Sum* table_ = nullptr;      // of the node, if it is searched by that
    std::vector<std::size_t> start_;  // of each feature in a table
    std::size_t table_size_ = 0;
    Moments moments_;
    Split best_;
    std::vector<std::pair<std::uint32_t, FeatureScan>> scans_;
    // Of each block of flags: which are wanted, which some row of the node has, which all have.
    std::vector<std::uint64_t> wanted_;
    std::vector<std::uint64_t> any_;
    std::vector<std::uint64_t> all_;
    std::vector<Sum> flag_sums_;
    std::vector<Sum> by_code_;
    std::vector<std::uint32_t> count_by_code_;
    // Which codes occur, 64 to a word, and which of those words are not empty, for nodes much
    // smaller than the number of codes.
    std::vector<std::uint64_t> occurs_;
    std::vector<std::uint64_t> occupied_;
};

}  // namespace banditree
