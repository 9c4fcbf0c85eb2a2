// The engines of the tree policies: pruned incremental trees, and what is decided with them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "banditree/engines/leader.hpp"
#include "banditree/engines/live_arm_tree.hpp"
#include "banditree/engines/online_tree_bootstrap.hpp"
#include "banditree/engines/refreshed_arm_tree.hpp"
#include "banditree/engines/tree_bootstrap.hpp"
#include "banditree/engines/tree_heuristic.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

// ---- an incremental tree that is pruned ----

TEST(one_of_those_offered_leads_even_without_numbers) {
    Rng rng(1);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 20; ++i) {
        Leader none(rng);
        for (const std::uint32_t arm : {3u, 5u}) none.offer(arm, nan);
        CHECK(none.arm() == 3 || none.arm() == 5);
        Leader one(rng);
        one.offer(3, nan);
        one.offer(5, -1e300);
        one.offer(7, nan);
        CHECK(one.arm() == 5);
    }
}

TEST(a_pruned_incremental_tree_is_the_pruned_batch_tree_after_every_row) {
    Rng rng(41);
    for (int round = 0; round < 40; ++round) {
        const Growth growth = random_growth(rng);
        const std::uint32_t max_bins = rng.integer(2) == 0 ? 0 : 4;
        const bool whole = rng.integer(2) == 0;
        const Rows rows = random_rows(rng, 90, 1, rng.integer(2) == 0);
        IncrementalTree tree(growth, max_bins);
        tree.set_kinds(kKinds);
        double alpha = random_alpha(rng);
        tree.set_alpha(alpha);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            tree.learn(rows.context(i), rows.y[i], 1);
            if (rng.integer(20) == 0) tree.set_alpha(alpha = random_alpha(rng));
            CHECK(tree.alpha() == alpha);
            const Tree batch = batch_tree(rows.part(0, i + 1), growth, max_bins);
            CHECK(agrees(tree, batch.prune(alpha), rng, whole));
        }
    }
}

TEST(alpha_may_fall_after_parts_were_left_ungrown) {
    Rng rng(42);
    const Rows rows = random_rows(rng, 200, 1, true);
    IncrementalTree tree({}, 0);
    tree.set_kinds(kKinds);
    tree.learn_many(rows.matrix(), rows.y, {});
    for (const double alpha : {kInfinity, 5.0, 0.5, 0.0, 3.0}) {
        tree.set_alpha(alpha);
        CHECK(agrees(tree, batch_tree(rows, {}, 0).prune(alpha), rng, true));
    }
}

TEST(weights_count_in_pruning) {
    Rng rng(43);
    const Rows rows = random_rows(rng, 120, 1, true);
    Values weights(rows.size());
    rng.multinomial_weights(std::span<double>(weights));
    IncrementalTree tree({}, 0);
    tree.set_kinds(kKinds);
    tree.set_alpha(0.7);
    tree.learn_many(rows.matrix(), rows.y, weights);
    Encoding encoding;
    encoding.kinds = kKinds;
    const Dataset data = encode(rows.matrix(), rows.y, weights, encoding);
    const Tree full = grow(data, Sample::of(data, std::span<const double>()), {}).tree;
    CHECK(agrees(tree, full.prune(0.7), rng, true));
}

// ---- the tree of an arm ----

TEST(the_schedule_grows_by_a_quarter) {
    const std::vector<std::size_t> expected{1, 2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38};
    std::size_t point = 0;
    for (const std::size_t next : expected) CHECK((point = next_point(point)) == next);
    CHECK(last_point(0, 0) == 0 && last_point(0, 6) == 5 && last_point(5, 37) == 30);
}

TEST(folds_do_not_depend_on_later_rows) {
    const auto few = folds_of(100, 10), many = folds_of(5000, 10);
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
    for (std::uint32_t fold = 0; fold < 10; ++fold) {
        const auto n = static_cast<double>(std::count(many.begin(), many.end(), fold));
        CHECK_NEAR(n, 500, 5 * std::sqrt(5000 * 0.09));
    }
}

