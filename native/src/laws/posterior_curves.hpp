// Posterior laws on an axis where they are smooth.
#pragma once

#include <algorithm>
#include <cmath>

#include "banditree/laws/winning.hpp"
#include "banditree/random/elementary.hpp"

namespace banditree {

// Each law is cut off where less than exp(-kDepth) = 1e-13 of its mass lies beyond, on either side.
//
// For a density exp(-g) with g convex and least, 0, at the centre, that is so wherever g >= kDepth:
// if g = kDepth at distance d, then exp(-g) is at least exp(-kDepth x / d) for x inside d and at
// most that outside.
constexpr double kDepth = 30.0;

inline double portable_log1p(double x) {
    const double rounded = 1.0 + x;
    // The quotient makes up for what rounding took from x.
    return rounded == 1.0 ? x : portable_log(rounded) * (x / (rounded - 1.0));
}

// A beta law of the logit t = log(x / (1 - x)), where its density is x^a (1 - x)^b up to a factor:
// smooth and log-concave with exponential tails, whatever a and b. Distances are from the mode.
class LogitBeta {
 public:
    explicit LogitBeta(const BetaLaw& law)
        : a_(law.a), b_(law.b), p_(a_ / (a_ + b_)), q_(b_ / (a_ + b_)), curvature_(a_ * q_) {
        centre = portable_log(a_ / b_);
        width = 1.0 / std::sqrt(curvature_);
        // However wide the law, it bends within a few units: it has poles pi off the real axis.
        feature = std::min(width, 2.0);
        lower = centre - reach(-1.0);
        upper = centre + reach(1.0);
    }

    // The logarithm of the density over its greatest value: a d - (a + b) log(q + p exp(d)) at the
    // distance d, or the same from the other end, where a and b, p and q and the sign of d change
    // places. The end with the smaller probability has no large numbers to subtract from each
    // other; far out only the end where the exponential vanishes is safe from overflow.
    double log_density(double distance) const {
        constexpr double kSeriesReach = 0x1p-7;
        constexpr double kFar = 600.0;
        if (std::abs(distance) < kSeriesReach) return near_mode(distance);
        const bool from_low_end = std::abs(distance) > kFar ? distance < 0.0 : p_ <= q_;
        return from_low_end ? a_ * distance - (a_ + b_) * log_of_mixture(p_, q_, distance)
                            : -b_ * distance - (a_ + b_) * log_of_mixture(q_, p_, -distance);
    }

    double centre, width, feature, lower, upper;

 private:
    // By the cumulants of a Bernoulli law: no subtraction, however large the shapes.
    double near_mode(double d) const {
        const double v = p_ * q_;
        const double skew = q_ - p_;
        const double series =
            1.0 / 2 +
            d * (skew / 6 + d * ((1 - 6 * v) / 24 + d * (skew * (1 - 12 * v) / 120 +
                                                         d * ((1 - 30 * v + 120 * v * v) / 720))));
        return -curvature_ * d * d * series;
    }

    // log(q + p exp(d)) for p + q = 1.
    static double log_of_mixture(double p, double q, double d) {
        const double growth = portable_exp(d);
        const double change = p * (growth - 1.0);
        return change > -0.5 ? portable_log1p(change) : portable_log(q + p * growth);
    }

    // A distance from the mode, on the side of the sign, where the density is below exp(-kDepth).
    double reach(double sign) const {
        const double distance = std::sqrt(2.0 * kDepth) * width;
        const double missing = kDepth + log_density(sign * distance);
        if (missing <= 0.0) return distance;
        // The logarithm is concave, hence below its tangent.
        const double decay = portable_exp(-distance);
        const double mixture = sign > 0.0 ? q_ * decay + p_ : q_ + p_ * decay;
        return distance + missing * mixture / (curvature_ * (1.0 - decay));
    }

    double a_, b_, p_, q_, curvature_;
};

class StudentCurve {
 public:
    explicit StudentCurve(const StudentLaw& law) : scale_(law.scale), freedom_(law.freedom) {
        centre = law.location;
        width = scale_;
        feature = scale_;
        // With z = sqrt(freedom) sinh(u) the density of u is cosh(u)^-freedom: log-concave. The
        // maximum is for freedoms so large that the difference is lost to rounding.
        const double square = freedom_ * (portable_exp(2.0 * kDepth / freedom_) - 1.0);
        const double reach = scale_ * std::sqrt(std::max(square, 2.0 * kDepth));
        lower = centre - reach;
        upper = centre + reach;
    }

    // The logarithm of the density over its greatest value.
    double log_density(double distance) const {
        const double z = distance / scale_;
        return -0.5 * (freedom_ + 1.0) * portable_log1p(z * z / freedom_);
    }

    double centre, width, feature, lower, upper;

 private:
    double scale_, freedom_;
};

}  // namespace banditree
