// Gauss-Legendre quadrature on [-1, 1].
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace banditree {

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

inline double dot(const Nodes& x, const Nodes& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

inline Nodes running_integral(const Nodes& values) {
    Nodes sums{};
    for (std::size_t j = 0; j < kNodes; ++j) {
        for (std::size_t i = 0; i < kNodes; ++i) sums[i] += kRule.running[j][i] * values[j];
    }
    return sums;
}

// Whether the integral of the values is known to 1e-14. Coefficients decay geometrically: those of
// degree 32, which decide the error, are to those of degree 14 and 15 about what these are to the
// values themselves.
inline bool is_resolved(const Nodes& values) {
    constexpr double kTolerance = 1e-14;
    const double next_to_last = dot(values, kRule.highest[0]);
    const double last = dot(values, kRule.highest[1]);
    double largest = 0.0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return next_to_last * next_to_last + last * last <= kTolerance * largest;
}

}  // namespace banditree
