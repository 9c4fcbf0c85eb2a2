#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "banditree/bandit_forest/bandit_forest.hpp"
#include "check.hpp"
#include "naive_bandit_forest.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

using Arms = std::vector<std::uint32_t>;

constexpr std::uint32_t kWarmUp = 100;

ForestSettings settings_of(std::uint32_t n_trees, std::uint32_t depth, double epsilon_low,
                           double epsilon_high) {
    ForestSettings settings;
    settings.n_trees = n_trees;
    settings.depth = depth;
    settings.epsilon_low = epsilon_low;
    settings.epsilon_high = epsilon_high;
    settings.seed = 7;
    settings.warm_up = kWarmUp;
    return settings;
}

BanditForest forest_of(const ForestSettings& settings, std::size_t n_arms, Kinds kinds = {}) {
    BanditForest forest(settings);
    forest.set_kinds(std::move(kinds));
    for (std::size_t arm = 0; arm < n_arms; ++arm) forest.add_arm();
    return forest;
}

Arms arms_up_to(std::size_t n) {
    Arms arms;
    for (std::uint32_t arm = 0; arm < n; ++arm) arms.push_back(arm);
    return arms;
}

// Random rewards that depend on the arm and two of the bits.
struct Stream {
    Rng rng;
    std::size_t n_bits;
    std::size_t n_arms;
    double share_of_ones = 0.5;

    Values context() {
        Values context(n_bits);
        for (double& value : context) value = rng.uniform() < share_of_ones ? 1 : 0;
        return context;
    }
    double reward(std::uint32_t arm, const Values& context) {
        const double p = arm == 0   ? 0.4
                         : arm == 1 ? 0.9 * context[0]
                                    : 0.9 - 0.3 * arm + 0.6 * context[2];
        return rng.uniform() < p ? 1 : 0;
    }
};

std::vector<double> replies(const BanditForest& forest, std::size_t n_bits) {
    std::vector<double> all;
    Stream stream{Rng(99), n_bits, forest.n_arms()};
    Rng draws(5);
    Arms active;
    for (const std::uint32_t arm : arms_up_to(forest.n_arms()))
        if (forest.is_active(arm)) active.push_back(arm);
    for (int i = 0; i < 30; ++i) {
        const Values context = stream.context();
        all.push_back(forest.decide(context, active, draws));
        for (const double mean : forest.expected_rewards(context)) all.push_back(mean);
        for (const auto& view : forest.explain(context, active.front())) {
            all.push_back(static_cast<double>(view.path.size()) + 10 * view.finished);
            all.push_back(view.tally.count);
        }
    }
    return all;
}

void feed(BanditForest& forest, Stream& stream, int n) {
    for (int i = 0; i < n; ++i) {
        const Values context = stream.context();
        const auto arm = static_cast<std::uint32_t>(stream.rng.integer(stream.n_arms));
        forest.learn(arm, context, stream.reward(arm, context));
    }
}

// Whatever restore accepts must be safe to use; the sanitizers watch.
bool is_refused(const BanditForest& forest, const Values& state) {
    BanditForest other(forest.settings());
    try {
        other.restore(state);
    } catch (const std::invalid_argument&) {
        return true;
    }
    if (other.n_arms() != 3 || other.kinds().size() != 3) return false;
    const Arms active = {std::uint32_t(!other.is_active(0))};
    for (int i = 0; i < 8; ++i) {
        const Values context = {double(i % 2), double(i / 2 % 2), double(i / 4)};
        other.learn(0, context, 1);
        other.expected_rewards(context);
        other.propensities(context, active);
    }
    return false;
}

void check_damaged_states(BanditForest& forest) {
    const Values good = forest.dump();
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK_THROWS(forest.restore(std::span(good).first(size)), std::invalid_argument);
    Values longer = good;
    longer.push_back(0);
    CHECK_THROWS(forest.restore(longer), std::invalid_argument);
    CHECK(!is_refused(forest, good));
    std::size_t refused = 0;
    for (std::size_t i = 0; i < good.size(); ++i)
        for (const double wrong : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 3e6, 1e300, kNan, kInfinity}) {
            Values state = good;
            state[i] = wrong;
            refused += is_refused(forest, state);
        }
    CHECK(refused > 3 * good.size());
    CHECK(forest.dump() == good);
}

}  // namespace

