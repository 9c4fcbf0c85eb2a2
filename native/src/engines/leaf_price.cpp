#include "banditree/engines/leaf_price.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "banditree/random/rng.hpp"
#include "banditree/trees/cross_validation.hpp"

namespace banditree {

namespace {

// Whether all rows that count are in one fold, so that none can be predicted from the others.
bool in_one_fold(const Dataset& data, const std::vector<std::uint32_t>& folds) {
    const std::uint32_t* first = nullptr;
    for (std::size_t row = 0; row < folds.size(); ++row) {
        if (!(data.weight(row) > 0)) continue;
        if (first == nullptr) first = &folds[row];
        if (folds[row] != *first) return false;
    }
    return true;
}

PrunedTree prune(const Grown& grown, double alpha) {
    PrunedTree pruned;
    std::vector<std::int32_t> origins;
    pruned.tree = grown.tree.prune(alpha, &origins);
    for (const auto node : origins) pruned.moments.push_back(grown.moments[node]);
    return pruned;
}

}  // namespace

std::vector<std::uint32_t> folds_of(std::size_t n_rows, std::uint32_t n_folds) {
    std::vector<std::uint32_t> folds(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row)
        folds[row] = static_cast<std::uint32_t>(Rng(row).integer(n_folds));
    return folds;
}

double choose_alpha(const Dataset& data, const Growth& growth, std::uint32_t n_folds) {
    n_folds = static_cast<std::uint32_t>(std::min<std::size_t>(n_folds, data.n_rows()));
    if (n_folds < 2) return std::numeric_limits<double>::infinity();
    const auto folds = folds_of(data.n_rows(), n_folds);
    if (in_one_fold(data, folds)) return std::numeric_limits<double>::infinity();
    const Tree full = grow(data, Sample::of(data, std::span<const double>()), growth).tree;
    return cross_validate(data, growth, full.pruning_path(), folds, n_folds).lasting_alpha;
}

double choose_alpha(const RowStore& rows, const Growth& growth, std::uint32_t n_folds) {
    if (rows.exact()) return choose_alpha(rows.snapshot(), growth, n_folds);
    return choose_alpha(rows.data(), growth, n_folds);
}

PrunedTree grow_pruned(const RowStore& rows, const std::vector<std::uint32_t>& some, Growth growth,
                       double alpha) {
    growth.alpha = alpha;
    const std::span<const double> unweighted;
    if (rows.exact()) {
        const Dataset data = some.empty() ? rows.snapshot() : rows.encode_exactly(some);
        return prune(grow(data, Sample::of(data, unweighted), growth), alpha);
    }
    const Dataset& data = rows.data();
    Sample sample = some.empty() ? Sample::of(data, unweighted) : Sample::of(data, some);
    return prune(grow(data, std::move(sample), growth), alpha);
}

Evidence held_out_evidence(const RowStore& rows, const Growth& growth, double alpha,
                           std::uint32_t n_folds, const double* context) {
    n_folds = static_cast<std::uint32_t>(std::min<std::size_t>(n_folds, rows.n_rows()));
    if (n_folds < 2) return {};
    const auto folds = folds_of(rows.n_rows(), n_folds);
    const Dataset exact = rows.exact() ? rows.snapshot() : Dataset();
    const Dataset& data = rows.exact() ? exact : rows.data();
    const Moments leaf = held_out_leaf(data, growth, alpha, folds, n_folds, context);
    return leaf.n > 0 ? Evidence::of(leaf, data.offset) : Evidence{};
}

}  // namespace banditree