TEST(an_arm_has_the_cross_validated_batch_tree_after_every_row) {
    Rng rng(44);
    for (int round = 0; round < 12; ++round) {
        const Growth growth = random_growth(rng);
        const std::uint32_t max_bins = rng.integer(2) == 0 ? 0 : 5;
        const auto n_folds = static_cast<std::uint32_t>(2 + rng.integer(9));
        const Rows rows = random_rows(rng, 70, 1, rng.integer(2) == 0);
        LiveArmTree arm({growth, max_bins, n_folds});
        arm.set_kinds(kKinds);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            arm.learn(rows.context(i), rows.y[i]);
            const Rows sofar = rows.part(0, i + 1);
            const double alpha = expected_alpha(sofar, growth, max_bins, n_folds);
            CHECK_NEAR(arm.alpha(), alpha, 1e-9 * (1 + arm.alpha()));
            const Tree expected = batch_tree(sofar, growth, max_bins).prune(arm.alpha());
            const Values context = random_context(rng);
            CHECK(leaf_agrees(arm.leaf(context.data()), arm.offset(),
                              expected.leaf_of(context.data())));
            if (i % 3 == 0) CHECK(same_tree(arm.pruned(), expected));
        }
    }
}

TEST(a_tree_is_grown_anew_when_its_rows_have_grown_by_a_share) {
    Refreshes at;
    std::vector<std::size_t> grown, chosen;
    for (std::size_t n = 1; n <= 60; ++n) {
        const Refreshes due = at.at(n, 0.2);
        if (due.grown_at > at.grown_at) grown.push_back(n);
        if (due.chosen_at > at.chosen_at) chosen.push_back(n);
        at = due;
    }
    CHECK((grown ==
           std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 48, 58}));
    CHECK((chosen == std::vector<std::size_t>{1, 2, 3, 4, 5, 8, 10, 15, 22, 33, 48}));
    const Refreshes at_once = Refreshes{}.at(60, 0.2);
    CHECK(at_once.grown_at == at.grown_at && at_once.chosen_at == at.chosen_at);
}

// All rows so far, counted where the tree of the first rows puts them.
Moments counted(const Tree& tree, const Rows& rows, const double* context) {
    Moments moments;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (&tree.leaf_of(rows.context(i).data()) == &tree.leaf_of(context))
            moments.add(1, rows.y[i]);
    return moments;
}

TEST(a_refreshed_tree_is_the_batch_tree_of_its_last_refresh_with_all_rows_counted) {
    Rng rng(47);
    for (int round = 0; round < 16; ++round) {
        const Growth growth = random_growth(rng);
        const std::uint32_t max_bins = rng.integer(2) == 0 ? 0 : 5;
        const double share = rng.integer(2) == 0 ? 0.1 : 0.7;
        const Rows rows = random_rows(rng, 120, 1, rng.integer(2) == 0);
        RefreshedArmTree arm({growth, max_bins, 10, share});
        arm.set_kinds(kKinds);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            arm.learn(rows.context(i), rows.y[i]);
            const Refreshes at = Refreshes{}.at(i + 1, share);
            const Tree tree = batch_tree(rows.part(0, at.grown_at), growth, max_bins);
            const Tree expected = tree.prune(arm.alpha());
            CHECK(arm.pruned().n_leaves() == expected.n_leaves());
            const Values context = random_context(rng);
            const Moments leaf = counted(expected, rows.part(0, i + 1), context.data());
            const Moments& found = arm.leaf(context.data());
            CHECK(found.n == leaf.n);
            CHECK_NEAR(arm.offset() + found.mean(), leaf.mean(), 1e-9);
            CHECK_NEAR(found.cost(), leaf.cost(), 1e-7 * (1 + leaf.cost()));
            if (at.grown_at == i + 1) CHECK(same_tree(arm.pruned(), expected));
        }
    }
}

TEST(an_arm_learns_many_as_it_learns_each) {
    Rng rng(45);
    for (int round = 0; round < 40; ++round) {
        const std::uint32_t max_bins = rng.integer(2) == 0 ? 0 : 5;
        const Rows rows = random_rows(rng, 150, 1, rng.integer(2) == 0);
        const double refreshes[] = {0, 0.05, 0.5};
        const ArmTreeSettings settings{{}, max_bins, 10, refreshes[round % 3]};
        const auto each = ArmTree::make(settings), many = ArmTree::make(settings);
        each->set_kinds(kKinds);
        many->set_kinds(kKinds);
        for (std::size_t i = 0; i < rows.size(); ++i) each->learn(rows.context(i), rows.y[i]);
        learn_in_chunks(rng, rows,
                        [&](const Rows& part) { many->learn_many(part.matrix(), part.y); });
        CHECK_NEAR(many->alpha(), each->alpha(), 1e-9);
        CHECK(same_tree(many->pruned(), each->pruned()));
    }
}

// ---- decisions ----

