// Choosing the complexity of a tree by cross-validation (Breiman et al., section 8.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/trees/grow.hpp"

namespace banditree {

struct CrossValidation {
    std::vector<double> alphas;
    std::vector<double> errors;  // held-out squared error / root cost
    std::vector<double> standard_errors;
    double best_alpha = 0;
    // Inside the interval on which the best subtree is best, at its first quarter (geometrically),
    // so that a few more rows do not undo the choice. The root's interval has no end: a quarter
    // above its start; infinite if there is nothing to split. Where the root is best, but a larger
    // tree is worse by less than a standard error, the largest such tree takes its place: a tree
    // that is too large costs some width, one that is too small may never see another row.
    double lasting_alpha = 0;
};

// `path` is that of the tree grown on all of the data; `folds` has an id in 0..n_folds - 1 for each
// row of the data.
CrossValidation cross_validate(const Dataset& data, const Growth& growth, const PruningPath& path,
                               std::span<const std::uint32_t> folds, std::uint32_t n_folds);

// The rows that fall into the context's leaf of a tree which did not see them: for each fold, the
// tree is grown on the others and pruned at alpha, less their share. A leaf's own rows have chosen
// it, and so look more extreme than further rows will be; these have not.
Moments held_out_leaf(const Dataset& data, const Growth& growth, double alpha,
                      std::span<const std::uint32_t> folds, std::uint32_t n_folds,
                      const double* context);

}  // namespace banditree