// The whole forest, bits and all, without a variable: M = 0. No arm is ahead, so epsilon decides:
// 0.4 >= 2 sqrt(log(160 t^2) / (2 t)) first holds at t = 196 (195: 0.40029, 196: 0.39937).
TEST(forest_without_features_ends_its_exploration) {
    BanditForest forest = forest_of(settings_of(1, 3, 0.4, 0.4), 2);
    const Arms both = {0, 1};
    for (std::uint32_t i = 0; i < 391; ++i) forest.learn(i % 2, {}, 0);
    CHECK(forest.bits().empty());
    CHECK(forest.propensities({}, both) == (Values{0.5, 0.5}));
    CHECK(!forest.explain({}, 0)[0].finished);
    forest.learn(1, {}, 0);
    CHECK(forest.propensities({}, both) == (Values{1, 0}));
    CHECK(forest.explain({}, 0)[0].finished && forest.explain({}, 0)[0].path.empty());
    CHECK(forest.explain({}, 1)[0].tally.count == 196);
}

TEST(forest_agrees_with_the_naive_one) {
    std::size_t partial = 0, decided = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        ForestSettings settings = settings_of(3, 2, 0.8, 1.0);
        settings.delta = 0.9;
        if (seed == 3) settings.radius = 0.8;
        settings.seed = seed;
        BanditForest forest = forest_of(settings, 5, Kinds(4, Kind::number));
        naive::Forest naive(settings, 4, 5);
        // Rare ones leave cells in which arms are still tried when the variable is known.
        Stream stream{Rng(seed + 50), 4, 5, 0.05};
        Rng draws(seed);
        const Arms all = arms_up_to(5);
        for (int i = 0; i < 4000; ++i) {
            const Values context = stream.context();
            const naive::Word bits(context.begin(), context.end());
            const Values shares = forest.propensities(context, all);
            naive::Set drawn;
            for (const auto arm : all)
                if (shares[arm] > 0) drawn.insert(arm);
            if (drawn != naive.choices(bits)) {
                CHECK(drawn == naive.choices(bits));
                return;
            }
            partial += drawn.size() > 1 && drawn.size() < all.size();
            decided += drawn.size() == 1;
            const auto arm = forest.decide(context, all, draws);
            const double reward = stream.reward(arm, context);
            forest.learn(arm, context, reward);
            naive.learn({arm, bits, reward});
        }
        // The naive forest counts all four, also one that never varied during the warm-up.
        CHECK(forest.bits().size() == 4);
    }
    CHECK(partial > 20 && decided > 3000);
}

TEST(draws_are_uniform_over_the_arms_still_tried) {
    // Arm 2 never wins and goes early; arms 0 and 1 always win and stay until epsilon ends it.
    BanditForest forest = forest_of(settings_of(2, 1, 0.4, 0.4), 3);
    const Arms all = arms_up_to(3);
    for (std::uint32_t i = 0; i < 150; ++i) forest.learn(i % 3, {}, i % 3 < 2);
    CHECK(forest.propensities({}, all) == (Values{0.5, 0.5, 0}));
    CHECK(forest.propensities({}, Arms{2, 1}) == (Values{0, 1}));
    CHECK(forest.propensities({}, Arms{2}) == Values{1});
    Rng rng(3);
    int zeros = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto arm = forest.decide({}, all, rng);
        CHECK(arm < 2);
        zeros += arm == 0;
    }
    CHECK(zeros > 430 && zeros < 570);
}

TEST(majority_passes_over_arms_that_are_not_eligible) {
    BanditForest forest = forest_of(settings_of(3, 2, 0.8, 0.8), 3);
    const double rewards[] = {0.2, 0.9, 0.5};
    for (std::uint32_t i = 0; i < 900; ++i) forest.learn(i % 3, {}, rewards[i % 3]);
    CHECK(forest.propensities({}, arms_up_to(3)) == (Values{0, 1, 0}));
    CHECK(forest.propensities({}, Arms{2, 0}) == (Values{1, 0}));
}

TEST(paths_grow_along_the_selected_variables) {
    BanditForest forest = forest_of(settings_of(1, 2, 0.8, 0.8), 2, Kinds(1, Kind::category));
    for (std::uint32_t i = 0; i < 4000; ++i) {
        const Values context = {double(i / 2 % 3)};
        forest.learn(i % 2, context, i % 2 == 0 ? 0.5 : context[0] == 1);
    }
    CHECK(forest.bits().size() == 3);
    const Values context = {1};
    const auto view = forest.explain(context, 1)[0];
    CHECK(view.finished && view.path.size() == 2);
    // The root's four fifths of three bits may lack the one that matters.
    CHECK(std::any_of(view.path.begin(), view.path.end(), [](const BanditForest::Step& step) {
        return step.bit.feature == 0 && step.bit.low == 1 && step.value;
    }));
    CHECK(forest.propensities(context, Arms{0, 1}) == (Values{0, 1}));
    CHECK(forest.propensities(Values{2}, Arms{0, 1}) == (Values{1, 0}));
    CHECK(forest.propensities(Values{kNan}, Arms{0, 1}) == (Values{1, 0}));
    CHECK_NEAR(forest.expected_rewards(context)[1], 1, 1e-12);
    CHECK_NEAR(forest.expected_rewards(Values{0})[0], 0.5, 1e-12);
}

