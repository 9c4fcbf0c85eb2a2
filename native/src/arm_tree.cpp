#include "banditree/arm_tree.hpp"

#include <algorithm>
#include <limits>

#include "banditree/cross_validation.hpp"
#include "banditree/rng.hpp"
#include "banditree/schedule.hpp"

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

void ArmTree::learn(std::span<const double> context, double reward) {
    tree_.learn(context, reward, 1.0);
    validate();
}

void ArmTree::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    // Alpha is chosen on the rows up to the last point only, so these come first.
    const std::size_t total = n_rows() + contexts.rows;
    const std::size_t point = std::max(last_point(price_.chosen_at, total), n_rows());
    const std::size_t first = point - n_rows();
    const Matrix head{contexts.data, first, contexts.columns};
    const Matrix tail{contexts.data + first * contexts.columns, contexts.rows - first,
                      contexts.columns};
    tree_.learn_many(head, rewards.first(first), {});
    validate();
    tree_.learn_many(tail, rewards.subspan(first), {});
    validate();
}

void ArmTree::validate() {
    if (last_point(price_.chosen_at, n_rows()) == price_.chosen_at) {
        tree_.raise_alpha(price_.alpha(n_rows()));
        return;
    }
    price_ = LeafPrice::chosen(choose_alpha(tree_.rows(), growth_, n_folds_), n_rows());
    tree_.set_alpha(price_.alpha(n_rows()));
}

}  // namespace banditree
