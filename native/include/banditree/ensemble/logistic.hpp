#pragma once

#include <algorithm>

#include "banditree/random/elementary.hpp"

namespace banditree {

// Probabilities are kept away from 0 and 1, so that one sure member cannot silence the others.
inline constexpr double kLeastProbability = 0.0005;
inline constexpr double kLargestLogit = 7.600402334583873;  // of 1 - 0.0005

inline double sigmoid(double logit) { return 1 / (1 + portable_exp(-logit)); }

inline double clipped_logit(double logit) {
    return std::clamp(logit, -kLargestLogit, kLargestLogit);
}

inline double logit(double probability) {
    const double p = std::clamp(probability, kLeastProbability, 1 - kLeastProbability);
    return portable_log(p / (1 - p));
}

}  // namespace banditree
