#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"

namespace banditree {

// Arms by their number, from 0; whoever calls sees to it that they exist.
using ArmIndices = std::span<const std::int64_t>;

// The rows of one arm, taken out of a log of many.
struct ArmRows {
    std::vector<double> contexts;
    std::vector<double> rewards;
    std::size_t n_features = 0;

    Matrix matrix() const { return {contexts.data(), rewards.size(), n_features}; }
};

inline std::vector<ArmRows> rows_by_arm(std::size_t n_arms, ArmIndices arms, const Matrix& contexts,
                                        std::span<const double> rewards) {
    std::vector<ArmRows> by_arm(n_arms);
    for (ArmRows& rows : by_arm) rows.n_features = contexts.columns;
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        ArmRows& rows = by_arm[static_cast<std::size_t>(arms[i])];
        const double* row = contexts.data + i * contexts.columns;
        rows.contexts.insert(rows.contexts.end(), row, row + contexts.columns);
        rows.rewards.push_back(rewards[i]);
    }
    return by_arm;
}

}  // namespace banditree
