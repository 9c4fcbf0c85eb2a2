#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "banditree/laws/winning.hpp"
#include "banditree/random/rng.hpp"
#include "check.hpp"
#include "values.hpp"

using banditree::BetaLaw;
using banditree::Rng;
using banditree::StudentLaw;

namespace {

using Sets = std::vector<std::vector<double>>;

std::vector<double> beta_wins(const std::vector<BetaLaw>& laws) {
    return banditree::win_probabilities(laws);
}

std::vector<double> student_wins(const std::vector<StudentLaw>& laws) {
    return banditree::win_probabilities(laws);
}

std::vector<double> shares(const Sets& values) { return banditree::win_shares(values); }

void check_probabilities(const std::vector<double>& wins) {
    CHECK(std::all_of(wins.begin(), wins.end(), [](double win) { return win >= 0.0; }));
    CHECK_NEAR(std::accumulate(wins.begin(), wins.end(), 0.0), 1.0, 1e-14);
}

void check_even(const std::vector<double>& wins) {
    for (const double win : wins) CHECK_NEAR(win, 1.0 / static_cast<double>(wins.size()), 1e-11);
}

// How often each of three beta draws is the largest.
std::array<double, 3> beta_frequencies(const std::array<BetaLaw, 3>& laws, int rounds) {
    Rng rng(3);
    std::array<double, 3> found{};
    for (int round = 0; round < rounds; ++round) {
        std::array<double, 3> draws;
        for (std::size_t arm = 0; arm < 3; ++arm) draws[arm] = rng.beta(laws[arm].a, laws[arm].b);
        const auto best = std::max_element(draws.begin(), draws.end()) - draws.begin();
        found[static_cast<std::size_t>(best)] += 1.0 / rounds;
    }
    return found;
}

double log_uniform(Rng& rng, double low, double high) {
    return low * std::pow(high / low, rng.uniform());
}

}  // namespace

TEST(winning_beta_closed_forms) {
    CHECK(beta_wins({{2.0, 5.0}}) == std::vector<double>{1.0});
    CHECK_NEAR(beta_wins({{1, 1}, {2, 1}})[0], 1.0 / 3, 1e-13);
    // The largest of k uniform numbers is Beta(k, 1).
    CHECK_NEAR(beta_wins({{1, 1}, {9, 1}})[0], 0.1, 1e-13);
    // Against almost a constant, the uniform law's chance is what lies above that.
    CHECK_NEAR(beta_wins({{1, 1}, {1e6, 2e6}})[0], 2.0 / 3, 1e-12);
    // Mean of 1 - x^2 where the law of x is Beta(3, 2).
    CHECK_NEAR(beta_wins({{2, 1}, {3, 2}})[0], 0.6, 1e-13);
}

TEST(winning_equal_laws_share_evenly) {
    for (const std::size_t count : {2u, 3u, 12u, 200u}) {
        for (const BetaLaw law : {BetaLaw{1, 1}, {20, 300}, {1e7, 3e7}, {0.01, 0.01}, {0.05, 1e6}})
            check_even(beta_wins(std::vector<BetaLaw>(count, law)));
        for (const StudentLaw law : {StudentLaw{0, 1, 1}, {9, 1e-8, 3}, {-1e6, 1, 1e7}, {4, 0, 1}})
            check_even(student_wins(std::vector<StudentLaw>(count, law)));
        check_even(shares(Sets(count, {0.5, 0.5, 2.0})));
    }
}

TEST(winning_beta_agrees_with_draws) {
    for (const std::array<BetaLaw, 3> laws : {std::array<BetaLaw, 3>{{{3, 20}, {30, 250}, {1, 12}}},
                                              {{{0.3, 0.2}, {5, 2}, {80, 30}}}}) {
        const std::vector<double> exact = banditree::win_probabilities(laws);
        const std::array<double, 3> found = beta_frequencies(laws, 100000);
        for (std::size_t arm = 0; arm < 3; ++arm) CHECK_NEAR(found[arm], exact[arm], 0.006);
    }
}

TEST(winning_student_closed_forms) {
    CHECK(student_wins({{2, 3, 4}}) == std::vector<double>{1.0});
    // The difference of two Cauchy draws is Cauchy, and its scale is the sum of the scales.
    CHECK_NEAR(student_wins({{3, 1, 1}, {0, 2, 1}})[0], 0.75, 1e-12);
    CHECK_NEAR(student_wins({{3e8, 1, 1}, {0, 3e8, 1}})[0], 0.75, 1e-8);
    // Almost normal.
    for (const double freedom : {1e12, 1e20, 1e300})
        CHECK_NEAR(student_wins({{1, 3, freedom}, {0, 4, freedom}})[0],
                   0.5 * std::erfc(-0.2 / std::sqrt(2)), 1e-12);
}

