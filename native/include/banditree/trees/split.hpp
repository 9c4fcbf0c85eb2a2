// Finding the best split of a node, feature by feature.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/sums.hpp"
#include "banditree/trees/counted_cuts.hpp"
#include "banditree/trees/row_sums.hpp"
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

struct Split {
    double gain = 0;  // what counts of it
    std::int32_t feature = -1;
    FeatureScan scan;
    bool exists() const { return feature >= 0; }
    double credit() const { return gain / scan.gain; }
};

// What is known of a feature in a node before its splits are worked out: it may be constant there,
// or unable to beat the best split so far.
enum class Judgement { constant, hopeless, open };

template <class Sum>
class SplitFinder {
 public:
    // What a node's rows sum up to by flag and by code of the other features. Sums of counts are
    // exact, so a node's table less that of one child is that of the other.
    using Table = std::vector<Sum>;

    // weighted: some weights differ from 1. bounded: `bounds` will be asked for.
    SplitFinder(const Dataset& data, const Growth& growth, bool weighted = false,
                bool bounded = false);

    // Turns to a node, whose features in `wanted` will be asked for. The rows must stay where they
    // are as long as groups of them are asked for.
    void enter(const NodeRows<Sum>& node, const Moments& moments,
               const std::vector<std::uint32_t>& wanted);
    // The node's rows by codes of a feature; valid until the next call.
    const Groups& group(std::uint32_t feature);
    // Enters the node and finds its best split over the features in `active`, which loses those
    // that are constant in the node. Where the split explains all it may lose any: nothing is left
    // to split below.
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
    void tally_sparse(const Code* codes, std::uint32_t n_codes);
    template <class Code>
    void count(const Code* codes);
    void collect(const Sum* by_code, std::uint32_t n_codes);
    void want(const std::vector<std::uint32_t>& features);
    void sum_flags(Sum* sums);
    void see_flags();
    bool is_summed(std::int32_t bit) const;
    void group_flag(std::uint32_t feature, std::uint32_t bit);
    // Whether a feature's cuts are judged before they are worked out: where counts make sums exact,
    // and nobody asks for bounds or for the rows on each side. And whether its codes are so few
    // that this can be done from the rows, by a word.
    bool judges(const Feature& column) const {
        return std::same_as<Sum, Counts> && !bounded_ && growth_.min_leaf == 1 &&
               column.kind == Kind::number;
    }
    static bool fits_word(const Feature& column) {
        return column.n_codes <= CountedCuts::kWordCodes;
    }
    Judgement judge(std::uint32_t feature);
    Judgement judge_flag(std::uint32_t feature, std::uint32_t bit);
    Judgement judge_cuts(std::uint32_t feature)
        requires std::same_as<Sum, Counts>;
    void take_cuts(const Feature& column)
        requires std::same_as<Sum, Counts>;
    Split search(const Moments& moments, std::vector<std::uint32_t>& active);
    bool leaves_nothing(const Split& split) const;
    // How much of the gain counts.
    double credit(std::uint32_t feature, const FeatureScan& found, const Moments& moments) const;
    void make_room(std::uint32_t n_codes);

    // Of nodes with fewer rows, no table is worth its while if all features are judged by words.
    static constexpr std::uint32_t kWordRows = 64;

    const Dataset& data_;
    Growth growth_;
    bool weighted_;
    bool bounded_;
    Groups groups_;
    CountedCuts cuts_;
    NodeRows<Sum> node_;
    const Sum* table_ = nullptr;      // of the node, if it is searched by that
    std::vector<std::size_t> start_;  // of each feature in a table
    std::size_t table_size_ = 0;
    bool all_by_word_ = true;  // all features in a table are judged by words
    Moments moments_;
    Split best_;
    double bar_ = 0;  // what a better split gains, less half of the tolerance of ties
    std::vector<std::pair<std::uint32_t, FeatureScan>> scans_;
    const Sum* flag_sums_ = nullptr;  // of the node, in its table or in the next
    std::vector<Sum> own_flag_sums_;
    // Of each block of flags: which are wanted, which some row of the node has, which all have.
    std::vector<std::uint64_t> wanted_;
    std::vector<std::uint64_t> any_;
    std::vector<std::uint64_t> all_;
    std::vector<Sum> by_code_;
    std::vector<std::uint32_t> count_by_code_;
    // Which codes occur, 64 to a word, and which of those words are not empty, for nodes much
    // smaller than the number of codes.
    std::vector<std::uint64_t> occurs_;
    std::vector<std::uint64_t> occupied_;
};

}  // namespace banditree
