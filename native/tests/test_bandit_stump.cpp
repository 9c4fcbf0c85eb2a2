#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "banditree/bandit_forest/bandit_stump.hpp"
#include "banditree/bandit_forest/binarizer.hpp"
#include "banditree/random/rng.hpp"
#include "check.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

const std::vector<Bit> kTwoBits = {{0, 0.5, kInfinity}, {1, 0.5, kInfinity}};
const std::vector<std::uint8_t> kTwoActive = {1, 1};

std::vector<Bit> bits_of(const Values& column, Kind kind) {
    const Kinds kinds = {kind};
    const Binarizer binarizer({column.data(), column.size(), 1}, kinds);
    return {binarizer.bits().begin(), binarizer.bits().end()};
}

Values lows(const std::vector<Bit>& bits) {
    Values values;
    for (const Bit& bit : bits) values.push_back(bit.low);
    return values;
}

Values highs(const std::vector<Bit>& bits) {
    Values values;
    for (const Bit& bit : bits) values.push_back(bit.high);
    return values;
}

}  // namespace

TEST(binarizer_cuts_numbers_into_fifths) {
    Values values;
    for (int i = 0; i < 100; ++i) values.push_back(99 - i);
    const auto bits = bits_of(values, Kind::number);
    CHECK(lows(bits) == (Values{-kInfinity, 19.5, 39.5, 59.5, 79.5}));
    CHECK(highs(bits) == (Values{19.5, 39.5, 59.5, 79.5, kInfinity}));
    CHECK(bits_of({3, 1, 2}, Kind::number).size() == 3);
}

TEST(binarizer_leaves_out_bits_that_tell_nothing) {
    CHECK(bits_of({4, 4, 4}, Kind::number).empty());
    CHECK(bits_of({kNan, kNan}, Kind::number).empty());
    CHECK(lows(bits_of({0, 1, 1}, Kind::number)) == Values{0.5});
    CHECK(bits_of({0, 1, kNan}, Kind::number).size() == 2);
    CHECK(bits_of({4, kNan}, Kind::number).size() == 1);
    CHECK(lows(bits_of({2, 5, 7}, Kind::category)) == (Values{2, 5, 7}));
    CHECK(lows(bits_of({2, 5}, Kind::category)) == Values{5});
}

TEST(bits_hold_up_to_their_high_cut_and_never_for_missing) {
    const Bit fifth{0, 1.0, 2.0};
    CHECK(!fifth.holds(1.0) && fifth.holds(1.5) && fifth.holds(2.0) && !fifth.holds(2.1));
    CHECK(!fifth.holds(kNan));
    const Bit category{0, 3, 3};
    CHECK(category.holds(3) && !category.holds(4) && !category.holds(kNan));
}

// Inequality (3) with K = 2, M = 2, D = 1, L = 1, delta = 0.05: 4 K M D L / delta = 320. Rewards
// are 0, so no variable is ahead, and one goes once
//   epsilon = 0.8 >= 4 sqrt(log(320 t^2) / (2 t)).
// t = 205: log(13448000) = 16.4144, / 410 = 0.0400349, root 0.200087, times 4 = 0.80035: no.
// t = 206: log(13579520) = 16.4241, / 412 = 0.0398643, root 0.199660, times 4 = 0.79864: yes.
// Arms take turns: the second arm's 206th play is observation 412.
TEST(equal_variables_are_eliminated_at_the_play_that_inequality_3_says) {
    const Contest contest{kTwoActive, 320, 160};
    CHECK_NEAR(variable_radius(contest, 205), 0.80035, 5e-6);
    CHECK_NEAR(variable_radius(contest, 206), 0.79864, 5e-6);
    BanditStump stump({0, 1}, 0.8, false, 2);
    const Values context = {0, 1};
    for (std::uint32_t i = 0; i < 411; ++i) stump.learn(i % 2, 0, {kTwoBits, context}, contest);
    CHECK(!stump.selected());
    stump.learn(1, 0, {kTwoBits, context}, contest);
    CHECK(stump.selected() && stump.variable() == 0);
}

