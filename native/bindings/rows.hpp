#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "banditree/data/row_store.hpp"

// The rows that a store has taken in: contexts and rewards.
inline auto rows_of(const banditree::RowStore& store) {
    const std::size_t n = store.n_rows(), m = store.kinds().size();
    std::vector<double> contexts(n * m), rewards(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t f = 0; f < m; ++f) contexts[i * m + f] = store.value(f, i);
        rewards[i] = store.reward(i);
    }
    return std::make_tuple(banditree::to_numpy(std::move(contexts), n, m),
                           banditree::to_numpy(std::move(rewards)));
}