// Two bits: the root has one candidate and splits at once, and its children have one each, but they
// are not the deepest.
TEST(a_path_without_observations_tries_every_arm) {
    BanditForest forest = forest_of(settings_of(1, 3, 0.8, 0.8), 2, Kinds(2, Kind::number));
    forest.learn(0, Values{1, 1}, 1);
    for (std::uint32_t i = 0; i < 999; ++i) forest.learn(i % 2, Values{0, 0}, i % 2);
    CHECK(forest.propensities(Values{1, 1}, Arms{0, 1}) == (Values{0.5, 0.5}));
    CHECK(forest.expected_rewards(Values{1, 1}) == (Values{1, 0.5}));
    CHECK(forest.propensities(Values{0, 0}, Arms{0, 1}) == (Values{0, 1}));
    CHECK(forest.explain(Values{0, 0}, 0)[0].path.size() == 2);
}

TEST(warm_up_explores_and_loses_nothing) {
    BanditForest forest = forest_of(settings_of(3, 2, 0.4, 0.8), 3, Kinds(2, Kind::number));
    const Values context = {0, 1};
    for (std::uint32_t i = 0; i < kWarmUp - 1; ++i)
        forest.learn(i % 2, Values{double(i), 1}, i % 2);
    CHECK(forest.warming_up());
    CHECK(forest.propensities(context, arms_up_to(2)) == (Values{0.5, 0.5}));
    CHECK(forest.expected_rewards(context) == (Values{0, 1, 0.5}));
    CHECK(forest.explain(context, 0)[2].tally.count == 50);
    forest.learn(1, Values{99, 1}, 1);
    CHECK(!forest.warming_up() && forest.bits().size() == 5);
    CHECK_NEAR(forest.expected_rewards(context)[1], 1, 1e-12);
    CHECK(forest.expected_rewards(context)[2] == 0.5);
    CHECK(forest.explain(context, 0)[0].tally.count == 50);
}

TEST(features_may_come_later) {
    BanditForest forest = forest_of(settings_of(1, 1, 0.4, 0.8), 2, Kinds(1, Kind::number));
    forest.learn(0, Values{kNan}, 1);
    forest.set_kinds({Kind::category});
    forest.learn(0, Values{3}, 1);
    CHECK_THROWS(forest.set_kinds({Kind::number}), std::invalid_argument);
    CHECK_THROWS(forest.set_kinds({}), std::invalid_argument);
    forest.set_kinds({Kind::category, Kind::number});
    for (int i = 0; i < 98; ++i) forest.learn(1, Values{3, 0}, 0);
    // Missing or 3; missing or 0.
    CHECK(forest.bits().size() == 2);
    forest.set_kinds({Kind::category, Kind::number, Kind::category});
    forest.learn(1, Values{8, 1, 4}, 0);
    CHECK(forest.bits().size() == 2);
    CHECK_THROWS(forest.learn(1, Values{8, 1}, 0), std::invalid_argument);
}

TEST(a_new_arm_is_explored_everywhere) {
    BanditForest forest = forest_of(settings_of(3, 2, 0.8, 0.8), 2);
    for (std::uint32_t i = 0; i < 600; ++i) forest.learn(i % 2, {}, i % 2);
    CHECK(forest.propensities({}, arms_up_to(2)) == (Values{0, 1}));
    forest.add_arm();
    CHECK(forest.propensities({}, arms_up_to(3)) == (Values{0, 0.5, 0.5}));
    CHECK(forest.expected_rewards({})[2] == 0.5);
    for (int i = 0; i < 300; ++i) forest.learn(2, {}, 0);
    CHECK(forest.propensities({}, arms_up_to(3)) == (Values{0, 1, 0}));
}