// With a quarter of the radii, the left-hand sides meet a quarter of the right-hand ones.
TEST(a_smaller_radius_eliminates_earlier) {
    const Contest usual{kTwoActive, 320, 160}, narrow{kTwoActive, 320, 160, 0.25};
    CHECK_NEAR(variable_radius(narrow, 7), variable_radius(usual, 7) / 4, 1e-12);
    CHECK_NEAR(arm_radius(narrow, 7), arm_radius(usual, 7) / 4, 1e-12);
}

// The same with a gap. Arm 0 is right where x_1 = 0, arm 1 where x_1 = 1, and each arm meets the
// four contexts in turn. After t = 4 n plays of each arm, for the variable x_1:
//   mu_{0,0} = 1/2, mu_{1,1} = 1/2, so its worth is 1; for x_0 all mu are 1/4: worth 1/2.
// With epsilon = 0.5 the left-hand side is 1.0 at t = 124, where the right-hand side is
//   4 sqrt(log(320 * 15376) / 248) = 4 sqrt(15.4088 / 248) = 0.99706: x_0 goes.
// At t = 123, (1, 1) was met 30 times and the others 31 times: worth of x_1 1, of x_0 62/123,
//   gap 0.49593, left 0.99593; right 4 sqrt(log(320 * 15129) / 246) = 1.00058: not yet.
// Between the two, after play 124 of arm 0, t is 123 still.
TEST(a_worse_variable_is_eliminated_at_the_play_that_inequality_3_says) {
    const Contest contest{kTwoActive, 320, 160};
    BanditStump stump({0, 1}, 0.5, false, 2);
    const auto play = [&](std::uint32_t observation) {
        const std::uint32_t arm = observation % 2, turn = observation / 2 % 4;
        const Values context = {double(turn % 2), double(turn / 2)};
        stump.learn(arm, context[1] == arm ? 1 : 0, {kTwoBits, context}, contest);
    };
    for (std::uint32_t i = 0; i < 247; ++i) play(i);
    CHECK(!stump.selected());
    play(247);
    CHECK(stump.selected() && stump.variable() == 1);
    CHECK(stump.cell(0, false).count == 62 && stump.cell(0, false).sum == 62);
    CHECK(stump.cell(1, false).count == 62 && stump.cell(1, false).sum == 0);
}

// Inequality (4) with K = 2, L = 1: 4 K L / delta = 160. Arm 0 always wins, arm 1 never, so with
// epsilon = 0.4 the left-hand side is 1.4. The right-hand side 2 sqrt(log(160 t^2) / (2 t)) is
//   t =  9: 2 sqrt(log(12960) / 18) = 2 sqrt(0.526090) = 1.45064: no.
//   t = 10: 2 sqrt(log(16000) / 20) = 2 sqrt(0.484017) = 1.39143: yes.
TEST(arms_are_eliminated_at_the_play_that_inequality_4_says) {
    const Contest contest{kTwoActive, 0, 160};
    CHECK_NEAR(arm_radius(contest, 9), 1.45064, 5e-6);
    CHECK_NEAR(arm_radius(contest, 10), 1.39143, 5e-6);
    BanditStump stump({}, 0.4, true, 2);
    for (std::uint32_t i = 0; i < 19; ++i) stump.learn(i % 2, i % 2 == 0, {kTwoBits, {}}, contest);
    CHECK(!stump.settled(false, kTwoActive));
    stump.learn(1, 0, {kTwoBits, {}}, contest);
    CHECK(stump.settled(false, kTwoActive));
    CHECK(stump.remains(0, false) && !stump.remains(1, false));
}

