#include "banditree/laws/winning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>

#include "contender.hpp"
#include "posterior_curves.hpp"
#include "quadrature.hpp"

namespace banditree {
namespace {

// ---- Panels of the axis ----

struct Panel {
    double left, right;
    int refinements = 0;

    double half() const { return 0.5 * (right - left); }
};

// Visits the axis from left to right in panels that fit; a panel that integrate refuses is halved.
// integrate must take what cannot be halved any further, which its second argument tells.
template <typename Fits, typename Integrate>
void sweep(double left, double right, Fits fits, Integrate integrate) {
    constexpr int kMostRefinements = 12;
    std::vector<Panel> waiting{{left, right}};
    while (!waiting.empty()) {
        const Panel panel = waiting.back();
        waiting.pop_back();
        const double middle = panel.left + panel.half();
        const bool divisible = panel.left < middle && middle < panel.right;
        int refinements = panel.refinements;
        if (!divisible || fits(panel)) {
            if (integrate(panel, !divisible || refinements == kMostRefinements)) continue;
            ++refinements;
        }
        waiting.push_back({middle, panel.right, refinements});
        waiting.push_back({panel.left, middle, refinements});
    }
}

// Whether a panel is short enough to be tried: no narrow law may hide between its nodes.
template <typename Curve>
bool fits(const Curve& curve, const Panel& panel) {
    const double distance = std::max({panel.left - curve.centre, curve.centre - panel.right, 0.0});
    return panel.right - panel.left <= 3.0 * curve.feature + 2.0 * distance;
}

// The density at the nodes times factor and half the length of the panel: the mass per unit of the
// rule. Nodes are reckoned from the left end, so that rounding does not scatter them when the panel
// is short and far from 0.
template <typename Curve>
Nodes masses(const Curve& curve, const Panel& panel, double factor) {
    const double start = panel.left - curve.centre;
    Nodes values;
    for (std::size_t i = 0; i < kNodes; ++i) {
        const double distance = start + panel.half() * (1.0 + kRule.node[i]);
        values[i] = factor * panel.half() * portable_exp(curve.log_density(distance));
    }
    return values;
}

// The integral of factor times the density. The factor makes it of the order of 1.
template <typename Curve>
double integral(const Curve& curve, double left, double right, double factor) {
    double sum = 0.0;
    sweep(
        left, right, [&](const Panel& panel) { return fits(curve, panel); },
        [&](const Panel& panel, bool last) {
            const Nodes values = masses(curve, panel, factor);
            if (!last && !is_resolved(values)) return false;
            sum += dot(values, kRule.weight);
            return true;
        });
    return sum;
}

// ---- The contest ----

// Whether each gain is resolved, and together they are what the probability of all draws being to
// the left grows by from one end of the panel to the other.
bool gains_are_accurate(const std::vector<Contender>& contenders) {
    double all_below_left = 1.0;
    double all_below_right = 1.0;
    double sum = 0.0;
    for (const Contender& contender : contenders) {
        if (!is_resolved(contender.gain)) return false;
        all_below_left *= contender.below;
        all_below_right *= contender.below + dot(contender.density, kRule.weight);
        sum += dot(contender.gain, kRule.weight);
    }
    const double tolerance = 1e-12 + 1e-15 * static_cast<double>(contenders.size());
    return std::abs(all_below_right - all_below_left - sum) < tolerance;
}

template <typename Curve>
class Contest {
 public:
    Contest(const std::vector<Curve>& curves, std::span<const double> shares)
        : curves_(curves), shares_(shares), factors_(curves.size()), wins_(curves.size(), 0.0) {
        // Whoever wins is above every value that some arm is certain to exceed.
        for (std::size_t arm = 0; arm < curves_.size(); ++arm) {
            const Curve& curve = curves_[arm];
            end_ = std::max(end_, curve.upper);
            if (share(arm) < 1) continue;
            const bool single = is_single_value(curve);
            if (single) largest_single_ = std::max(largest_single_, curve.centre);
            start_ = std::max(start_, single ? curve.centre : curve.lower);
        }
    }

    std::vector<double> run() {
        enter_contenders();
        award_single_values();
        if (!contenders_.empty()) {
            sweep(
                start_, end_, [&](const Panel& panel) { return all_fit(panel); },
                [&](const Panel& panel, bool last) { return integrate(panel, last); });
        }
        return normalised(wins_);
    }

 private:
    static bool is_single_value(const Curve& curve) {
        return curve.width <= 0x1p-50 * std::abs(curve.centre);
    }

