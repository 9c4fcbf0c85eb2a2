// What an arm's tree is pruned at, and the tree that TreeHeuristic keeps of an arm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/incremental.hpp"
#include "banditree/posterior.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

// The fold of each of n rows: a hash of its number, so that a row stays in its fold whatever
// arrives later.
std::vector<std::uint32_t> folds_of(std::size_t n_rows, std::uint32_t n_folds);

// The cross-validated alpha of a tree on these rows, with room for a few more rows (see
// CrossValidation::lasting_alpha). Infinite, so that the tree is a leaf, if there are too few rows
// to validate on or nothing to split.
double choose_alpha(const Dataset& data, const Growth& growth, std::uint32_t n_folds);
double choose_alpha(const RowStore& rows, const Growth& growth, std::uint32_t n_folds);

// What rows say of the context's leaf that have not chosen it (see held_out_leaf), with rewards as
// they are; nothing if there are too few rows.
Evidence held_out_evidence(const RowStore& rows, const Growth& growth, double alpha,
                           std::uint32_t n_folds, const double* context);

// A tree on all rows of an arm, pruned at an alpha that is chosen again on schedule.
class ArmTree {
 public:
    ArmTree(const Growth& growth, std::uint32_t max_bins, std::uint32_t n_folds)
        : growth_(growth), n_folds_(n_folds), tree_(growth, max_bins) {}

    void set_kinds(const std::vector<Kind>& kinds) { tree_.set_kinds(kinds); }
    void learn(std::span<const double> context, double reward);
    // The same as learning the rows one by one.
    void learn_many(const Matrix& contexts, std::span<const double> rewards);

    std::size_t n_rows() const { return tree_.n_rows(); }
    double alpha() const { return tree_.alpha(); }
    double offset() const { return tree_.rows().data().offset; }
    const RowStore& rows() const { return tree_.rows(); }
    const Moments& leaf(const double* context) { return tree_.pruned_leaf(context); }
    Tree pruned() { return tree_.pruned(); }
    Evidence held_out(const double* context) const {
        return held_out_evidence(tree_.rows(), growth_, alpha(), n_folds_, context);
    }

 private:
    void validate();

    Growth growth_;
    std::uint32_t n_folds_;
    IncrementalTree tree_;
    LeafPrice price_;
};

}  // namespace banditree