TEST(the_leader_breaks_ties_at_random) {
    Rng rng(46);
    std::vector<int> wins(4);
    for (int i = 0; i < 30000; ++i) {
        Leader leader(rng);
        const double values[] = {1, 3, 3, 3};
        for (std::uint32_t arm = 0; arm < 4; ++arm) leader.offer(arm, values[arm]);
        ++wins[leader.arm()];
    }
    CHECK(wins[0] == 0);
    for (int arm = 1; arm < 4; ++arm) CHECK_NEAR(wins[arm], 10000, 5 * std::sqrt(30000 * 2.0 / 9));
}

TEST(a_leader_without_ties_draws_nothing) {
    Rng rng(47);
    const auto before = rng.state();
    Leader leader(rng);
    for (std::uint32_t arm = 0; arm < 4; ++arm) leader.offer(arm, arm % 3);
    CHECK(leader.arm() == 2 && rng.state() == before);
}

TEST(tree_heuristic_reads_the_leaves_of_each_arm) {
    Rng rng(48);
    const Rows rows = random_rows(rng, 300, 3, true);
    TreeHeuristic engine(ArmTreeSettings{}, Posterior{});
    for (int arm = 0; arm < 3; ++arm) engine.add_arm();
    engine.set_kinds(kKinds);
    engine.learn_many(rows.arms, rows.matrix(), rows.y);
    engine.add_arm();
    for (std::uint32_t arm = 0; arm < 3; ++arm) {
        const Rows own = rows.of(arm);
        const Tree expected = batch_tree(own, {}, 0).prune(engine.arm(arm).alpha());
        const Values context = random_context(rng);
        const Evidence leaf = engine.evidence(arm, context.data());
        CHECK(leaf.n == expected.leaf_of(context.data()).n);
        CHECK_NEAR(leaf.total / leaf.n, expected.leaf_of(context.data()).mean, 1e-12);
    }
    CHECK(engine.evidence(3, random_context(rng).data()).n == 0);
}

namespace {

TreeBootstrap::Settings bootstrap_settings(std::uint32_t max_bins, TreeBootstrap::Pruning pruning) {
    TreeBootstrap::Settings settings;
    settings.max_bins = max_bins;
    settings.n_folds = 5;
    settings.pruning = pruning;
    settings.cold_start = TreeBootstrap::ColdStart::until_success;
    settings.patience = 1;
    return settings;
}

void teach(TreeBootstrap& engine, const Rows& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        engine.learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
}

}  // namespace

TEST(a_bootstrap_draw_is_the_tree_on_the_resample) {
    Rng rng(49);
    for (const auto pruning : {TreeBootstrap::Pruning::scheduled, TreeBootstrap::Pruning::none}) {
        for (const std::uint32_t max_bins : {0u, 5u}) {
            const Rows rows = random_rows(rng, 80, 1, true);
            TreeBootstrap engine(bootstrap_settings(max_bins, pruning));
            engine.add_arm();
            engine.set_kinds(kKinds);
            teach(engine, rows);
            const bool scheduled = pruning == TreeBootstrap::Pruning::scheduled;
            CHECK_NEAR(engine.alpha(0), scheduled ? expected_alpha(rows, {}, max_bins, 5) : 0,
                       1e-9);
            const Dataset data = encoded(rows, rows, max_bins);
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Rng mine(seed), its(seed);
                Values weights(rows.size());
                mine.multinomial_weights(std::span<double>(weights));
                const Tree full = grow(data, Sample::of(data, weights), {}).tree;
                const Values context = random_context(rng);
                CHECK_NEAR(engine.draw(0, context.data(), its),
                           full.prune(engine.alpha(0)).leaf_of(context.data()).mean, 1e-12);
                CHECK(mine.state() == its.state());
            }
        }
    }
}

TEST(a_resample_in_one_fold_gives_a_leaf) {
    // Three rows are in the folds 0, 2 and 2; without the first there is nothing to validate on.
    auto settings = bootstrap_settings(0, TreeBootstrap::Pruning::every_fit);
    settings.n_folds = 3;
    TreeBootstrap engine(settings);
    engine.add_arm();
    engine.set_kinds({Kind::number});
    for (const double x : {1, 2, 3}) engine.learn(0, Values{x}, x < 3);
    CHECK((folds_of(3, 3) == std::vector<std::uint32_t>{0, 2, 2}));
    int met = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Rng mine(seed), its(seed);
        Values weights(3);
        mine.multinomial_weights(std::span<double>(weights));
        if (weights != Values{0, 2, 1}) continue;
        ++met;
        const double three = 3;
        CHECK_NEAR(engine.draw(0, &three, its), 2.0 / 3, 1e-12);
    }
    CHECK(met > 0);
}

