// Arms during a sweep over their values from left to right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "quadrature.hpp"

namespace banditree {

struct Contender {
    std::size_t arm;
    double below;  // probability that its draw lies to the left of the panel
    Nodes density, distribution, gain;
};

// gain: the density of the arm's draw being at the node and all other draws to the left of it.
inline void find_gains(std::vector<Contender>& contenders) {
    Nodes others;
    others.fill(1.0);
    for (Contender& contender : contenders) {
        for (std::size_t i = 0; i < kNodes; ++i) {
            contender.gain[i] = contender.density[i] * others[i];
            others[i] *= contender.distribution[i];
        }
    }
    others.fill(1.0);
    for (std::size_t k = contenders.size(); k-- > 0;) {
        for (std::size_t i = 0; i < kNodes; ++i) {
            contenders[k].gain[i] *= others[i];
            others[i] *= contenders[k].distribution[i];
        }
    }
}

// The sum is 1 in theory: what it is in fact is the check on the whole calculation.
inline std::vector<double> normalised(std::vector<double> wins) {
    const double sum = std::accumulate(wins.begin(), wins.end(), 0.0);
    // Written so that NaN fails.
    if (!(std::abs(sum - 1.0) < 1e-9))
        throw std::runtime_error("winning: the probabilities do not sum to 1");
    // Rounding can leave a polynomial a little below 0 where it is 0 in theory.
    for (double& win : wins) win = std::max(win, 0.0) / sum;
    return wins;
}

// Written so that NaN fails.
inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

}  // namespace banditree