TEST(removed_arms_count_neither_as_tried_nor_as_winners) {
    BanditForest forest = forest_of(settings_of(1, 1, 0.4, 0.4), 3);
    forest.set_active(2, false);
    // Arm 2 is never played: with it, no test could run.
    for (std::uint32_t i = 0; i < 150; ++i) forest.learn(i % 2, {}, i % 2);
    CHECK(forest.propensities({}, arms_up_to(2)) == (Values{0, 1}));
    CHECK_THROWS(forest.propensities({}, arms_up_to(3)), std::invalid_argument);
    forest.set_active(2, true);
    CHECK(forest.propensities({}, arms_up_to(3)) == (Values{0, 0.5, 0.5}));
    // Without the winner and the newcomer, the loser comes back.
    forest.set_active(1, false);
    forest.set_active(2, false);
    CHECK(forest.propensities({}, Arms{0}) == Values{1});
    CHECK(forest.explain({}, 0)[0].finished);
    forest.learn(1, {}, 0.25);
    CHECK(forest.explain({}, 1)[0].tally.count == 76);
}

TEST(restored_forest_goes_on_as_the_dumped_one) {
    for (const int before : {40, 700, 3000}) {
        BanditForest forest = forest_of(settings_of(3, 2, 0.6, 1.0), 3, Kinds(4, Kind::number));
        Stream stream{Rng(11), 4, 3};
        feed(forest, stream, before);
        forest.set_active(2, false);
        BanditForest copy(forest.settings());
        copy.restore(forest.dump());
        CHECK(copy.dump() == forest.dump());
        Stream again = stream;
        for (int part = 0; part < 4; ++part) {
            CHECK(replies(copy, 4) == replies(forest, 4));
            feed(forest, stream, 500);
            feed(copy, again, 500);
            if (part == 1) forest.set_active(2, true), copy.set_active(2, true);
            if (part == 2) forest.add_arm(), copy.add_arm();
        }
        CHECK(copy.dump() == forest.dump());
    }
}

TEST(restore_refuses_nonsense) {
    for (const int n : {20, 5000}) {
        BanditForest forest = forest_of(settings_of(1, 3, 0.9, 1.0), 3, Kinds(3, Kind::number));
        Stream stream{Rng(12), 3, 3};
        feed(forest, stream, n);
        check_damaged_states(forest);
    }
    // A leaf that may have children but has none yet, and might be given those of others.
    BanditForest forest = forest_of(settings_of(1, 3, 0.8, 0.8), 3, Kinds(3, Kind::number));
    for (std::uint32_t i = 0; i < 100; ++i)
        forest.learn(0, i == 0 ? Values{1, 1, 0} : Values{0, 0, 0}, 1);
    check_damaged_states(forest);
}

TEST(wrong_calls_change_nothing) {
    BanditForest forest = forest_of(settings_of(1, 1, 0.4, 0.8), 2, Kinds(1, Kind::number));
    const Values context = {1};
    CHECK_THROWS(forest.learn(0, context, 1.5), std::invalid_argument);
    CHECK_THROWS(forest.learn(0, context, kNan), std::invalid_argument);
    CHECK_THROWS(forest.learn(2, context, 1), std::out_of_range);
    CHECK_THROWS(forest.learn(0, Values{1, 2}, 1), std::invalid_argument);
    CHECK_THROWS(forest.set_active(2, false), std::out_of_range);
    CHECK_THROWS(forest.explain(context, 2), std::out_of_range);
    CHECK_THROWS(forest.propensities(context, Arms{}), std::invalid_argument);
    CHECK_THROWS(forest.propensities(context, Arms{0, 0}), std::invalid_argument);
    CHECK_THROWS(forest.propensities(context, Arms{0, 2}), std::out_of_range);
    CHECK(forest.dump() == forest_of(forest.settings(), 2, Kinds(1, Kind::number)).dump());
    CHECK_THROWS(BanditForest(settings_of(0, 1, 0.4, 0.8)), std::invalid_argument);
    CHECK_THROWS(BanditForest(settings_of(1, 0, 0.4, 0.8)), std::invalid_argument);
    CHECK_THROWS(BanditForest(settings_of(1, 1, 0.8, 0.4)), std::invalid_argument);
    for (const double radius : {0.0, -1.0, kNan, kInfinity}) {
        ForestSettings settings = forest.settings();
        settings.radius = radius;
        CHECK_THROWS(BanditForest(settings), std::invalid_argument);
    }
    ForestSettings narrow = forest.settings();
    narrow.radius = 0.25;
    CHECK_THROWS(BanditForest(narrow).restore(forest.dump()), std::invalid_argument);
    BanditForest other(settings_of(2, 1, 0.4, 0.8));
    CHECK_THROWS(other.restore(forest.dump()), std::invalid_argument);
}