// Worths that move late and fast, three variables that differ, and an arm that would mislead if it
// were active: after each observation the candidates are those that the inequality leaves.
TEST(variables_are_eliminated_as_if_every_observation_were_tested) {
    const std::vector<Bit> bits = {{0, 0.5, 2}, {1, 0.5, 2}, {2, 0.5, 2}};
    std::vector<std::uint8_t> active = {1, 1, 1};
    const Contest contest{active, 320, 160};
    BanditStump stump({0, 1, 2}, 0.5, false, 3);
    double plays[3] = {}, sums[3][3][2] = {};
    std::vector<std::uint32_t> left = {0, 1, 2};
    Rng rng(8);
    for (int n = 0; n < 2500; ++n) {
        if (n == 60) active[2] = 0, stump.arms_changed(active);
        const auto arm = static_cast<std::uint32_t>(rng.integer(3));
        const double x = static_cast<double>(rng.integer(2));
        // The third bit says x, the second often does, the first never.
        const Values context = {double(n % 2), rng.integer(4) > 0 ? x : 1 - x, x};
        const double reward = arm == 2 ? context[0] : n > 300 && x == arm;
        stump.learn(arm, reward, {bits, context}, contest);
        ++plays[arm];
        for (int i = 0; i < 3; ++i) sums[arm][i][context[i] == 1] += reward;
        if (left.size() == 1) continue;
        const std::uint32_t k = active[2] ? 3 : 2;
        double worth[3] = {}, best = 0;
        for (const auto i : left) {
            for (int v = 0; v < 2; ++v) {
                double highest = 0;
                for (std::uint32_t a = 0; a < k; ++a)
                    highest = std::max(highest, sums[a][i][v] / plays[a]);
                worth[i] += highest;
            }
            best = std::max(best, worth[i]);
        }
        const double t = *std::min_element(plays, plays + k);
        const double right = 4 * std::sqrt(std::log(320 * t * t) / (2 * t));
        if (t > 0)
            std::erase_if(
                left, [&](auto i) { return best - worth[i] + 0.5 >= right && worth[i] != best; });
        CHECK(std::ranges::equal(left, stump.candidates()));
        if (left.size() == 2) CHECK(left == (std::vector<std::uint32_t>{1, 2}));
    }
    CHECK(stump.selected() && stump.variable() == 2);
}

// With arms 0 and 2, x_0 is worth 1/2 + 1/2 and x_1 is worth 1/4 + 1/4; without arm 2, 1/2 both.
TEST(an_arm_that_comes_back_counts_from_the_next_observation) {
    std::vector<std::uint8_t> active = {1, 1, 0};
    const Contest contest{active, 480, 240};
    BanditStump stump({0, 1}, 0.5, false, 3);
    const auto play = [&](std::uint32_t arm, std::uint32_t turn) {
        const Values context = {double(turn % 2), double(turn / 2 % 2)};
        const double rewards[] = {1 - context[0], 0, context[0]};
        stump.learn(arm, rewards[arm], {kTwoBits, context}, contest);
    };
    for (std::uint32_t turn = 0; turn < 200; ++turn)
        for (std::uint32_t arm = 0; arm < 3; ++arm) play(arm, turn);
    CHECK(!stump.selected());
    active[2] = 1;
    stump.arms_changed(active);
    play(1, 0);
    CHECK(stump.selected() && stump.variable() == 0);
}

TEST(no_arm_is_eliminated_before_all_were_played) {
    const std::vector<std::uint8_t> active = {1, 1, 1};
    const Contest contest{active, 0, 240};
    BanditStump stump({}, 0.4, true, 3);
    for (std::uint32_t i = 0; i < 400; ++i) stump.learn(i % 2, i % 2, {kTwoBits, {}}, contest);
    CHECK(stump.remains(0, false) && stump.remains(1, false) && stump.remains(2, false));
    stump.learn(2, 0, {kTwoBits, {}}, contest);
    CHECK(stump.remains(0, false) && !stump.settled(false, active));
    for (std::uint32_t i = 0; i < 20; ++i) stump.learn(2, 0, {kTwoBits, {}}, contest);
    CHECK(stump.settled(false, active) && stump.remains(1, false));
}