TEST(winning_single_values) {
    CHECK(student_wins({{1, 0, 1}, {2, 0, 1}, {-3, 0, 1}, {2, 0, 9}}) ==
          std::vector<double>{0.0, 0.5, 0.0, 0.5});
    // A Cauchy draw is above its upper quartile with 1/4; the value 0 is out of the question.
    const std::vector<double> wins = student_wins({{1, 0, 1}, {0, 1, 1}, {1, 0, 2}, {0, 0, 1}});
    CHECK_NEAR(wins[0], 0.375, 1e-12);
    CHECK_NEAR(wins[1], 0.25, 1e-12);
    CHECK_NEAR(wins[2], 0.375, 1e-12);
    CHECK(wins[3] == 0.0);
    // Narrower than doubles can tell.
    CHECK_NEAR(student_wins({{1, 1e-20, 3}, {0, 1, 1}})[0], 0.75, 1e-12);
    CHECK_NEAR(student_wins({{1, 1e-20, 3}, {0, 1, 1}, {1, 0, 1}})[0], 0.375, 1e-12);
    // Narrow, and far from 0.
    const double far = 1e6;
    CHECK_NEAR(student_wins({{far + 0x1p-20, 0x1p-21, 1}, {far, 0x1p-21, 1}})[0], 0.75, 1e-12);
    // Out of reach of everything else.
    CHECK(student_wins({{0, 1, 1e7}, {100, 0, 1}}) == std::vector<double>{0.0, 1.0});
    CHECK(student_wins({{0, 1, 1e7}, {-100, 0, 1}}) == std::vector<double>{1.0, 0.0});
}

TEST(winning_sums_to_one_for_extreme_laws) {
    Rng rng(11);
    for (const std::size_t count : {1u, 2u, 5u, 30u, 200u}) {
        for (int round = 0; round < 10; ++round) {
            std::vector<BetaLaw> betas(count);
            for (BetaLaw& law : betas)
                law = {log_uniform(rng, 1e-9, 1e12), log_uniform(rng, 1e-9, 1e12)};
            check_probabilities(beta_wins(betas));
            std::vector<StudentLaw> students(count);
            for (StudentLaw& law : students)
                law = {rng.normal(), log_uniform(rng, 1e-8, 1e8), log_uniform(rng, 1, 1e7)};
            check_probabilities(student_wins(students));
        }
    }
}

TEST(winning_has_the_same_bits_everywhere) {
    CHECK(beta_wins({{3, 20}, {30, 250}, {1, 12}})[0] == 0x1.0145669985a41p-1);
    CHECK(student_wins({{0, 1, 3}, {0.5, 2, 8}, {1, 0, 1}})[0] == 0x1.2796ab4167c97p-3);
}

TEST(winning_shares) {
    CHECK(shares({{4.0, -1.0}}) == std::vector<double>{1.0});
    CHECK(shares({{1, 3}, {2}}) == std::vector<double>{0.5, 0.5});
    CHECK(shares({{1, 2, 3, 4}, {2.5, 0}}) == std::vector<double>{0.75, 0.25});
    // (2, 2, 2) by thirds, (2, 2, 0) by halves, (1, 2, 2) by halves, (1, 2, 0) to the second.
    const std::vector<double> wins = shares({{1, 2}, {2}, {0, 2}});
    CHECK_NEAR(wins[0], 5.0 / 24, 1e-15);
    CHECK_NEAR(wins[1], 14.0 / 24, 1e-15);
    CHECK_NEAR(wins[2], 5.0 / 24, 1e-15);
    // Zeros of both signs tie.
    CHECK(shares({{0.0}, {-0.0}}) == std::vector<double>{0.5, 0.5});
}

TEST(winning_refuses_bad_laws) {
    CHECK_THROWS(beta_wins({}), std::invalid_argument);
    for (const double bad : {0.0, -1.0, 1e-10, 1e13, kInfinity, kNan}) {
        CHECK_THROWS(beta_wins({{1, 1}, {bad, 1}}), std::invalid_argument);
        CHECK_THROWS(beta_wins({{1, 1}, {1, bad}}), std::invalid_argument);
    }
    CHECK_THROWS(student_wins({}), std::invalid_argument);
    for (const double bad : {1e151, -1e151, kInfinity, -kInfinity, kNan})
        CHECK_THROWS(student_wins({{0, 1, 1}, {bad, 1, 1}}), std::invalid_argument);
    for (const double bad : {-1.0, 1e-151, 1e151, kInfinity, kNan})
        CHECK_THROWS(student_wins({{0, 1, 1}, {0, bad, 1}}), std::invalid_argument);
    for (const double bad : {0.0, -1.0, 0.09, kInfinity, kNan})
        CHECK_THROWS(student_wins({{0, 1, 1}, {0, 1, bad}}), std::invalid_argument);
    CHECK_THROWS(shares({}), std::invalid_argument);
    CHECK_THROWS(shares({{1.0}, {}}), std::invalid_argument);
    for (const double bad : {kInfinity, -kInfinity, kNan})
        CHECK_THROWS(shares({{1.0}, {1.0, bad}}), std::invalid_argument);
}
