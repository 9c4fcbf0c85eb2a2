// A tree that learns row by row, forgets them in the same order, and is, after every row, the tree
// that would be grown on all rows that it has.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "banditree/data/row_store.hpp"
#include "banditree/trees/grow.hpp"
#include "banditree/trees/row_finder.hpp"

namespace banditree {

class IncrementalTree {
 public:
    // max_bins 0: exact.
    IncrementalTree(const Growth& growth, std::uint32_t max_bins)
        : growth_(growth), rows_(max_bins) {}
    IncrementalTree(const IncrementalTree&) = delete;
    IncrementalTree& operator=(const IncrementalTree&) = delete;

    // Features may be added, and one without a value so far may become a category. Throws
    // std::invalid_argument.
    void set_kinds(const std::vector<Kind>& kinds);
    void learn(std::span<const double> context, double reward, double weight);
    // The same as learning the rows one by one, at the cost of one growth where there are many.
    void learn_many(const Matrix& contexts, std::span<const double> rewards,
                    std::span<const double> weights);
    // Takes the oldest row out again. Throws std::invalid_argument if there is none.
    void forget();
    // Gives a tree without rows those of another one, the first of which it has forgotten, as its
    // RowStore says; it then goes on as that one would. Throws std::invalid_argument.
    void restore(const Matrix& contexts, std::span<const double> rewards,
                 std::span<const double> weights, std::size_t renewed_at, std::size_t forgotten);
    // These may grow parts that are pending, so even they must not run beside another call.
    double predict(const double* context);
    Tree as_tree();
    // From now on the tree serves `pruned_leaf` and `pruned` only, at this alpha, and grows no more
    // than they need.
    void set_alpha(double alpha);
    // The same to a value that is no lower, for which nothing has to be grown.
    void raise_alpha(double alpha);
    double alpha() const { return growth_.alpha; }
    // Works out what pruning at alpha leaves, and grows what that takes, so that the three below
    // need not: they may be called until the next row or alpha.
    void settle();
    // The leaf of the tree, pruned at alpha, that the context falls into.
    const Moments& pruned_leaf(const double* context) const;
    Tree pruned() const;
    // Of the pruned tree, from left to right; there are some rows.
    std::vector<Moments> pruned_leaves() const;

    std::size_t n_rows() const { return rows_.n_rows() - rows_.forgotten(); }
    const RowStore& rows() const { return rows_; }
    const Growth& growth() const { return growth_; }
    std::size_t bytes() const;

 private:
    // Below this a search of all features costs less than keeping bounds.
    static constexpr std::uint32_t kWatchedFrom = 32;

    // Sums by feature and code, for nodes with so many rows that a pass over them would cost more.
    struct Histogram {
        std::vector<std::vector<Sums>> sums;
        std::vector<std::vector<std::uint32_t>> counts;  // only where weights do not tell them
    };
    // What a larger node keeps so that it need not be searched at every row.
    struct Watch {
        std::vector<float> bounds;                   // of each feature (see bound_of)
        std::vector<CategoryBound> category_bounds;  // if those are adjusted
        Loss loss;
        std::unique_ptr<Histogram> histogram;
    };
    // What pruning leaves of a subtree: its leaves, and how much its splits gain together.
    struct Kept {
        std::uint32_t leaves = 0;  // 0: not known
        std::uint32_t levels = 0;  // so many levels of splits were looked at
        double gain = 0;

        bool knows(std::uint32_t wanted) const { return leaves > 0 && levels >= wanted; }
    };
    // What becomes of a node, if the nodes above it survive: known until a row comes by.
    enum class Fate : std::uint8_t { unknown, leaf, split };
    // Numbers are compared by key: the bin if the tree has bins, else the value itself.
    enum Side : std::uint8_t { kUnseen, kLeft, kRight };
    struct LiveNode {
        Moments moments;
        std::uint32_t depth = 0;
        std::int32_t feature = -1;
        std::int32_t left = -1;
        std::int32_t right = -1;
        double credit = 1;  // how much of the split's gain counts
        double below = 0;   // the largest key on the left and the smallest on the right
        double above = 0;
        bool missing_left = false;
        bool saw_missing = false;
        bool pending = false;  // a leaf that may have to be split, once somebody comes by
        bool uniform = false;  // a leaf that cannot be split, for all its contexts are the same
        std::vector<std::uint8_t> side_of;  // of each code of a category: unseen, left or right
        std::vector<std::uint32_t> rows;    // of a leaf
        std::unique_ptr<Watch> watch;
        Kept kept;
        Fate fate = Fate::unknown;
        double cut = 0;  // the threshold of a number's split that survives
        // The most that the moments have been since they were added up, if rows have left.
        double peak_w = 0;
        double peak_wyy = 0;

        bool is_leaf() const { return feature < 0; }
    };
    // A search of one feature of one node, in terms of keys.
    struct Search {
        std::uint32_t feature = 0;
        FeatureScan scan;
        double credit = 1;  // how much of the gain counts
        double gain() const { return scan.gain * credit; }
        double below = 0;
        double above = 0;
        bool saw_missing = false;
        Sides sides;
    };
    void rebuild();
    void insert(std::uint32_t row);