    double share(std::size_t arm) const { return shares_.empty() ? 1 : shares_[arm]; }

    void enter_contenders() {
        for (std::size_t arm = 0; arm < curves_.size(); ++arm) {
            const Curve& curve = curves_[arm];
            if (is_single_value(curve) || curve.upper <= start_) continue;
            const double unit = 1.0 / curve.width;
            const double below = integral(curve, curve.lower, start_, unit);
            const double total = below + integral(curve, start_, curve.upper, unit);
            factors_[arm] = share(arm) * unit / total;
            contenders_.push_back({arm, 1 - share(arm) * (1 - below / total), {}, {}, {}});
        }
    }

    void award_single_values() {
        if (largest_single_ < start_) return;
        std::vector<std::size_t> winners;
        for (std::size_t arm = 0; arm < curves_.size(); ++arm) {
            if (is_single_value(curves_[arm]) && curves_[arm].centre == start_)
                winners.push_back(arm);
        }
        double all_below = 1.0;
        for (const Contender& contender : contenders_) all_below *= contender.below;
        for (const std::size_t arm : winners)
            wins_[arm] = all_below / static_cast<double>(winners.size());
    }

    bool all_fit(const Panel& panel) {
        std::erase_if(contenders_, [&](const Contender& contender) {
            return curves_[contender.arm].upper <= panel.left;
        });
        return std::all_of(contenders_.begin(), contenders_.end(), [&](const Contender& contender) {
            return fits(curves_[contender.arm], panel);
        });
    }

    bool integrate(const Panel& panel, bool last) {
        for (Contender& contender : contenders_) {
            const std::size_t arm = contender.arm;
            contender.density = masses(curves_[arm], panel, factors_[arm]);
            if (!last && !is_resolved(contender.density)) return false;
            contender.distribution = running_integral(contender.density);
            for (double& value : contender.distribution) value += contender.below;
        }
        find_gains(contenders_);
        if (!last && !gains_are_accurate(contenders_)) return false;
        for (Contender& contender : contenders_) {
            wins_[contender.arm] += dot(contender.gain, kRule.weight);
            contender.below += dot(contender.density, kRule.weight);
        }
        return true;
    }

    const std::vector<Curve>& curves_;
    std::span<const double> shares_;
    std::vector<double> factors_;  // of the density of each arm, so that its integral is 1
    std::vector<double> wins_;
    std::vector<Contender> contenders_;
    double largest_single_ = -std::numeric_limits<double>::infinity();
    double start_ = -std::numeric_limits<double>::infinity();
    double end_ = -std::numeric_limits<double>::infinity();
};

// ---- Checks ----

void check(const BetaLaw& law) {
    const auto in_range = [](double shape) { return shape >= 1e-9 && shape <= 1e12; };
    require(in_range(law.a) && in_range(law.b),
            "win_probabilities: shapes must be between 1e-9 and 1e12");
}

void check(const StudentLaw& law) {
    require(std::abs(law.location) <= 1e150,
            "win_probabilities: locations must be between -1e150 and 1e150");
    require(law.scale == 0.0 || (law.scale >= 1e-150 && law.scale <= 1e150),
            "win_probabilities: scales must be 0 or between 1e-150 and 1e150");
    require(law.freedom >= 0.1 && law.freedom <= std::numeric_limits<double>::max(),
            "win_probabilities: freedoms must be finite and at least 0.1");
}

// Whether some arm takes part whatever happens, and all may.
bool is_sure(std::span<const double> shares) {
    const bool possible = std::all_of(shares.begin(), shares.end(),
                                      [](double share) { return share >= 0 && share <= 1; });
    return possible && std::find(shares.begin(), shares.end(), 1.0) != shares.end();
}

template <typename Curve, typename Law>
std::vector<double> contest(std::span<const Law> laws, std::span<const double> shares) {
    require(!laws.empty(), "win_probabilities: at least one law is needed");
    require(shares.empty() || (shares.size() == laws.size() && is_sure(shares)),
            "win_probabilities: shares must be from 0 to 1, and one of them 1");
    std::vector<Curve> curves;
    for (const Law& law : laws) {
        check(law);
        curves.emplace_back(law);
    }
    return Contest<Curve>(curves, shares).run();
}

}  // namespace

std::vector<double> win_probabilities(std::span<const BetaLaw> laws,
                                      std::span<const double> shares) {
    return contest<LogitBeta>(laws, shares);
}

std::vector<double> win_probabilities(std::span<const StudentLaw> laws,
                                      std::span<const double> shares) {
    return contest<StudentCurve>(laws, shares);
}

}  // namespace banditree
