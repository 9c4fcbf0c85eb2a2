// What is believed of a mean reward, given the rewards of a leaf.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "banditree/data/sums.hpp"
#include "banditree/laws/winning.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/state.hpp"

namespace banditree {

// Number, mean, squared error and range of all rewards of a policy: the scale that it works on.
struct Spread {
    double n = 0, mean = 0, squared_error = 0;
    double lowest = 0, highest = 0;

    void add(double reward) {
        lowest = n > 0 ? std::min(lowest, reward) : reward;
        highest = n > 0 ? std::max(highest, reward) : reward;
        n += 1;
        const double step = reward - mean;
        mean += step / n;
        squared_error += step * (reward - mean);
    }
    // Of a reward that was added; the range stays as it is.
    void remove(double reward) {
        const double step = reward - mean;
        n -= 1;
        mean = n > 0 ? mean - step / n : 0;
        squared_error = n > 0 ? std::max(squared_error - step * (reward - mean), 0.0) : 0;
    }
    double variance() const { return n > 0 ? squared_error / n : 0; }
    // With others draws would be no numbers, and no arm could lead.
    bool is_sound() const;

    void write(ByteWriter& out) const;
    static Spread read(ByteReader& in);
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

// The variance of rewards within the leaves that are compared in a decision.
inline double noise_of(std::span<const Evidence> leaves) {
    double n = 0, squared_error = 0;
    for (const Evidence& leaf : leaves) n += leaf.n, squared_error += leaf.squared_error;
    return n > 0 ? squared_error / n : 0;
}

inline double draw_from(const StudentLaw& law, Rng& rng) {
    const double precision = rng.gamma(law.freedom / 2) / (law.freedom / 2);
    return law.location + law.scale / std::sqrt(precision) * rng.normal();
}

// Binary rewards: a Beta law, from prior successes and failures. Continuous rewards: a Student law
// (docs/policies.md), so wide that an arm that pays rarely is not given up for its zeros.
struct Posterior {
    bool binary = true;
    double successes = 1;
    double failures = 1;

    double mean(const Evidence& leaf, const Spread& all) const {
        if (binary) return (leaf.total + successes) / (leaf.n + successes + failures);
        return (leaf.total + all.mean) / (leaf.n + 1);
    }
    double draw(const Evidence& leaf, const Spread& all, double noise, Rng& rng) const {
        if (binary) return rng.beta(leaf.total + successes, leaf.n - leaf.total + failures);
        return draw_from(student(leaf, all, noise), rng);
    }

    // The normal-inverse-gamma law whose prior is worth one observation at the mean and the
    // variance of all rewards, with fewer degrees of freedom and a wider scale where few payoffs
    // make up the leaf; a law of very heavy tails where there was none.
    StudentLaw student(const Evidence& leaf, const Spread& all, double noise) const {
        const double n = leaf.n, location = mean(leaf, all);
        const double range = all.highest - all.lowest;
        const double height = n > 0 && range > 0 ? within(leaf.total / n - all.lowest, range) : 0;
        const bool varies = leaf.squared_error > 0;
        if (n >= 2 && noise > 0 && !varies && height <= kRounding)
            return {location, kFirstPayoff * std::sqrt(noise) / (n + 1), kFirstPayoffFreedom};
        const double deviation = range > 0 ? within(std::sqrt(leaf.squared_error / n), range) : 0;
        const double error = n * deviation * deviation;
        const double payoffs =
            varies ? std::min(n, n * n * height * height / (n * height * height + error)) : n;
        const double widening = n > 0 ? 1 + kWidening * (1 / std::max(payoffs, 1.0) - 1 / n) : 1;
        const double away = n > 0 ? leaf.total / n - all.mean : 0;
        const double rate =
            all.variance() + leaf.squared_error / 2 + n * away * away / (2 * (1 + n));
        return {location, std::sqrt(widening * rate / ((1 + n / 2) * (1 + n))), 2 + payoffs};
    }

    // The share of the range; rounding of large rewards that differ by little is put back into it.
    static double within(double distance, double range) {
        return std::clamp(distance, 0.0, range) / range;
    }

    // A leaf mean so near the lowest reward, relative to the range, is the lowest reward.
    static constexpr double kRounding = 1e-12;
    // Measured: docs/policies.md.
    static constexpr double kFirstPayoff = 60;
    static constexpr double kFirstPayoffFreedom = 0.5;
    static constexpr double kWidening = 2;
};

}  // namespace banditree
