#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "banditree/random/elementary.hpp"
#include "banditree/random/rng.hpp"
#include "check.hpp"
#include "values.hpp"

using banditree::portable_exp;
using banditree::portable_log;
using banditree::Rng;
using banditree::SplitMix64;

namespace {

constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();

// How many doubles lie between a and b, which have the same sign.
std::uint64_t ulps_between(double a, double b) {
    const auto x = std::bit_cast<std::uint64_t>(a);
    const auto y = std::bit_cast<std::uint64_t>(b);
    return x > y ? x - y : y - x;
}

bool log_is_close(double x) { return ulps_between(portable_log(x), std::log(x)) <= 2; }

bool exp_is_close(double x) { return ulps_between(portable_exp(x), std::exp(x)) <= 2; }

// The first draws of seed 42 are these, to the last bit. The values come from a separate
// implementation in another language.
template <typename Draw, typename Value>
bool draws_are(Draw draw, std::initializer_list<Value> expected) {
    Rng rng(42);
    for (const Value value : expected) {
        if (draw(rng) != value) return false;
    }
    return true;
}

struct Moments {
    double mean;
    double variance;
};

template <typename Draw>
Moments moments(Draw draw) {
    constexpr int kDraws = 200000;
    Rng rng(7);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
        const double x = draw(rng);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / kDraws;
    return {mean, squares / kDraws - mean * mean};
}

void check_gamma_moments(double shape) {
    const Moments found = moments([shape](Rng& rng) { return rng.gamma(shape); });
    CHECK_NEAR(found.mean, shape, 0.01 * std::sqrt(shape));
    CHECK_NEAR(found.variance, shape, 0.02 * shape + 0.02 * std::sqrt(shape));
}

void check_beta_moments(double a, double b) {
    const Moments found = moments([a, b](Rng& rng) { return rng.beta(a, b); });
    const double mean = a / (a + b);
    const double variance = mean * (1.0 - mean) / (a + b + 1.0);
    CHECK_NEAR(found.mean, mean, 0.01 * std::sqrt(variance));
    CHECK_NEAR(found.variance, variance, 0.02 * variance);
}

}  // namespace

TEST(splitmix64_published_values) {
    SplitMix64 words(1234567);
    CHECK(words.next() == 6457827717110365317u);
    CHECK(words.next() == 3203168211198807973u);
    CHECK(words.next() == 9817491932198370423u);
    CHECK(words.next() == 4593380528125082431u);
    CHECK(words.next() == 16408922859458223821u);
}

TEST(xoshiro_published_values) {
    Rng rng(0);
    rng.set_state({1, 2, 3, 4});
    const std::vector<std::uint64_t> published = {
        41943041u,
        58720359u,
        3588806011781223u,
        3591011842654386u,
        9228616714210784205u,
        9973669472204895162u,
        14011001112246962877u,
        12406186145184390807u,
    };
    for (const std::uint64_t expected : published) {
        CHECK(rng.next() == expected);
    }
}

TEST(seed_fills_the_state_by_splitmix64) {
    SplitMix64 words(42);
    for (const std::uint64_t word : Rng(42).state()) CHECK(word == words.next());
    CHECK(Rng(42).next() == 15021278609987233951u);
    CHECK(Rng(0).state() != Rng::State{});
}

TEST(restored_state_continues_identically) {
    Rng rng(3);
    for (int i = 0; i < 5; ++i) rng.normal();
    Rng copy(0);
    copy.set_state(rng.state());
    for (int i = 0; i < 100; ++i) {
        CHECK(rng.gamma(0.5) == copy.gamma(0.5));
        CHECK(rng.normal() == copy.normal());
    }
    CHECK(rng.state() == copy.state());
}

TEST(zero_state_is_refused) {
    Rng rng(3);
    const Rng::State before = rng.state();
    CHECK_THROWS(rng.set_state({0, 0, 0, 0}), std::invalid_argument);
    CHECK(rng.state() == before);
}

TEST(child_depends_on_state_and_stream_only) {
    Rng parent(42);
    const Rng::State before = parent.state();
    CHECK(parent.child(7).state() == Rng::State{0x6b97e72d6a87fa0bu, 0x92a1d4333656920fu,
                                                0x12bb4f08daa2fe5bu, 0xdaffb8475968a5beu});
    CHECK(parent.state() == before);
    CHECK(parent.child(7).state() != parent.child(8).state());
    CHECK(parent.child(0).state() != parent.state());
    CHECK(parent.child(1).child(2).state() != parent.child(2).child(1).state());
    parent.next();
    CHECK(parent.child(7).state() != Rng(42).child(7).state());
}

TEST(log_is_accurate_over_all_positive_doubles) {
    Rng rng(11);
    int bad = 0;
    for (int i = 0; i < 1000000; ++i) {
        const double any = std::bit_cast<double>(rng.next() >> 1);
        if (any > 0.0 && any < kInfinity) bad += !log_is_close(any);
        bad += !log_is_close(0.5 + 1.5 * rng.uniform());
        const int exponent = -static_cast<int>(rng.integer(54));
        bad += !log_is_close(1.0 + std::ldexp(rng.uniform() - 0.5, exponent));
    }
    CHECK(bad == 0);
}

