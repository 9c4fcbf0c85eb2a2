// What is believed of a mean reward, given the rewards of a leaf.
#pragma once

#include <cmath>

#include "banditree/rng.hpp"
#include "banditree/sums.hpp"

namespace banditree {

// Number, mean and squared error of all rewards of a policy: the scale that it works on.
struct Spread {
    double n = 0;
    double mean = 0;
    double squared_error = 0;

    void add(double reward) {
        n += 1;
        const double step = reward - mean;
        mean += step / n;
        squared_error += step * (reward - mean);
    }
    double variance() const { return n > 0 ? squared_error / n : 0; }
};

// The rewards of a leaf.
struct Evidence {
    double n = 0;
    double total = 0;
    double squared_error = 0;

    static Evidence of(const Moments& leaf, double offset) {
        return {leaf.w, offset * leaf.w + leaf.wy, leaf.cost()};
    }
};

// Binary rewards: a Beta law, from prior successes and failures. Continuous rewards: a
// normal-inverse-gamma law whose prior is worth one observation at the mean and the variance of all
// rewards, so that it needs no scale to be set.
struct Posterior {
    bool binary = true;
    double successes = 1;
    double failures = 1;

    double mean(const Evidence& leaf, const Spread& all) const {
        if (binary) return (leaf.total + successes) / (leaf.n + successes + failures);
        return (leaf.total + all.mean) / (leaf.n + 1);
    }
    double draw(const Evidence& leaf, const Spread& all, Rng& rng) const {
        if (binary) return rng.beta(leaf.total + successes, leaf.n - leaf.total + failures);
        const double away = leaf.n > 0 ? leaf.total / leaf.n - all.mean : 0;
        const double rate =
            all.variance() + leaf.squared_error / 2 + leaf.n * away * away / (2 * (1 + leaf.n));
        const double variance = rate / (rng.gamma(1 + leaf.n / 2) * (1 + leaf.n));
        return mean(leaf, all) + std::sqrt(variance) * rng.normal();
    }
};

}  // namespace banditree