TEST(made_up_rows_come_first_and_patience_ends) {
    auto settings = bootstrap_settings(0, TreeBootstrap::Pruning::scheduled);
    settings.patience = 2;
    TreeBootstrap until(settings);
    settings.cold_start = TreeBootstrap::ColdStart::prior;
    TreeBootstrap prior(settings);
    const Values context{1, 2, 3};
    for (TreeBootstrap* engine : {&until, &prior}) {
        engine->add_arm();
        engine->set_kinds(kKinds);
        CHECK(engine->is_cold(0));
        engine->learn(0, context, 0);
    }
    CHECK(prior.rows(0).n_rows() == 3 && !prior.is_cold(0));
    CHECK(prior.rows(0).reward(0) == 1 && prior.rows(0).reward(1) == 0);
    CHECK(until.rows(0).n_rows() == 1 && until.is_cold(0));
    until.learn(0, context, 0);
    CHECK(!until.is_cold(0) && until.standing(0).failures == 2);
}

TEST(made_up_continuous_rewards_follow_the_range_of_all_arms) {
    auto settings = bootstrap_settings(4, TreeBootstrap::Pruning::every_fit);
    settings.cold_start = TreeBootstrap::ColdStart::prior;
    settings.binary = false;
    TreeBootstrap engine(settings);
    for (int arm = 0; arm < 2; ++arm) engine.add_arm();
    engine.set_kinds(kKinds);
    const Values context{1, 2, 3};
    engine.learn(0, context, 0.5);
    CHECK(engine.rows(0).reward(0) == 0.5 && engine.rows(0).reward(1) == 0.5);
    engine.learn(1, context, -3);
    engine.learn(1, context, 1000);
    for (std::uint32_t arm = 0; arm < 2; ++arm) {
        CHECK(engine.rows(arm).reward(0) == 1000 && engine.rows(arm).reward(1) == -3);
        const Dataset& data = engine.rows(arm).data();
        for (std::size_t i = 0; i < data.n_rows(); ++i)
            CHECK(data.offset + data.y[i] == engine.rows(arm).reward(i));
        CHECK(data.offset == 0);
    }
}

TEST(arms_that_no_replica_knows_come_first) {
    OnlineTreeBootstrap::Settings settings;
    settings.n_replicas = 1;
    OnlineTreeBootstrap engine(settings);
    for (int arm = 0; arm < 2; ++arm) engine.add_arm();
    engine.set_kinds(kKinds);
    const Values context{1, 2, 3};
    const std::vector<std::int64_t> arms{0, 1};
    Rng rng(5);
    for (std::size_t row = 0; engine.is_cold(0); ++row) {
        engine.learn(0, context, 1);
        CHECK(engine.is_cold(0) == !engine.members(0, row)[0]);
    }
    for (int i = 0; i < 20; ++i) CHECK(engine.decide(context.data(), arms, rng) == 1);
}

TEST(a_leaf_that_never_paid_has_heavy_tails) {
    Posterior posterior;
    posterior.binary = false;
    Spread all;
    for (const double reward : {0.0, 2.0, 2.0, 0.0}) all.add(reward);
    CHECK(all.lowest == 0 && all.highest == 2);
    const StudentLaw never = posterior.student({9, 0, 0}, all, 0.25);
    CHECK(never.freedom == 0.5);
    CHECK_NEAR(never.scale, 60 * 0.5 / 10, 1e-12);
    CHECK(posterior.student({9, 0, 0}, all, 0).freedom == 11);
    CHECK(posterior.student({9, 18, 0}, all, 0.25).freedom == 11);
    CHECK(posterior.student({1, 0, 0}, all, 0.25).freedom == 3);
    // Three payoffs of 1 among 21 rewards.
    CHECK_NEAR(posterior.student({21, 3, 18.0 / 7}, all, 0.25).freedom, 5, 1e-12);
}

