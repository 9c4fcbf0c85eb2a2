#include "banditree/winning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "banditree/elementary.hpp"

namespace banditree {
namespace {

// ---- Gauss-Legendre quadrature on [-1, 1] ----

constexpr std::size_t kNodes = 16;
using Nodes = std::array<double, kNodes>;

// With this many nodes the integral of a polynomial of degree 31 is exact, so the product of a
// density and a distribution function is integrated exactly once each of them is a polynomial of
// degree 15.
struct Rule {
    Nodes node, weight;
    // running[j][i]: integral from -1 to node i of the polynomial that is 1 at node j and 0 at the
    // other nodes.
    std::array<Nodes, kNodes> running;
    // Of the polynomial through given values, the coefficients of the last two Legendre polynomials
    // are the products of the values with these rows.
    std::array<Nodes, 2> highest;
};

constexpr std::array<double, kNodes / 2> kPositiveNodes = {
    0x1.852bd6676a9f9p-4, 0x1.205cae642337cp-2, 0x1.d50259a43a772p-2, 0x1.3c5a466d5e8b8p-1,
    0x1.82c45dda4726bp-1, 0x1.bb3403514e483p-1, 0x1.e39f56616f9b0p-1, 0x1.fa92c264d787ep-1};

// The Legendre polynomials of degree 0 to kNodes at x.
constexpr std::array<double, kNodes + 1> legendre(double x) {
    std::array<double, kNodes + 1> p{1.0, x};
    for (std::size_t k = 2; k <= kNodes; ++k) {
        const double degree = static_cast<double>(k);
        p[k] = ((2 * degree - 1) * x * p[k - 1] - (degree - 1) * p[k - 2]) / degree;
    }
    return p;
}

constexpr Rule make_rule() {
    Rule rule{};
    for (std::size_t i = 0; i < kNodes / 2; ++i) {
        rule.node[kNodes / 2 + i] = kPositiveNodes[i];
        rule.node[kNodes / 2 - 1 - i] = -kPositiveNodes[i];
    }
    for (std::size_t j = 0; j < kNodes; ++j) {
        const auto p = legendre(rule.node[j]);
        const double slope = kNodes * p[kNodes - 1];
        const double weight = 2.0 * (1.0 - rule.node[j] * rule.node[j]) / (slope * slope);
        rule.weight[j] = weight;
        for (std::size_t r = 0; r < 2; ++r)
            rule.highest[r][j] = (kNodes - 1.5 + r) * weight * p[kNodes - 2 + r];
        for (std::size_t i = 0; i < kNodes; ++i) {
            const auto q = legendre(rule.node[i]);
            // The integral of P_k from -1 is (P_{k+1} - P_{k-1}) / (2 k + 1).
            double sum = 1.0 + rule.node[i];
            for (std::size_t k = 1; k < kNodes; ++k) sum += p[k] * (q[k + 1] - q[k - 1]);
            rule.running[j][i] = 0.5 * weight * sum;
        }
    }
    return rule;
}

constexpr Rule kRule = make_rule();

double dot(const Nodes& x, const Nodes& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

Nodes running_integral(const Nodes& values) {
    Nodes sums{};
    for (std::size_t j = 0; j < kNodes; ++j) {
        for (std::size_t i = 0; i < kNodes; ++i) sums[i] += kRule.running[j][i] * values[j];
    }
    return sums;
}

// Whether the integral of the values is known to 1e-14. Coefficients decay geometrically: those of
// degree 32, which decide the error, are to those of degree 14 and 15 about what these are to the
// values themselves.
bool is_resolved(const Nodes& values) {
    constexpr double kTolerance = 1e-14;
    const double next_to_last = dot(values, kRule.highest[0]);
    const double last = dot(values, kRule.highest[1]);
    double largest = 0.0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return next_to_last * next_to_last + last * last <= kTolerance * largest;
}

// ---- The laws on an axis where they are smooth ----

// Each law is cut off where less than exp(-kDepth) = 1e-13 of its mass lies beyond, on either side.
//
// For a density exp(-g) with g convex and least, 0, at the centre, that is so wherever g >= kDepth:
// if g = kDepth at distance d, then exp(-g) is at least exp(-kDepth x / d) for x inside d and at
// most that outside.
constexpr double kDepth = 30.0;

double portable_log1p(double x) {
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

// One arm during a sweep from left to right.
struct Contender {
    std::size_t arm;
    double below;  // probability that its draw lies to the left of the panel
    Nodes density, distribution, gain;
};

// gain: the density of the arm's draw being at the node and all other draws to the left of it.
void find_gains(std::vector<Contender>& contenders) {
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

// The sum is 1 in theory: what it is in fact is the check on the whole calculation.
std::vector<double> normalised(std::vector<double> wins) {
    const double sum = std::accumulate(wins.begin(), wins.end(), 0.0);
    // Written so that NaN fails.
    if (!(std::abs(sum - 1.0) < 1e-9))
        throw std::runtime_error("winning: the probabilities do not sum to 1");
    // Rounding can leave a polynomial a little below 0 where it is 0 in theory.
    for (double& win : wins) win = std::max(win, 0.0) / sum;
    return wins;
}

template <typename Curve>
class Contest {
 public:
    explicit Contest(const std::vector<Curve>& curves)
        : curves_(curves), factors_(curves.size()), wins_(curves.size(), 0.0) {
        // Whoever wins is above every value that some arm is certain to exceed.
        for (const Curve& curve : curves_) {
            const bool single = is_single_value(curve);
            if (single) largest_single_ = std::max(largest_single_, curve.centre);
            start_ = std::max(start_, single ? curve.centre : curve.lower);
            end_ = std::max(end_, curve.upper);
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

    void enter_contenders() {
        for (std::size_t arm = 0; arm < curves_.size(); ++arm) {
            const Curve& curve = curves_[arm];
            if (is_single_value(curve) || curve.upper <= start_) continue;
            const double unit = 1.0 / curve.width;
            const double below = integral(curve, curve.lower, start_, unit);
            const double total = below + integral(curve, start_, curve.upper, unit);
            factors_[arm] = unit / total;
            contenders_.push_back({arm, below / total, {}, {}, {}});
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
    std::vector<double> factors_;  // of the density of each arm, so that its integral is 1
    std::vector<double> wins_;
    std::vector<Contender> contenders_;
    double largest_single_ = -std::numeric_limits<double>::infinity();
    double start_ = -std::numeric_limits<double>::infinity();
    double end_ = -std::numeric_limits<double>::infinity();
};

// ---- Sets of values ----

struct Entry {
    double value;
    std::size_t arm;

    bool operator<(const Entry& other) const {
        return value != other.value ? value < other.value : arm < other.arm;
    }
};

std::vector<Entry> sorted_entries(std::span<const std::vector<double>> values) {
    std::vector<Entry> entries;
    for (std::size_t arm = 0; arm < values.size(); ++arm) {
        for (const double value : values[arm]) entries.push_back({value, arm});
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

// Takes the values of all arms in rising order, those that are equal at once.
class ShareCount {
 public:
    explicit ShareCount(std::span<const std::vector<double>> values)
        : values_(values),
          passed_(values.size(), 0),
          below_(values.size(), 0.0),
          wins_(values.size(), 0.0) {}

    // equals: all entries of one value, sorted by arm.
    void add(std::span<const Entry> equals) {
        tied_.clear();
        for (auto first = equals.begin(); first != equals.end();) {
            const auto last = std::find_if(
                first, equals.end(), [&](const Entry& entry) { return entry.arm != first->arm; });
            enter(first->arm, static_cast<std::size_t>(last - first));
            first = last;
        }
        const double others_below =
            std::accumulate(below_.begin(), below_.end(), 1.0, std::multiplies<>());
        if (tied_.size() == 1) {
            wins_[tied_[0].arm] += others_below * tied_[0].density[0];
        } else if (others_below > 0.0) {
            share_tie(others_below);
        }
        for (const Contender& contender : tied_)
            below_[contender.arm] = share(contender.arm, passed_[contender.arm]);
    }

    const std::vector<double>& wins() const { return wins_; }

 private:
    double share(std::size_t arm, std::size_t count) const {
        return static_cast<double>(count) / static_cast<double>(values_[arm].size());
    }

    void enter(std::size_t arm, std::size_t count) {
        tied_.push_back({arm, below_[arm], {}, {}, {}});
        tied_.back().density.fill(share(arm, count));
        passed_[arm] += count;
        below_[arm] = 1.0;  // leaves it out of the product of the others
    }

    // A tie is as if each tied arm had an independent uniform number and the largest one won: where
    // this number is y, another tied arm loses with the probability below + equal y. One panel per
    // 16 arms integrates this polynomial in y exactly, up to rounding.
    void share_tie(double others_below) {
        const std::size_t panels = (tied_.size() + 15) / 16;
        const double half = 0.5 / static_cast<double>(panels);
        for (std::size_t panel = 0; panel < panels; ++panel) {
            const double middle = half * static_cast<double>(2 * panel + 1);
            for (Contender& contender : tied_) {
                for (std::size_t i = 0; i < kNodes; ++i)
                    contender.distribution[i] =
                        contender.below + contender.density[i] * (middle + half * kRule.node[i]);
            }
            find_gains(tied_);
            for (const Contender& contender : tied_)
                wins_[contender.arm] += others_below * half * dot(contender.gain, kRule.weight);
        }
    }

    std::span<const std::vector<double>> values_;
    std::vector<std::size_t> passed_;  // how many values of each arm have been added
    std::vector<double> below_;        // the same as a share of the arm's values
    std::vector<double> wins_;
    std::vector<Contender> tied_;
};

// ---- Checks, written so that NaN fails ----

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

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

template <typename Curve, typename Law>
std::vector<double> contest(std::span<const Law> laws) {
    require(!laws.empty(), "win_probabilities: at least one law is needed");
    std::vector<Curve> curves;
    for (const Law& law : laws) {
        check(law);
        curves.emplace_back(law);
    }
    return Contest<Curve>(curves).run();
}

}  // namespace

std::vector<double> win_probabilities(std::span<const BetaLaw> laws) {
    return contest<LogitBeta>(laws);
}

std::vector<double> win_probabilities(std::span<const StudentLaw> laws) {
    return contest<StudentCurve>(laws);
}

std::vector<double> win_shares(std::span<const std::vector<double>> values) {
    require(!values.empty(), "win_shares: at least one arm is needed");
    for (const std::vector<double>& arm : values) {
        require(!arm.empty(), "win_shares: an arm has no value");
        require(std::all_of(arm.begin(), arm.end(), [](double v) { return std::isfinite(v); }),
                "win_shares: values must be finite");
    }
    const std::vector<Entry> entries = sorted_entries(values);
    ShareCount shares(values);
    for (auto first = entries.begin(); first != entries.end();) {
        const auto last = std::find_if(
            first, entries.end(), [&](const Entry& entry) { return entry.value != first->value; });
        shares.add({first, last});
        first = last;
    }
    return normalised(shares.wins());
}

}  // namespace banditree
