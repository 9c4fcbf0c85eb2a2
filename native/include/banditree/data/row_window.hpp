// The last rows of an arm, of which alone trees are grown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "banditree/data/arm_rows.hpp"
#include "banditree/data/row_store.hpp"
#include "banditree/data/schedule.hpp"

namespace banditree {

// Until a window is full, all is as without one. From then on an arm stores more rows than count,
// and each time so many have come that a tree of a full window would be grown anew, it learns the
// rows in the window again, alone.
struct RowWindow {
    std::size_t size = 0;  // 0: all rows count
    double refresh = 0;
    std::size_t beside = 0;  // rows at the beginning that always count, and are not part of it
    bool late = false;  // the arm may learn them later than due, and store more rows until then

    // How many more rows there are until the window is full.
    std::size_t room(std::size_t n_rows) const {
        if (size == 0) return std::numeric_limits<std::size_t>::max();
        return size + beside - std::min(size + beside, n_rows);
    }
    // Rows that no longer count: the first, but for those beside the window.
    std::size_t excess(std::size_t n_rows) const {
        return size > 0 && n_rows > size + beside ? n_rows - size - beside : 0;
    }
    // How many of the last rows count, of no more than so many.
    std::size_t last(std::size_t n_rows, std::size_t most) const {
        return std::min(most, n_rows - excess(n_rows) - std::min(beside, n_rows));
    }
    // Of so many rows that come once the window is full, the one after which it is last learned
    // alone, counted from 1; 0 if that is not due.
    std::size_t last_due(std::size_t n_rows, std::size_t n_more) const {
        const std::size_t beyond = excess(n_rows) + n_more;
        const std::size_t since = beyond % step();
        return beyond >= step() && since < n_more ? n_more - since : 0;
    }
    // Of so many rows, how many are no longer there once the window is learned alone as is due; 0
    // if it is not.
    std::size_t surplus(std::size_t n_rows) const {
        return size == 0 ? 0 : excess(n_rows) - excess(n_rows) % step();
    }
    // Whether an arm of this window can have so many rows, having learned so many.
    bool allows(std::size_t n_rows, std::size_t n_learned) const {
        return size == 0 ? n_rows == n_learned : n_rows <= n_learned && bears(n_rows);
    }

 private:
    bool bears(std::size_t n_rows) const { return late || excess(n_rows) < step(); }
    std::size_t step() const { return next_growth(size, refresh) - size; }
};

inline Matrix part_of(const Matrix& matrix, std::size_t first, std::size_t n) {
    return {matrix.data + first * matrix.columns, n, matrix.columns};
}

// The last rows of a store.
inline ArmRows last_rows(const RowStore& store, std::size_t n) {
    ArmRows rows;
    rows.n_features = store.kinds().size();
    for (std::size_t row = store.n_rows() - n; row < store.n_rows(); ++row) {
        for (std::uint32_t f = 0; f < rows.n_features; ++f)
            rows.contexts.push_back(store.value(f, static_cast<std::uint32_t>(row)));
        rows.rewards.push_back(store.reward(row));
    }
    return rows;
}

inline void append_rows(RowStore& store, const Matrix& contexts, std::span<const double> rewards) {
    for (std::size_t i = 0; i < contexts.rows; ++i)
        store.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
}

}  // namespace banditree
