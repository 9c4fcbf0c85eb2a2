#pragma once

#include <algorithm>
#include <cmath>
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

// Trees that are not kept up to date with every row are grown anew each time their rows have grown
// by a share: at how many rows next, after `grown_at`.
inline std::size_t next_growth(std::size_t grown_at, double share) {
    const double grown = std::ceil(static_cast<double>(grown_at) * (1 + share));
    return std::max(grown_at + 1, static_cast<std::size_t>(grown));
}

}  // namespace banditree
