#include "banditree/random/rng.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace banditree {
namespace {

void require_shape(const char* distribution, const char* name, double value) {
    if (value > 0.0 && value <= std::numeric_limits<double>::max()) return;
    std::ostringstream message;
    message << distribution << ": " << name << " must be a finite number above 0, got " << value;
    throw std::invalid_argument(message.str());
}

template <typename Count>
void count_draws(Rng& rng, std::span<Count> out) {
    std::fill(out.begin(), out.end(), Count{0});
    for (std::size_t i = 0; i < out.size(); ++i) out[rng.integer(out.size())] += Count{1};
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
    SplitMix64 words(seed);
    for (std::uint64_t& word : state_) word = words.next();
}

void Rng::set_state(const State& state) {
    if (state == State{}) {
        throw std::invalid_argument("random state: at least one of the four words must not be 0");
    }
    state_ = state;
}

Rng Rng::child(std::uint64_t stream) const {
    SplitMix64 offsets(stream);
    State words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = SplitMix64::mix(state_[i] + offsets.next());
    }
    Rng result(0);
    result.set_state(words);
    return result;
}

// Rejection under the smallest mask that covers n - 1: less than two tries on average.
std::uint64_t Rng::large_integer(std::uint64_t n) {
    if (n == 0) throw std::invalid_argument("integer: n must be at least 1, got 0");
    const int unused_bits = std::countl_zero(n - 1);
    std::uint64_t value = next() >> unused_bits;
    while (value >= n) value = next() >> unused_bits;
    return value;
}

// Ratio of uniforms with the quadratic bounds of Leva 1992: one draw, nothing left over to keep,
// and a logarithm in about 1 % of the calls.
double Rng::normal() {
    while (true) {
        const double u = open_uniform();
        const double v = 1.7156 * (uniform() - 0.5);
        const double x = u - 0.449871;
        const double y = std::abs(v) + 0.386595;
        const double q = x * x + y * (0.19600 * y - 0.25472 * x);
        if (q < 0.27597) return v / u;
        if (q < 0.27846 && v * v < -4.0 * portable_log(u) * u * u) return v / u;
    }
}

// Marsaglia and Tsang 2000, for shape >= 1.
double Rng::gamma_from_one(double shape) {
    const double d = shape - 1.0 / 3;
    const double c = 1.0 / (3.0 * std::sqrt(d));
    while (true) {
        const double x = normal();
        const double root = 1.0 + c * x;
        if (root <= 0.0) continue;
        const double v = root * root * root;
        // From here on v is so near 1 that its logarithm is all rounding error, while the chance
        // of a rejection, about x^4 / (108 d), is nil.
        if (d > 1e10) return d * v;
        const double u = open_uniform();
        const double square = x * x;
        if (u < 1.0 - 0.0331 * square * square) return d * v;
        if (portable_log(u) < 0.5 * square + d * (1.0 - v + portable_log(v))) return d * v;
    }
}

// The logarithm of a gamma draw. Below 1, gamma(shape) = gamma(shape + 1) U^(1 / shape), and the
// power, which may be far below the smallest double, stays a logarithm.
double Rng::log_gamma(double shape) {
    if (shape >= 1.0) return portable_log(gamma_from_one(shape));
    const double log_power = -exponential() / shape;
    return portable_log(gamma_from_one(shape + 1.0)) + log_power;
}

double Rng::gamma(double shape) {
    require_shape("gamma", "shape", shape);
    if (shape >= 1.0) return gamma_from_one(shape);
    return std::max(portable_exp(log_gamma(shape)), std::numeric_limits<double>::min());
}

double Rng::beta(double a, double b) {
    require_shape("beta", "a", a);
    require_shape("beta", "b", b);
    if (a >= 1.0 && b >= 1.0) {
        const double success = gamma_from_one(a);
        return 1.0 / (1.0 + gamma_from_one(b) / success);
    }
    // With both this small the draw is 1 with probability a / (a + b), else 0. Scaling keeps that
    // ratio and keeps the two logarithms from both being -inf.
    if (a < 1e-280 && b < 1e-280) return beta(a * 0x1p100, b * 0x1p100);
    const double log_success = log_gamma(a);
    return 1.0 / (1.0 + portable_exp(log_gamma(b) - log_success));
}

void Rng::multinomial_weights(std::span<double> out) { count_draws(*this, out); }

void Rng::multinomial_weights(std::span<std::uint32_t> out) { count_draws(*this, out); }

void Rng::exponential_weights(std::span<double> out) {
    for (double& weight : out) weight = exponential();
}

}  // namespace banditree
