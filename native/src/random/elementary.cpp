#include "banditree/random/elementary.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace banditree {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;

// ln 2 in two parts. The first has 32 significant bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefp-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kLog2E = 0x1.71547652b82fep+0;

// The double just below sqrt(1/2): mantissas are taken from [kSqrtHalf, 2 kSqrtHalf).
constexpr double kSqrtHalf = 0x1.6a09e667f3bccp-1;

// 2^n for n in [-1022, 1023].
double power_of_two(int n) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(n + kExponentBias) << kMantissaBits);
}

// log(1 + f) / s - 2 with s = f / (2 + f), z = s^2: the atanh series 2 z/3 + 2 z^2/5 + ...
// z < 0.02944, so the terms left out are below 2^-59. Even and odd powers are summed apart, since
// two short chains of dependent operations run at the same time.
double log_series(double z) {
    const double w = z * z;
    const double odd =
        z * (2.0 / 3 + w * (2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19)))));
    const double even =
        w * (2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21)))));
    return odd + even;
}

// log(x 2^shift) for a normal positive x = 2^exponent (1 + f), 1 + f between sqrt(1/2) and sqrt(2).
double log_of_normal(double x, int shift) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t offset = bits - std::bit_cast<std::uint64_t>(kSqrtHalf);
    const std::int64_t exponent = static_cast<std::int64_t>(offset) >> kMantissaBits;
    const std::uint64_t exponent_bits = static_cast<std::uint64_t>(exponent) << kMantissaBits;
    const double f = std::bit_cast<double>(bits - exponent_bits) - 1.0;

    const double s = f / (2.0 + f);
    const double half_square = 0.5 * f * f;
    const double tail = s * (half_square + log_series(s * s));
    const double k = static_cast<double>(exponent + shift);
    // 2 s = f - s f, written so that the leading term f is exact; small terms are added first.
    return k * kLn2High - ((half_square - (tail + k * kLn2Low)) - f);
}

// exp(r) - 1 - r for |r| < 0.35: Taylor series, the first term left out is r^14 / 14! < 2^-57.
double exp_series(double r) {
    const double q = r * r;
    const double even =
        1.0 / 2 +
        q * (1.0 / 24 +
             q * (1.0 / 720 + q * (1.0 / 40320 + q * (1.0 / 3628800 + q * (1.0 / 479001600)))));
    const double odd =
        1.0 / 6 +
        q * (1.0 / 120 + q * (1.0 / 5040 + q * (1.0 / 362880 +
                                                q * (1.0 / 39916800 + q * (1.0 / 6227020800.0)))));
    return q * (even + r * odd);
}

// y * 2^k in two steps: neither factor leaves the normal range, and only the last step may round.
double scale(double y, int k) {
    constexpr int kStep = 64;
    if (k > kExponentBias) return y * power_of_two(k - kStep) * power_of_two(kStep);
    if (k < 1 - kExponentBias) return y * power_of_two(k + kStep) * power_of_two(-kStep);
    return y * power_of_two(k);
}

}  // namespace

double portable_log(double x) {
    constexpr int kShift = 54;
    if (x >= std::numeric_limits<double>::min() && x < kInfinity) return log_of_normal(x, 0);
    if (x > 0.0 && x < kInfinity) return log_of_normal(x * power_of_two(kShift), -kShift);
    if (x == 0.0) return -kInfinity;
    return x > 0.0 ? x : kNan;
}

double portable_exp(double x) {
    if (x > 710.0) return kInfinity;
    if (x < -746.0) return 0.0;
    if (x != x) return x;
    const int k = static_cast<int>(x * kLog2E + (x < 0.0 ? -0.5 : 0.5));
    const double high = x - k * kLn2High;
    const double low = k * kLn2Low;
    const double r = high - low;
    // What rounding took from r is added back at the end, to first order.
    const double lost = (high - r) - low;
    return scale(1.0 + (r + (exp_series(r) + lost)), k);
}

}  // namespace banditree
