#include "banditree/ensemble/stack.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "banditree/ensemble/logistic.hpp"

namespace banditree {

namespace {

// How firmly the first weights are believed in, in units of observations.
constexpr double kPrior = 5;
constexpr double kConstantPrior = 20;

}  // namespace

Stack::Stack(std::size_t n_members, bool binary)
    : binary_(binary), weights_(n_members + 1, 1.0 / static_cast<double>(n_members)) {
    weights_.back() = 0;
    curvature_.assign(n() * n(), 0);
    for (std::size_t i = 0; i < n(); ++i)
        curvature_[i * n() + i] = i < n_members ? kPrior : kConstantPrior;
}

double Stack::score(std::span<const double> inputs) const {
    return std::inner_product(inputs.begin(), inputs.end(), weights_.begin(), weights_.back());
}

double Stack::mean(std::span<const double> inputs) const {
    return binary_ ? sigmoid(score(inputs)) : score(inputs);
}

void Stack::learn(std::span<const double> inputs, double reward) {
    constexpr double kLeastVariance = 0.01;
    const double mean = this->mean(inputs);
    const double variance = binary_ ? std::max(kLeastVariance, mean * (1 - mean)) : 1;
    std::vector<double> gradient(inputs.begin(), inputs.end());
    gradient.push_back(1);
    for (std::size_t i = 0; i < n(); ++i)
        for (std::size_t j = 0; j < n(); ++j)
            curvature_[i * n() + j] += variance * gradient[i] * gradient[j];
    for (double& g : gradient) g *= reward - mean;
    const std::vector<double> step = solved(std::move(gradient));
    for (std::size_t i = 0; i < n(); ++i) weights_[i] += step[i];
    for (std::size_t i = 0; i + 1 < n(); ++i) weights_[i] = std::max(0.0, weights_[i]);
}

// By elimination: the curvature is positive definite, so that no pivot is 0.
std::vector<double> Stack::solved(std::vector<double> gradient) const {
    std::vector<double> matrix = curvature_;
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * n() + j]; };
    for (std::size_t i = 0; i < n(); ++i) {
        for (std::size_t k = i + 1; k < n(); ++k) {
            const double factor = at(k, i) / at(i, i);
            for (std::size_t j = i; j < n(); ++j) at(k, j) -= factor * at(i, j);
            gradient[k] -= factor * gradient[i];
        }
    }
    for (std::size_t i = n(); i-- > 0;) {
        for (std::size_t j = i + 1; j < n(); ++j) gradient[i] -= at(i, j) * gradient[j];
        gradient[i] /= at(i, i);
    }
    return gradient;
}

void Stack::write(ByteWriter& out) const {
    out.array(weights_);
    out.array(curvature_);
}

void Stack::read(ByteReader& in) {
    const auto weights = in.array<double>(), curvature = in.array<double>();
    ByteReader::require(weights.size() == n() && curvature.size() == n() * n());
    for (const double number : weights) ByteReader::require(std::isfinite(number));
    for (const double number : curvature) ByteReader::require(std::isfinite(number));
    for (std::size_t i = 0; i < n(); ++i) ByteReader::require(curvature[i * n() + i] >= kPrior);
    weights_ = weights;
    curvature_ = curvature;
}

}  // namespace banditree
