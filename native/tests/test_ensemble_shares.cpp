// The probability of winning when laws take part with some probability only.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "banditree/laws/winning.hpp"
#include "banditree/random/rng.hpp"
#include "check.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

double draw(const BetaLaw& law, Rng& rng) { return rng.beta(law.a, law.b); }
double draw(const StudentLaw& law, Rng& rng) {
    const double spread = rng.gamma(law.freedom / 2) / (law.freedom / 2);
    return law.location + law.scale * rng.normal() / std::sqrt(spread);
}

template <class Law>
Values frequencies(const std::vector<Law>& laws, const Values& shares, int rounds) {
    Rng rng(17);
    Values wins(laws.size(), 0);
    for (int round = 0; round < rounds; ++round) {
        double best = -std::numeric_limits<double>::infinity();
        std::size_t winner = 0;
        for (std::size_t i = 0; i < laws.size(); ++i) {
            if (rng.uniform() >= shares[i]) continue;
            const double value = draw(laws[i], rng);
            if (value <= best) continue;
            best = value;
            winner = i;
        }
        wins[winner] += 1.0 / rounds;
    }
    return wins;
}

template <class Law>
void check_against_draws(const std::vector<Law>& laws, const Values& shares) {
    constexpr int kRounds = 40000;
    const Values exact = win_probabilities(laws, shares);
    const Values found = frequencies(laws, shares, kRounds);
    CHECK_NEAR(std::accumulate(exact.begin(), exact.end(), 0.0), 1, 1e-12);
    for (std::size_t i = 0; i < laws.size(); ++i) {
        CHECK(exact[i] >= 0);
        const double error = std::sqrt(exact[i] * (1 - exact[i]) / kRounds);
        CHECK_NEAR(found[i], exact[i], 4 * error + 1e-9);
    }
}

}  // namespace

TEST(ensemble_shares_agree_with_draws) {
    check_against_draws<BetaLaw>({{3, 20}, {30, 250}, {1, 12}}, {1, 0.5, 0.1});
    check_against_draws<BetaLaw>({{0.3, 0.3}, {0.3, 0.3}, {5, 2}, {80, 30}}, {0.02, 1, 0.7, 0});
    check_against_draws<StudentLaw>({{0, 1, 3}, {0.5, 2, 8}, {1, 0, 1}}, {0.4, 0.9, 1});
    check_against_draws<StudentLaw>({{9, 1, 3}, {-5, 2, 8}, {0, 1, 4}}, {0.25, 1, 0.5});
    // One is certain to play; the others seldom do, as when there are many arms.
    std::vector<BetaLaw> many(40, {0.5, 0.7});
    Values shares(40, 1.0 / 32);
    std::fill(shares.begin(), shares.begin() + 8, 1.0);
    many[0] = {20, 10};
    check_against_draws(many, shares);
}

TEST(ensemble_shares_in_closed_form) {
    // A law far above the other wins whenever it takes part.
    const std::vector<StudentLaw> laws{{0, 1, 5}, {1e6, 1, 5}};
    CHECK_NEAR(win_probabilities(laws, Values{1, 0.3})[1], 0.3, 1e-9);
    // Two uniform draws.
    const std::vector<BetaLaw> even{{1, 1}, {1, 1}};
    CHECK_NEAR(win_probabilities(even, Values{1, 0.5})[1], 0.25, 1e-12);
    CHECK_NEAR(win_probabilities(even, Values{0, 1})[1], 1, 1e-12);
}

TEST(ensemble_shares_of_1_change_no_bit) {
    const std::vector<BetaLaw> betas{{3, 20}, {30, 250}, {1, 12}};
    const std::vector<StudentLaw> students{{0, 1, 3}, {0.5, 2, 8}, {1, 0, 1}};
    const Values ones(3, 1.0);
    CHECK(win_probabilities(betas, ones) == win_probabilities(betas));
    CHECK(win_probabilities(students, ones) == win_probabilities(students));
}

TEST(ensemble_shares_are_refused) {
    const std::vector<BetaLaw> laws{{1, 1}, {1, 1}};
    for (const Values& bad : {Values{1}, {0.5, 0.5}, {1, -0.1}, {1, 1.1}, {1, std::nan("")}})
        CHECK_THROWS(win_probabilities(laws, bad), std::invalid_argument);
}