TEST(the_bootstrap_learns_many_as_it_learns_each) {
    Rng rng(50);
    for (const std::uint32_t max_bins : {0u, 5u}) {
        const Rows rows = random_rows(rng, 200, 3, true);
        auto settings = bootstrap_settings(max_bins, TreeBootstrap::Pruning::scheduled);
        settings.cold_start = TreeBootstrap::ColdStart::prior;
        TreeBootstrap each(settings), many(settings), restored(settings);
        for (TreeBootstrap* engine : {&each, &many, &restored}) {
            for (int arm = 0; arm < 3; ++arm) engine->add_arm();
            engine->set_kinds(kKinds);
        }
        teach(each, rows);
        learn_in_chunks(rng, rows, [&](const Rows& part) {
            many.learn_many(part.arms, part.matrix(), part.y);
        });
        for (std::uint32_t arm = 0; arm < 3; ++arm) {
            const Rows own = rows.of(arm);
            Rows all;
            all.add(own.context(0), 1, arm);
            all.add(own.context(0), 0, arm);
            for (std::size_t i = 0; i < own.size(); ++i) all.add(own.context(i), own.y[i], arm);
            restored.restore(arm, all.matrix(), all.y, each.standing(arm));
            for (TreeBootstrap* engine : {&many, &restored}) {
                CHECK_NEAR(engine->alpha(arm), each.alpha(arm), 1e-12);
                CHECK(same_tree(engine->pruned(arm), each.pruned(arm)));
                const Values context = random_context(rng);
                Rng one(arm), other(arm);
                CHECK(engine->draw(arm, context.data(), one) ==
                      each.draw(arm, context.data(), other));
            }
        }
    }
}

// The rows of an arm up to the last one that a replica has taken in, and those of them that it has.
struct Half {
    Rows all;
    Rows members;
};

Half half_of(const OnlineTreeBootstrap& engine, const Rows& own, std::uint32_t arm,
             std::uint32_t replica) {
    Half half;
    std::size_t end = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (!engine.members(arm, i)[replica]) continue;
        half.members.add(own.context(i), own.y[i], arm);
        end = i + 1;
    }
    half.all = own.part(0, end);
    return half;
}

TEST(replicas_are_batch_trees_of_their_members) {
    Rng rng(51);
    for (const std::uint32_t max_bins : {0u, 5u}) {
        OnlineTreeBootstrap::Settings settings;
        settings.max_bins = max_bins;
        settings.n_replicas = 4;
        settings.seed = 9;
        OnlineTreeBootstrap engine(settings);
        for (int arm = 0; arm < 2; ++arm) engine.add_arm();
        engine.set_kinds(kKinds);
        const Rows rows = random_rows(rng, 160, 2, true);
        for (std::size_t i = 0; i < rows.size(); ++i)
            engine.learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
        for (std::uint32_t arm = 0; arm < 2; ++arm) {
            for (std::uint32_t replica = 0; replica < 4; ++replica) {
                const Half half = half_of(engine, rows.of(arm), arm, replica);
                const double alpha = expected_alpha(half.all, {}, max_bins, 10) / 2;
                const Tree expected = batch_tree(half.members, half.all, {}, max_bins).prune(alpha);
                CHECK(same_tree(engine.tree(arm, replica), expected));
                const Values context = random_context(rng);
                const Node& leaf = expected.leaf_of(context.data());
                CHECK_NEAR(engine.predict(arm, replica, context.data()),
                           (leaf.n * leaf.mean + 1) / (leaf.n + 2), 1e-12);
            }
        }
    }
}

TEST(replicas_learn_many_as_they_learn_each) {
    Rng rng(52);
    for (int round = 0; round < 12; ++round) {
        const double refreshes[] = {0, 0.05, 0.6};
        OnlineTreeBootstrap::Settings settings;
        settings.max_bins = round % 2 == 0 ? 0 : 5;
        settings.n_replicas = 70;  // more than a word has bits
        settings.refresh = refreshes[round % 3];
        OnlineTreeBootstrap each(settings), many(settings);
        for (OnlineTreeBootstrap* engine : {&each, &many}) {
            for (int arm = 0; arm < 2; ++arm) engine->add_arm();
            engine->set_kinds(kKinds);
        }
        const Rows rows = random_rows(rng, 160, 2, round % 4 < 2);
        for (std::size_t i = 0; i < rows.size(); ++i)
            each.learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
        learn_in_chunks(rng, rows, [&](const Rows& part) {
            many.learn_many(part.arms, part.matrix(), part.y);
        });
        for (std::uint32_t arm = 0; arm < 2; ++arm)
            for (std::uint32_t replica = 0; replica < 70; ++replica) {
                CHECK(many.n_rows(arm, replica) == each.n_rows(arm, replica));
                CHECK(same_tree(many.tree(arm, replica), each.tree(arm, replica)));
            }
    }
}
