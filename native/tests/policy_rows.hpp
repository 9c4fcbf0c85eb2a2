// Rows of several arms for the tests of the policies' engines, and the trees they must make of
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/schedule.hpp"
#include "banditree/engines/leaf_price.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/trees/cross_validation.hpp"
#include "banditree/trees/incremental.hpp"
#include "same_tree.hpp"
#include "values.hpp"

namespace policy_rows {

using namespace banditree;

inline const Kinds kKinds{Kind::number, Kind::category, Kind::number};

struct Rows {
    Values cells;
    Values y;
    std::vector<std::int64_t> arms;

    std::size_t size() const { return y.size(); }
    std::span<const double> context(std::size_t i) const {
        return std::span(cells).subspan(i * kKinds.size(), kKinds.size());
    }
    Matrix matrix() const { return {cells.data(), size(), kKinds.size()}; }
    Rows part(std::size_t begin, std::size_t end) const {
        Rows part;
        for (std::size_t i = begin; i < end; ++i) part.add(context(i), y[i], arms[i]);
        return part;
    }
    Rows of(std::int64_t arm) const {
        Rows own;
        for (std::size_t i = 0; i < size(); ++i)
            if (arms[i] == arm) own.add(context(i), y[i], arm);
        return own;
    }
    void add(std::span<const double> context, double reward, std::int64_t arm) {
        cells.insert(cells.end(), context.begin(), context.end());
        y.push_back(reward);
        arms.push_back(arm);
    }
};

inline Values random_context(Rng& rng) {
    Values context{static_cast<double>(rng.integer(9)), static_cast<double>(rng.integer(5)),
                   rng.normal()};
    for (double& value : context)
        if (rng.integer(9) == 0) value = kNan;
    return context;
}

// Rewards of 0 and 1, or any; the first two features matter.
inline Rows random_rows(Rng& rng, std::size_t n, std::int64_t n_arms, bool binary) {
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        const Values context = random_context(rng);
        const auto arm = static_cast<std::int64_t>(rng.integer(static_cast<std::uint64_t>(n_arms)));
        const double signal = (context[0] > 4) + (context[1] == 2) - static_cast<double>(arm) / 2;
        const double score = signal + rng.normal();
        rows.add(context, binary ? score > 0.5 : score, arm);
    }
    return rows;
}

inline Growth random_growth(Rng& rng) {
    Growth growth;
    growth.min_leaf = static_cast<std::uint32_t>(1 + rng.integer(3));
    growth.min_split = static_cast<std::uint32_t>(2 + rng.integer(4));
    if (rng.integer(3) == 0) growth.max_depth = static_cast<std::uint32_t>(rng.integer(5));
    growth.adjusts_categories = rng.integer(2) == 0;
    return growth;
}

// Some rows as a store of all rows with bins has them: edges of its first ones, up to the
// schedule's last point.
inline Dataset encoded(const Rows& rows, const Rows& all, std::uint32_t max_bins) {
    Encoding encoding;
    encoding.kinds = kKinds;
    encoding.max_bins = max_bins;
    if (max_bins > 0) {
        const Rows first = all.part(0, last_point(1, all.size()));
        for (const Feature& feature : encode(first.matrix(), first.y, {}, encoding).features)
            encoding.given_edges.push_back(feature.binned ? feature.values : Values());
    }
    return encode(rows.matrix(), rows.y, {}, encoding);
}

inline Tree batch_tree(const Rows& rows, const Rows& all, const Growth& growth,
                       std::uint32_t max_bins) {
    const Dataset data = encoded(rows, all, max_bins);
    return grow(data, Sample::of(data, std::span<const double>()), growth).tree;
}
inline Tree batch_tree(const Rows& rows, const Growth& growth, std::uint32_t max_bins) {
    return batch_tree(rows, rows, growth, max_bins);
}

// Cross-validated on the rows up to the schedule's last point; then it grows with the rows, in
// steps.
inline double expected_alpha(const Rows& rows, const Growth& growth, std::uint32_t max_bins,
                             std::uint32_t n_folds) {
    const Rows first = rows.part(0, last_point(1, rows.size()));
    n_folds = std::min(n_folds, static_cast<std::uint32_t>(first.size()));
    if (n_folds < 2) return kInfinity;
    const Dataset data = encoded(first, first, max_bins);
    const Tree full = grow(data, Sample::of(data, std::span<const double>()), growth).tree;
    const auto folds = folds_of(first.size(), n_folds);
    const auto result = cross_validate(data, growth, full.pruning_path(), folds, n_folds);
    const std::size_t step = std::max<std::size_t>(1, first.size() / 16);
    const std::size_t steps = (rows.size() - first.size()) / step;
    return result.lasting_alpha / static_cast<double>(first.size()) *
           static_cast<double>(first.size() + steps * step);
}

inline bool leaf_agrees(const Moments& leaf, double offset, const Node& expected) {
    return leaf.n == expected.n && close(offset + leaf.mean(), expected.mean) &&
           std::abs(leaf.cost() - expected.cost) <= 1e-7 * (1 + expected.cost);
}

inline bool agrees(IncrementalTree& tree, const Tree& expected, Rng& rng, bool whole) {
    tree.settle();
    for (int i = 0; i < 4; ++i) {
        const Values context = random_context(rng);
        const double offset = tree.rows().data().offset;
        if (!leaf_agrees(tree.pruned_leaf(context.data()), offset,
                         expected.leaf_of(context.data())))
            return false;
    }
    return !whole || same_tree(tree.pruned(), expected);
}

inline double random_alpha(Rng& rng) {
    const double alphas[] = {0, 0.05, 0.4, 2, 30, kInfinity};
    return alphas[rng.integer(6)];
}

inline void learn_in_chunks(Rng& rng, const Rows& rows, auto learn) {
    for (std::size_t begin = 0; begin < rows.size();) {
        const std::size_t end = std::min(rows.size(), begin + rng.integer(50));
        const Rows part = rows.part(begin, end);
        learn(part);
        begin = end;
    }
}

}  // namespace policy_rows