    void remove(std::uint32_t row);
    std::vector<std::int32_t> take_out(std::uint32_t row);
    void take_from(LiveNode& node, std::uint32_t row);
    void untally(Histogram& histogram, std::uint32_t row) const;
    bool is_blurred(const LiveNode& node) const;
    bool holds_without(LiveNode& node, std::uint32_t row);
    bool keeps_sides(const LiveNode& node, std::uint32_t row) const;
    bool has_alike(const LiveNode& node, std::uint32_t feature, std::uint32_t row) const;
    Moments moments_of(const std::vector<std::uint32_t>& rows) const;

    // For the newest row, on its way down, or for none.
    static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
    bool holds(LiveNode& node, std::uint32_t row);
    bool is_best(LiveNode& node, std::optional<double> standing, std::uint32_t row);
    bool side_is_clear(const LiveNode& node, std::uint32_t row) const;
    double standing_gain(const LiveNode& node, std::uint32_t row) const;
    bool may_beat(const LiveNode& node, std::uint32_t feature, double standing) const;
    bool adopt(LiveNode& node, const Search& search) const;
    bool adopt_sides(LiveNode& node, const Sides& sides) const;
    void remember(LiveNode& node, const std::vector<Search>& searches) const;
    bool goes_left(const LiveNode& node, std::uint32_t row) const;

    void prepare(const LiveNode& node, const std::vector<std::uint32_t>& features,
                 std::uint32_t row, std::vector<std::uint32_t>& gathered);
    Search search(const LiveNode& node, std::uint32_t feature,
                  const std::vector<std::uint32_t>& gathered);
    const Groups& groups_of(const LiveNode& node, std::uint32_t feature,
                            const std::vector<std::uint32_t>& gathered);
    double credit(const LiveNode& node, std::uint32_t feature, const FeatureScan& scan,
                  const std::vector<std::uint32_t>& gathered);
    bool adjusts(std::uint32_t feature) const {
        return growth_.adjusts_categories && rows_.kinds()[feature] == Kind::category;
    }
    // Histograms hold weights, and a category's gain is adjusted by the rows.
    bool needs_rows() const { return growth_.adjusts_categories && !rows_.data().w.empty(); }
    bool has_histogram(const LiveNode& node) const {
        return node.watch && node.watch->histogram && !needs_rows();
    }
    // Weights that are not all 1 may leave a rest by rounding where no row is left.
    bool counts_rows() const { return growth_.min_leaf > 1 || !rows_.data().w.empty(); }
    void drop_histograms();
    RowFinder& finder();
    void group_by_value(std::uint32_t feature, const std::vector<std::uint32_t>& gathered,
                        bool weighted, Groups& groups);
    void group_by_histogram(const Histogram& histogram, std::uint32_t feature);
    std::vector<std::uint32_t> gather(const LiveNode& node, std::uint32_t row) const;

    void watch(LiveNode& node, std::uint32_t row);
    bool wants_histogram(const LiveNode& node) const;
    std::unique_ptr<Histogram> histogram_of(const std::vector<std::uint32_t>& rows,
                                            const Moments& moments);
    void tally(Histogram& histogram, std::uint32_t row) const;

    void regrow(std::int32_t node, std::vector<std::uint32_t> rows);
    void expand(std::int32_t node, std::uint32_t levels);
    void expand_here(std::int32_t node);
    void grow_at(std::int32_t node, std::uint32_t levels);
    void split_by_histogram(std::int32_t node);
    void take_split(LiveNode& node, const Search& search) const;
    void divide(std::int32_t node);
    void expand_all();
    void plant(std::int32_t node, const Grown& grown, const Dataset& data,
               const std::vector<std::uint32_t>* row_of);
    void fill(LiveNode& live, const Grown& grown, std::size_t i, const Dataset& data) const;
    bool all_alike(const std::vector<std::uint32_t>& rows) const;
    std::int32_t allocate();
    void release_below(std::int32_t node);
    std::vector<std::uint32_t> rows_below(const LiveNode& node) const;
    std::vector<std::uint32_t> sorted_rows_below(const LiveNode& node) const;
    template <class IsSplit>
    Tree copy_of(IsSplit is_split) const;
    void describe_split(const LiveNode& live, Tree& tree) const;
    double threshold(const LiveNode& node) const;
    bool follows_missing_left(const LiveNode& node) const;
    bool context_goes_left(const LiveNode& node, double value) const;
    double gain(const LiveNode& node) const;
    bool survives(std::int32_t node);
    void find_kept(std::int32_t node);
    std::uint32_t levels_at(std::int32_t node, std::uint32_t at_most) const;
    Kept kept_of(const LiveNode& node, std::uint32_t levels) const;

    Growth growth_;
    RowStore rows_;
    std::deque<LiveNode> nodes_;
    std::vector<std::int32_t> free_;

    std::size_t histogram_from_ = 0;  // rows from which a node keeps a histogram

    // Scratch of a search.
    std::unique_ptr<RowFinder> finder_;
    Groups groups_;
    Groups row_groups_;
    std::vector<double> values_;
};

}  // namespace banditree