TEST(log_at_the_edges) {
    for (const double x : {kSmallest, 3.0 * kSmallest, kSmallestNormal, kLargest, 1.0 - 0x1p-53,
                           1.0 + 0x1p-52, 0.5, 2.0, std::sqrt(0.5), std::sqrt(2.0)}) {
        CHECK(log_is_close(x));
        CHECK(log_is_close(std::nextafter(x, 1.0)));
    }
    CHECK(portable_log(1.0) == 0.0);
    CHECK(portable_log(0.0) == -kInfinity);
    CHECK(portable_log(kInfinity) == kInfinity);
    CHECK(std::isnan(portable_log(-1.0)));
    CHECK(std::isnan(portable_log(-kInfinity)));
    CHECK(std::isnan(portable_log(kNan)));
}

TEST(exp_is_accurate_over_its_range) {
    Rng rng(12);
    int bad = 0;
    for (int i = 0; i < 1000000; ++i) {
        bad += !exp_is_close(1418.0 * (rng.uniform() - 0.5));
        const int exponent = -static_cast<int>(rng.integer(60));
        bad += !exp_is_close(std::ldexp(rng.uniform() - 0.5, exponent));
        bad += !exp_is_close(-708.0 - 37.0 * rng.uniform());
    }
    CHECK(bad == 0);
}

TEST(exp_at_the_edges) {
    for (const double x : {0.0, -0.0, kSmallest, -kSmallest, 1.0, -1.0, 709.782712893384,
                           -708.3964185322641, -745.1332191019411}) {
        CHECK(exp_is_close(x));
    }
    CHECK(portable_exp(0.0) == 1.0);
    CHECK(portable_exp(709.7827128933841) == kInfinity);
    CHECK(portable_exp(-745.2) == 0.0);
    CHECK(portable_exp(kLargest) == kInfinity);
    CHECK(portable_exp(-kLargest) == 0.0);
    CHECK(portable_exp(kInfinity) == kInfinity);
    CHECK(portable_exp(-kInfinity) == 0.0);
    CHECK(std::isnan(portable_exp(kNan)));
}

TEST(golden_uniform_and_integer) {
    CHECK(draws_are([](Rng& rng) { return rng.uniform(); },
                    {0x1.a0ec9a9e88ecdp-1, 0x1.467905d15dbccp-2, 0x1.f7c0f9f61849dp-1}));
    using Integers = std::initializer_list<std::uint64_t>;
    CHECK(draws_are([](Rng& rng) { return rng.integer(1000); },
                    Integers{814, 318, 983, 701, 793, 588}));
    CHECK(draws_are([](Rng& rng) { return rng.integer(3000000000u); },
                    Integers{956463119, 2951682504, 2103406794, 2380513468}));
    CHECK(draws_are([](Rng& rng) { return rng.integer(std::uint64_t{3} << 60); },
                    Integers{1470302532832841188, 3233417234939776366, 2712125475267032991}));
}

TEST(golden_exponential_and_normal) {
    CHECK(draws_are([](Rng& rng) { return rng.exponential(); },
                    {0x1.a4b34cba2d5cfp-3, 0x1.24a3dcafc0e0bp+0, 0x1.0a06a9fa9eb83p-6}));
    CHECK(draws_are([](Rng& rng) { return rng.normal(); },
                    {-0x1.86dfb256cae63p-2, 0x1.86171210dd637p-3, 0x1.70507b0b3d0a9p+0}));
}

TEST(golden_gamma) {
    const auto gamma = [](double shape) { return [shape](Rng& rng) { return rng.gamma(shape); }; };
    CHECK(draws_are(gamma(0.05),
                    {0x1.97525260a6f26p-6, 0x1.dad2fd656f616p-63, 0x1.44ff03c1a2f63p-17}));
    CHECK(
        draws_are(gamma(0.5), {0x1.69102d28134eep+0, 0x1.ef516944e3646p-8, 0x1.013c466cedce3p-1}));
    CHECK(
        draws_are(gamma(1.0), {0x1.9aab82fb3d6f6p-2, 0x1.71186104a6153p+0, 0x1.554e4461063fep+1}));
    CHECK(
        draws_are(gamma(2.5), {0x1.a6e779d6343d6p+0, 0x1.b3d8177ac18d0p+1, 0x1.43283904ae403p+2}));
    CHECK(draws_are(gamma(1e6),
                    {0x1.e8184015303abp+19, 0x1.e8a1c059f3e54p+19, 0x1.e8fbe2b4aa0eap+19}));
    CHECK(draws_are(gamma(1e12),
                    {0x1.d1a93e79de02ap+39, 0x1.d1a94ff012bd2p+39, 0x1.d1a9760810c9dp+39}));
}

