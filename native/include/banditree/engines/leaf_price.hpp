// What an arm's trees are pruned at, and how that is chosen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/row_store.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/state.hpp"
#include "banditree/trees/split.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

// What trees on an arm's rows are pruned at. Cost is a sum over rows, so the price of a leaf is
// kept per row and grows with them, in steps of a sixteenth of the rows on which it was chosen: a
// tree that is kept up to date need not look at all its nodes after every row.
struct LeafPrice {
    double per_row = 0;
    std::size_t chosen_at = 0;

    static LeafPrice chosen(double alpha, std::size_t n_rows) {
        return {alpha / static_cast<double>(n_rows), n_rows};
    }
    double alpha(std::size_t n_rows) const {
        if (chosen_at == 0) return 0;
        const std::size_t step = std::max<std::size_t>(1, chosen_at / 16);
        return per_row * static_cast<double>(n_rows - (n_rows - chosen_at) % step);
    }

    void write(ByteWriter& out) const;
    // Chosen at up to n rows.
    static LeafPrice read(ByteReader& in, std::size_t n_rows);
};

// The fold of each of n rows: a hash of its number, so that a row stays in its fold whatever
// arrives later.
std::vector<std::uint32_t> folds_of(std::size_t n_rows, std::uint32_t n_folds);

// The cross-validated alpha of a tree on these rows, with room for a few more rows (see
// CrossValidation::lasting_alpha). Infinite, so that the tree is a leaf, if there are too few rows
// to validate on or nothing to split.
double choose_alpha(const Dataset& data, const Growth& growth, std::uint32_t n_folds);
double choose_alpha(const RowStore& rows, const Growth& growth, std::uint32_t n_folds);

// A tree, and what its nodes count, about the offset of the data.
struct PrunedTree {
    Tree tree;
    std::vector<Moments> moments;
};

// The tree on some of the rows, all if none are named, pruned at alpha; what cannot survive that is
// not grown.
PrunedTree grow_pruned(const RowStore& rows, const std::vector<std::uint32_t>& some, Growth growth,
                       double alpha);

// What rows say of the context's leaf that have not chosen it (see held_out_leaf), with rewards as
// they are; nothing if there are too few rows.
Evidence held_out_evidence(const RowStore& rows, const Growth& growth, double alpha,
                           std::uint32_t n_folds, const double* context);

}  // namespace banditree
