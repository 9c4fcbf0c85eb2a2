#pragma once

#include <algorithm>
#include <cstddef>

namespace banditree {

// Work on all rows of an arm (bins, cross-validation) is repeated each time they have grown by a
// quarter: at 1, 2, 3, 4, 5, 7, 9, 12, ... rows. All of it together costs a fixed number of passes.
inline std::size_t next_point(std::size_t point) {
    return std::max(point + 1, (5 * point + 3) / 4);
}

// The last point up to n, from `point` on.
inline std::size_t last_point(std::size_t point, std::size_t n) {
    while (next_point(point) <= n) point = next_point(point);
    return point;
}

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
};

}  // namespace banditree