TEST(golden_beta) {
    const auto beta = [](double a, double b) {
        return [a, b](Rng& rng) { return rng.beta(a, b); };
    };
    CHECK(draws_are(beta(1.0, 1.0),
                    {0x1.bdb251e03a269p-3, 0x1.8e6d74d4e3b6ep-1, 0x1.a018055287934p-2}));
    CHECK(draws_are(beta(3.0, 70.0),
                    {0x1.b7901a73851afp-6, 0x1.35b5c4bbb92c5p-4, 0x1.4394d2c8b900bp-6}));
    CHECK(draws_are(beta(0.5, 0.5),
                    {0x1.fd455da74e961p-1, 0x1.c0734d8d3f700p-1, 0x1.2ec71a608276bp-4}));
    CHECK(draws_are(beta(0.001, 0.002), {1.0, 0x1.4310902132bf3p-180, 0x1.0bea86345d281p-491}));
}

TEST(moments_of_the_distributions) {
    const Moments exponential = moments([](Rng& rng) { return rng.exponential(); });
    CHECK_NEAR(exponential.mean, 1.0, 0.01);
    CHECK_NEAR(exponential.variance, 1.0, 0.03);
    const Moments normal = moments([](Rng& rng) { return rng.normal(); });
    CHECK_NEAR(normal.mean, 0.0, 0.01);
    CHECK_NEAR(normal.variance, 1.0, 0.02);
    for (const double shape : {0.05, 0.5, 1.0, 2.5, 100.0}) check_gamma_moments(shape);
    check_beta_moments(1.0, 1.0);
    check_beta_moments(3.0, 70.0);
    check_beta_moments(0.05, 0.5);
}

TEST(integer_stays_in_range) {
    Rng rng(5);
    const std::uint64_t four_billion = std::uint64_t{1} << 32;
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{3}, four_billion - 1,
                                  four_billion, four_billion + 1, ~std::uint64_t{0}}) {
        for (int i = 0; i < 1000; ++i) CHECK(rng.integer(n) < n);
    }
}

TEST(tiny_shapes_never_give_zero_or_nan) {
    Rng rng(9);
    for (const double shape : {kSmallest, kSmallestNormal, 1e-281, 1e-100, 1e-5, 1e-3}) {
        for (int i = 0; i < 1000; ++i) CHECK(rng.gamma(shape) >= kSmallestNormal);
        for (const double other : {kSmallest, 1e-281, 1e-10, 1.0, 1e300, kLargest}) {
            const double x = rng.beta(shape, other);
            const double y = rng.beta(other, shape);
            CHECK(x >= 0.0 && x <= 1.0);
            CHECK(y >= 0.0 && y <= 1.0);
        }
    }
}

TEST(tiny_beta_is_a_coin_with_the_right_odds) {
    for (const double unit : {kSmallest, 1e-300, 1e-290, 1e-100}) {
        const Moments found = moments([unit](Rng& rng) { return rng.beta(unit, 3.0 * unit); });
        CHECK_NEAR(found.mean, 0.25, 0.005);
        CHECK_NEAR(found.variance, 0.1875, 0.005);
    }
}

TEST(huge_shapes_stay_finite) {
    Rng rng(9);
    CHECK_NEAR(rng.gamma(kLargest) / kLargest, 1.0, 1e-12);
    CHECK_NEAR(rng.beta(kLargest, kLargest), 0.5, 1e-12);
    CHECK_NEAR(rng.gamma(1e20) / 1e20, 1.0, 1e-9);
}

TEST(multinomial_weights_count_the_rows) {
    Rng first(21);
    Rng second(21);
    std::vector<double> weights(1001, 5.0);
    std::vector<std::uint32_t> counts(1001, 5);
    first.multinomial_weights(weights);
    second.multinomial_weights(counts);
    CHECK(first.state() == second.state());
    CHECK(std::accumulate(counts.begin(), counts.end(), 0u) == 1001u);
    CHECK(std::vector<double>(counts.begin(), counts.end()) == weights);
}

TEST(golden_weights) {
    std::vector<std::uint32_t> counts(8);
    Rng(42).multinomial_weights(counts);
    CHECK(counts == std::vector<std::uint32_t>{0, 1, 1, 0, 2, 1, 2, 1});
    std::vector<double> weights(2);
    Rng(42).exponential_weights(weights);
    CHECK(weights == std::vector<double>{0x1.a4b34cba2d5cfp-3, 0x1.24a3dcafc0e0bp+0});
}

TEST(weights_of_no_rows_draw_nothing) {
    Rng rng(1);
    rng.multinomial_weights(std::span<double>());
    rng.exponential_weights(std::span<double>());
    CHECK(rng.state() == Rng(1).state());
}

TEST(bad_parameters_are_refused_before_drawing) {
    Rng rng(1);
    CHECK_THROWS(rng.integer(0), std::invalid_argument);
    for (const double bad : {0.0, -1.0, kInfinity, -kInfinity, kNan}) {
        CHECK_THROWS(rng.gamma(bad), std::invalid_argument);
        CHECK_THROWS(rng.beta(bad, 1.0), std::invalid_argument);
        CHECK_THROWS(rng.beta(1.0, bad), std::invalid_argument);
    }
    CHECK(rng.state() == Rng(1).state());
}
