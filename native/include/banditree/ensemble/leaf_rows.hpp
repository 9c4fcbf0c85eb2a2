// What leaves say of all arms, one row of numbers for each tree.
#pragma once

#include <cstddef>
#include <span>

namespace banditree {

// Adds rows to sums, one after the other, but several at a time while a sum is at hand: with many
// arms, reading and writing sums would take as long as reading the rows.
inline void add_rows(std::span<const float* const> rows, std::span<float> sums) {
    float* const sum = sums.data();
    std::size_t row = 0;
    for (; row + 4 <= rows.size(); row += 4) {
        const float *a = rows[row], *b = rows[row + 1], *c = rows[row + 2], *d = rows[row + 3];
        for (std::size_t i = 0; i < sums.size(); ++i) sum[i] = sum[i] + a[i] + b[i] + c[i] + d[i];
    }
    for (; row < rows.size(); ++row)
        for (std::size_t i = 0; i < sums.size(); ++i) sum[i] += rows[row][i];
}

}  // namespace banditree
