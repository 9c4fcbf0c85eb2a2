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

}  // namespace banditree
