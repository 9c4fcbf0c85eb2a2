#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/random/rng.hpp"
#include "banditree/trees/cross_validation.hpp"
#include "banditree/trees/grow.hpp"
#include "check.hpp"
#include "same_tree.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

using Codes = std::vector<std::uint32_t>;

// Rows, and how to grow a tree on them.
struct Case {
    std::vector<Kind> kinds;
    Values cells;  // in C order
    Values y;
    Values w;
    Growth growth;
    std::uint32_t max_bins = 0;

    Matrix matrix() const { return {cells.data(), y.size(), kinds.size()}; }
    const double* context(std::size_t row) const { return cells.data() + row * kinds.size(); }
    Dataset data() const {
        Encoding encoding;
        encoding.kinds = kinds;
        encoding.max_bins = max_bins;
        return encode(matrix(), y, w, encoding);
    }
};

Tree grow_all(const Dataset& data, const Growth& growth, const Values& weights = {}) {
    return grow(data, Sample::of(data, std::span<const double>(weights)), growth).tree;
}

Tree grow_all(const Case& rows) { return grow_all(rows.data(), rows.growth); }

// One number feature.
Case numbers(const Values& column, const Values& y, const Values& w = {}) {
    return {{Kind::number}, column, y, w, {}, 0};
}

Case categories(const Values& column, const Values& y, const Values& w = {}) {
    return {{Kind::category}, column, y, w, {}, 0};
}

double predict(const Tree& tree, const Values& context) {
    return tree.leaf_of(context.data()).mean;
}

double random_value(Rng& rng, Kind kind, bool fine) {
    if (rng.integer(5) == 0) return kNan;
    if (kind == Kind::category) return static_cast<double>(rng.integer(5));
    return fine ? rng.normal() : static_cast<double>(rng.integer(7));
}

double random_reward(Rng& rng, std::uint64_t style) {
    if (style == 0) return static_cast<double>(rng.integer(2));
    if (style == 1) return static_cast<double>(rng.integer(9)) / 4 + 3;
    return 10 * rng.normal();
}

double random_weight(Rng& rng, std::uint64_t style) {
    if (style == 0) return static_cast<double>(rng.integer(4));
    return style == 1 ? rng.exponential() : std::ldexp(1.0, static_cast<int>(rng.integer(8)));
}

Values random_weights(Rng& rng, std::size_t n) {
    const std::uint64_t style = rng.integer(3);
    Values weights(n);
    for (double& weight : weights) weight = random_weight(rng, style);
    weights[rng.integer(n)] = 1;
    return weights;
}

Growth random_growth(Rng& rng) {
    Growth growth;
    growth.min_split = static_cast<std::uint32_t>(2 + rng.integer(4));
    growth.min_leaf = static_cast<std::uint32_t>(1 + rng.integer(3));
    if (rng.integer(3) == 0) growth.max_depth = static_cast<std::uint32_t>(rng.integer(5));
    return growth;
}

Case random_case(Rng& rng, std::size_t n) {
    Case rows;
    for (std::size_t f = rng.integer(4); f > 0; --f)
        rows.kinds.push_back(rng.integer(3) == 0 ? Kind::category : Kind::number);
    const bool fine = rng.integer(2) == 0;
    const std::uint64_t rewards = rng.integer(3);
    for (std::size_t row = 0; row < n; ++row) {
        for (const Kind kind : rows.kinds) rows.cells.push_back(random_value(rng, kind, fine));
        rows.y.push_back(random_reward(rng, rewards));
    }
    rows.growth = random_growth(rng);
    if (rng.integer(3) == 0) rows.max_bins = static_cast<std::uint32_t>(2 + rng.integer(5));
    return rows;
}

Values random_context(Rng& rng, const Case& rows) {
    Values context;
    for (const Kind kind : rows.kinds) {
        context.push_back(random_value(rng, kind, rng.integer(2) == 0));
        if (kind == Kind::category && rng.integer(5) == 0) context.back() = 1e9;  // never seen
    }
    return context;
}

// Children share out their parent's rows, weight and cost.
void check_sums(const Tree& tree, const Growth& growth) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const Node& node = tree.nodes[i];
        if (node.is_leaf()) continue;
        const Node &left = tree.nodes[i + 1], &right = tree.nodes[node.right];
        CHECK(left.n + right.n == node.n);
        CHECK(std::min(left.n, right.n) >= growth.min_leaf && node.n >= growth.min_split);
        CHECK(node.gain > 0);
        CHECK_NEAR(left.weight + right.weight, node.weight, 1e-9 * node.weight);
        CHECK_NEAR(left.cost + right.cost + node.gain, node.cost, 1e-8 * (1 + node.cost));
        const double total = left.weight * left.mean + right.weight * right.mean;
        CHECK_NEAR(total / node.weight, node.mean, 1e-8 * (1 + std::abs(node.mean)));
    }
    CHECK(tree.depth() <= growth.max_depth);
}

double leaf_costs(const Tree& tree) {
    double total = 0;
    for (const Node& node : tree.nodes)
        if (node.is_leaf()) total += node.cost;
    return total;
}

// The least of cost + alpha * leaves over all subtrees.
double least_penalised_cost(const Tree& tree, double alpha) {
    Values least(tree.nodes.size());
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        least[i] = tree.nodes[i].cost + alpha;
        if (tree.nodes[i].is_leaf()) continue;
        least[i] = std::min(least[i], least[i + 1] + least[tree.nodes[i].right]);
    }
    return least[0];
}

double random_alpha(Rng& rng, const Tree& tree) {
    const auto alphas = tree.pruning_path().alphas;
    const double any = alphas[rng.integer(alphas.size())];
    switch (rng.integer(5)) {
        case 0:
            return 0;
        case 1:
            return kInfinity;
        case 2:
            return any;
        default:
            return any * 2 * rng.uniform();
    }
}

// Sums of the held-out errors of one subtree, the slow way.
struct Errors {
    double sum = 0;
    double squares = 0;
};

Errors held_out(const Case& rows, const Dataset& data, const Codes& folds, std::uint32_t n_folds,
                double beta) {
    Errors errors;
    for (std::uint32_t fold = 0; fold < n_folds; ++fold) {
        Codes rest;
        double weight = 0, total = 0;
        for (std::uint32_t row = 0; row < folds.size(); ++row) {
            total += data.weight(row);
            if (folds[row] == fold) continue;
            rest.push_back(row);
            weight += data.weight(row);
        }
        const Tree grown = grow(data, Sample::of(data, rest), rows.growth).tree;
        const Tree tree = grown.prune(beta * weight / total);
        for (std::uint32_t row = 0; row < folds.size(); ++row) {
            if (folds[row] != fold) continue;
            const double error = std::pow(rows.y[row] - tree.leaf_of(rows.context(row)).mean, 2);
            errors.sum += data.weight(row) * error;
            errors.squares += data.weight(row) * error * error;
        }
    }
    return errors;
}

void check_against_slow(const Case& rows, const Codes& folds, std::uint32_t n_folds) {
    const Dataset data = rows.data();
    const PruningPath path = grow_all(data, rows.growth).pruning_path();
    const auto result = cross_validate(data, rows.growth, path, folds, n_folds);
    const double cost = path.costs.back() > 0 ? path.costs.back() : 1;
    double total = 0;
    for (std::size_t row = 0; row < folds.size(); ++row) total += data.weight(row);
    CHECK(result.alphas == path.alphas && result.errors.size() == path.alphas.size());
    for (std::size_t i = 0; i < path.alphas.size(); ++i) {
        const bool last = i + 1 == path.alphas.size();
        const double beta = last ? kInfinity : std::sqrt(path.alphas[i] * path.alphas[i + 1]);
        const Errors slow = held_out(rows, data, folds, n_folds, beta);
        CHECK_NEAR(result.errors[i], slow.sum / cost, 1e-7 * (1 + slow.sum / cost));
        const double variance = slow.squares - slow.sum * slow.sum / total;
        CHECK_NEAR(std::pow(result.standard_errors[i] * cost, 2), std::max(variance, 0.0),
                   1e-7 * (1 + slow.squares));
    }
}

// A chain as deep as the rows are many: of rewards that alternate, one row is split off at a time.
Case chain(std::size_t n) {
    Case rows = numbers({}, {});
    for (std::size_t i = 0; i < n; ++i) {
        rows.cells.push_back(static_cast<double>(i));
        rows.y.push_back(static_cast<double>(i % 2));
    }
    return rows;
}

// Each split gains 1 and sends one value to the left; the mean of a leaf is its value.
Tree hand_made_chain(std::int32_t n_splits) {
    Tree tree;
    for (std::int32_t i = 0; i < n_splits; ++i) {
        Node split, leaf;
        split.feature = 0;
        split.threshold = i;
        split.gain = 1;
        split.cost = n_splits - i;
        split.right = 2 * i + 2;
        leaf.mean = i;
        tree.nodes.push_back(split);
        tree.nodes.push_back(leaf);
    }
    tree.nodes.emplace_back();
    tree.nodes.back().mean = n_splits;
    return tree;
}

}  // namespace

// ---- numbers ----

TEST(a_number_is_split_half_way_and_missing_goes_where_it_fits) {
    const Tree tree = grow_all(numbers({20, 30, 50, kNan}, {0, 0, 1, 1}));
    CHECK(tree.nodes.size() == 3 && tree.n_leaves() == 2 && tree.depth() == 1);
    const Node& root = tree.nodes[0];
    CHECK(root.feature == 0 && root.threshold == 40 && !root.missing_left);
    CHECK(root.n == 4 && root.weight == 4 && root.mean == 0.5 && root.cost == 1 && root.gain == 1);
    CHECK(tree.nodes[1].n == 2 && tree.nodes[1].mean == 0 && tree.nodes[1].cost == 0);
    CHECK(predict(tree, {40}) == 0 && predict(tree, {40.1}) == 1 && predict(tree, {kNan}) == 1);
}

TEST(missing_goes_left_if_that_gains_more) {
    const Tree tree = grow_all(numbers({kNan, 1, 5}, {0, 0, 1}));
    CHECK(tree.nodes[0].threshold == 3 && tree.nodes[0].missing_left);
    CHECK(predict(tree, {kNan}) == 0);
}

TEST(missing_left_is_tried_first) {
    // With the missing rows on either side the split gains the same.
    const Tree tree = grow_all(numbers({1, 2, kNan, kNan}, {0, 1, 0, 1}));
    CHECK(tree.nodes[0].threshold == 1.5 && tree.nodes[0].missing_left);
}

TEST(present_against_missing_has_no_threshold) {
    const Tree tree = grow_all(numbers({1, 2, kNan, kNan}, {0, 0, 1, 1}));
    CHECK(tree.nodes[0].threshold == kInfinity && !tree.nodes[0].missing_left);
    CHECK(predict(tree, {1e300}) == 0 && predict(tree, {kNan}) == 1);
}

TEST(missing_follows_the_heavier_side_if_none_was_seen) {
    CHECK(predict(grow_all(numbers({1, 2, 3}, {0, 1, 1})), {kNan}) == 1);
    CHECK(predict(grow_all(numbers({1, 2, 3}, {0, 0, 1})), {kNan}) == 0);
    CHECK(predict(grow_all(numbers({1, 2}, {0, 1})), {kNan}) == 0);  // equal: left
    CHECK(predict(grow_all(numbers({1, 2}, {0, 1}, {1, 1.5})), {kNan}) == 1);
}

TEST(of_equal_splits_the_first_is_taken) {
    const Tree tree = grow_all(numbers({1, 2, 3}, {0, 1, 0}));
    CHECK(tree.nodes[0].threshold == 1.5);
    Case twice = numbers({1, 1, 2, 2, 3, 3}, {0, 1, 0});
    twice.kinds = {Kind::number, Kind::number};
    CHECK(grow_all(twice).nodes[0].feature == 0);
}

TEST(a_threshold_never_reaches_the_upper_neighbour) {
    const double high = std::nextafter(1.0, 2.0);
    const Tree tree = grow_all(numbers({1.0, high}, {0, 1}));
    CHECK(predict(tree, {1.0}) == 0 && predict(tree, {high}) == 1);
}

TEST(far_rewards_are_told_apart) {
    const Tree tree = grow_all(numbers({1, 2, 3, 4}, {1e9, 1e9, 1e9 + 1, 1e9 + 1}));
    CHECK(tree.nodes[0].threshold == 2.5 && tree.n_leaves() == 2);
    CHECK(tree.nodes[0].cost == 1);
}

TEST(huge_and_tiny_rewards_and_weights_are_fine) {
    for (const double reward : {1e30, 1e-30, 1e-300})
        for (const double weight : {1e30, 1.0, 1e-30}) {
            const Case rows = numbers({1, 2, 3}, {0, -reward, reward}, Values(3, weight));
            const Tree tree = grow_all(rows);
            CHECK(std::isfinite(tree.nodes[0].cost) && std::isfinite(tree.nodes[0].mean));
            CHECK(std::isfinite(tree.pruning_path().alphas.back()));
        }
}

// ---- categories ----

TEST(categories_of_lower_mean_go_left) {
    // Means 1, 0 and 0.5: both cuts gain 0.75, so the first is taken.
    const Tree tree = grow_all(categories({0, 0, 1, 1, 2, 2}, {1, 1, 0, 0, 1, 0}));
    CHECK_NEAR(tree.nodes[0].gain, 0.75, 1e-12);
    CHECK(tree.sides[0].left == Codes{2});
    CHECK((tree.sides[0].right == Codes{1, 3}));
}

TEST(missing_is_a_category) {
    const Tree tree = grow_all(categories({0, kNan, 1, kNan}, {1, 0, 1, 0}));
    CHECK(tree.sides[0].left == Codes{0} && tree.nodes[0].missing_left);
    CHECK(predict(tree, {kNan}) == 0 && predict(tree, {0}) == 1 && predict(tree, {7}) == 0);
}

TEST(an_unseen_category_counts_as_missing) {
    const Tree tree = grow_all(categories({3, 4, 4}, {0, 1, 1}));
    for (const double unseen : {0.0, 5.0, 1e300, -1.0, kNan}) CHECK(predict(tree, {unseen}) == 1);
}

TEST(equal_categories_stand_in_order_of_their_ids_and_missing_first) {
    // All means are equal but one; min_leaf forbids to cut it off alone.
    Case rows = categories({2, 0, 1, kNan, 3}, {0, 0, 0, 0, 1});
    rows.growth.min_leaf = 2;
    const Tree tree = grow_all(rows);
    CHECK((tree.sides[0].left == Codes{0, 1, 2}));
    CHECK((tree.sides[0].right == Codes{3, 4}));
}

TEST(many_categories_go_both_ways) {
    Case rows = categories({}, {});
    for (int i = 0; i < 3000; ++i) {
        rows.cells.push_back((i * 7919) % 70000);
        rows.y.push_back((i * 7919) % 70000 % 2);
    }
    const Tree tree = grow_all(rows);
    CHECK(tree.n_leaves() == 2 && leaf_costs(tree) == 0);
}

// ---- limits ----

TEST(min_leaf_counts_rows_not_weights) {
    Case rows = numbers({1, 2, 3, 4, 5}, {9, 0, 0, 0, 0}, {50, 1, 1, 1, 1});
    rows.growth.min_leaf = 2;
    CHECK(grow_all(rows).nodes[0].threshold == 2.5);
    rows.growth.min_leaf = 3;
    CHECK(grow_all(rows).nodes.size() == 1);
}

TEST(min_split_and_max_depth_make_leaves) {
    Case rows = numbers({1, 2, 3, 4}, {0, 1, 4, 5});
    rows.growth.min_split = 3;
    CHECK(grow_all(rows).n_leaves() == 2);
    rows.growth.min_split = 5;
    CHECK(grow_all(rows).n_leaves() == 1);
    rows.growth = {2, 1, 1};
    CHECK(grow_all(rows).depth() == 1);
    rows.growth.max_depth = 0;
    CHECK(grow_all(rows).nodes.size() == 1);
}

TEST(nothing_to_split_is_a_leaf) {
    CHECK(grow_all(numbers({1, 2, 3}, {5, 5, 5})).nodes.size() == 1);
    CHECK(grow_all(numbers({2, 2, 2}, {0, 1, 5})).nodes.size() == 1);
    CHECK(grow_all(numbers({kNan, kNan}, {0, 1})).nodes.size() == 1);
    CHECK(grow_all(categories({4, 4}, {0, 1})).nodes.size() == 1);
    CHECK(grow_all(numbers({2}, {7})).nodes[0].mean == 7);
    CHECK(grow_all(Case{{}, {}, {0, 1}, {}, {}, 0}).nodes[0].mean == 0.5);
}

TEST(bins_limit_the_thresholds) {
    Case rows = numbers({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 1, 1, 1, 1, 1, 1});
    rows.max_bins = 2;
    CHECK(grow_all(rows).nodes[0].threshold == 4.5);
    // The bins of 3 and 4 are empty on the left: the lowest edge between is the threshold.
    Case gap = numbers({1, 1, 2, 3, 4, 5}, {0, 0, 1, 1, 1, 0});
    gap.max_bins = 5;
    const Tree tree = grow_all(gap);
    CHECK(tree.nodes[0].threshold == 1.5);
    CHECK(tree.nodes[tree.nodes[0].right].threshold == 4.5);
}

// ---- random trees ----

TEST(random_trees_add_up) {
    Rng rng(11);
    for (int round = 0; round < 1000; ++round) {
        Case rows = random_case(rng, 1 + rng.integer(60));
        if (rng.integer(2) == 0) rows.w = random_weights(rng, rows.y.size());
        check_sums(grow_all(rows), rows.growth);
    }
}

TEST(a_whole_weight_is_a_repeated_row) {
    Rng rng(12);
    for (int round = 0; round < 500; ++round) {
        Case once = random_case(rng, 1 + rng.integer(30));
        once.growth = {};
        once.max_bins = 0;
        Case repeated = once;
        repeated.cells.clear(), repeated.y.clear();
        for (std::size_t row = 0; row < once.y.size(); ++row) {
            once.w.push_back(row == 0 ? 1 : static_cast<double>(rng.integer(4)));
            for (double copies = once.w.back(); copies > 0; --copies) {
                repeated.y.push_back(once.y[row]);
                for (std::size_t f = 0; f < once.kinds.size(); ++f)
                    repeated.cells.push_back(once.context(row)[f]);
            }
        }
        CHECK(same_splits(grow_all(once), grow_all(repeated)));
    }
}

TEST(a_sample_is_a_data_set_of_its_own) {
    Rng rng(13);
    for (int round = 0; round < 500; ++round) {
        Case rows = random_case(rng, 1 + rng.integer(40));
        rows.max_bins = 0;
        const Values weights = random_weights(rng, rows.y.size());
        const Tree sampled = grow_all(rows.data(), rows.growth, weights);
        rows.w = weights;
        CHECK(same_splits(sampled, grow_all(rows)));
    }
}

TEST(every_row_is_in_the_leaf_that_predicts_it) {
    Rng rng(14);
    for (int round = 0; round < 300; ++round) {
        const Case rows = random_case(rng, 1 + rng.integer(60));
        const Dataset data = rows.data();
        const Grown grown =
            grow_traced(data, Sample::of(data, std::span<const double>()), rows.growth);
        for (std::size_t i = 0; i < grown.tree.nodes.size(); ++i) {
            if (!grown.tree.nodes[i].is_leaf()) continue;
            const Segment segment = grown.traces[i].segment;
            CHECK(segment.size() == grown.tree.nodes[i].n);
            for (std::uint32_t j = segment.begin; j < segment.end; ++j)
                CHECK(&grown.tree.leaf_of(rows.context(grown.rows[j])) == &grown.tree.nodes[i]);
        }
    }
}

TEST(lazy_prediction_is_that_of_the_pruned_tree) {
    Rng rng(15);
    for (int round = 0; round < 4000; ++round) {
        const Case rows = random_case(rng, 1 + rng.integer(50));
        const Dataset data = rows.data();
        const Values weights = random_weights(rng, rows.y.size());
        const Tree tree = grow_all(data, rows.growth, weights);
        const double alpha = random_alpha(rng, tree);
        const Tree pruned = tree.prune(alpha);
        for (int i = 0; i < 3; ++i) {
            const Values context = random_context(rng, rows);
            const double lazy =
                lazy_predict(data, Sample::of(data, std::span<const double>(weights)), rows.growth,
                             alpha, context.data());
            CHECK_NEAR(lazy, predict(pruned, context), 1e-9 * (1 + std::abs(lazy)));
        }
    }
}

// ---- pruning ----

TEST(the_pruning_path_of_four_rows) {
    const Tree tree = grow_all(numbers({1, 2, 3, 4}, {0, 1, 4, 5}));
    const PruningPath path = tree.pruning_path();
    CHECK((path.alphas == Values{0, 0.5, 16}));
    CHECK((path.leaves == Codes{4, 2, 1}));
    CHECK((path.costs == Values{0, 1, 17}));
    CHECK(tree.prune(0).n_leaves() == 4 && tree.prune(0.49).n_leaves() == 4);
    CHECK(tree.prune(0.5).n_leaves() == 2 && tree.prune(15.9).n_leaves() == 2);
    CHECK(tree.prune(16).n_leaves() == 1 && tree.prune(kInfinity).n_leaves() == 1);
}

TEST(the_pruning_path_of_a_leaf) {
    const PruningPath path = grow_all(numbers({1}, {3})).pruning_path();
    CHECK(path.alphas == Values{0} && path.leaves == Codes{1} && path.costs == Values{0});
}

TEST(a_pruned_tree_keeps_its_categories) {
    const Tree tree = grow_all(categories({0, 0, 1, 1, 2, 2}, {0, 0, 5, 5, 5.5, 5.5}));
    CHECK(tree.n_leaves() == 3);
    const Tree pruned = tree.prune(1);
    CHECK(pruned.n_leaves() == 2 && pruned.sides.size() == 1);
    CHECK(predict(pruned, {0}) == 0 && predict(pruned, {2}) == 5.25);
}

TEST(alphas_ascend_and_leaves_fall) {
    Rng rng(16);
    for (int round = 0; round < 1000; ++round) {
        const Tree tree = grow_all(random_case(rng, 1 + rng.integer(60)));
        const PruningPath path = tree.pruning_path();
        CHECK(path.alphas[0] == 0 && path.leaves[0] == tree.n_leaves() && path.leaves.back() == 1);
        for (std::size_t i = 1; i < path.alphas.size(); ++i) {
            CHECK(path.alphas[i] > path.alphas[i - 1] && path.leaves[i] < path.leaves[i - 1]);
            CHECK(path.costs[i] >= path.costs[i - 1]);
        }
        for (std::size_t i = 0; i < path.alphas.size(); ++i) {
            const Tree pruned = tree.prune(path.alphas[i]);
            CHECK(pruned.n_leaves() == path.leaves[i]);
            CHECK_NEAR(leaf_costs(pruned), path.costs[i], 1e-8 * (1 + path.costs[i]));
        }
    }
}

TEST(no_subtree_is_better_than_the_pruned_one) {
    Rng rng(17);
    for (int round = 0; round < 1000; ++round) {
        const Case rows = random_case(rng, 1 + rng.integer(60));
        const Tree tree = grow_all(rows);
        const double alpha = std::min(random_alpha(rng, tree), 1e6);
        const Tree pruned = tree.prune(alpha);
        const double least = least_penalised_cost(tree, alpha);
        const double penalised = leaf_costs(pruned) + alpha * pruned.n_leaves();
        CHECK_NEAR(penalised, least, 1e-8 * (1 + least));
        CHECK(same_splits(pruned.prune(alpha), pruned));
    }
}

TEST(a_node_becomes_a_leaf_at_its_alpha) {
    Rng rng(18);
    for (int round = 0; round < 300; ++round) {
        const Tree tree = grow_all(random_case(rng, 1 + rng.integer(60)));
        const auto alphas = tree.pruning_path().node_alphas;
        const double alpha = std::min(random_alpha(rng, tree), 1e6);
        const auto parents = tree.parents();
        std::uint32_t leaves = 0;
        for (std::size_t i = 0; i < alphas.size(); ++i) {
            double above = kInfinity;
            for (std::int32_t up = parents[i]; up >= 0; up = parents[up])
                above = std::min(above, alphas[up]);
            leaves += alphas[i] <= alpha * (1 + 1e-9) && above > alpha * (1 + 1e-9);
        }
        CHECK(leaves == tree.prune(alpha).n_leaves());
    }
}

// ---- cross-validation ----

TEST(cross_validation_of_four_rows) {
    const Case rows = numbers({0, 0, 1, 1}, {0, 0, 1, 1});
    const Dataset data = rows.data();
    const PruningPath path = grow_all(rows).pruning_path();
    const auto result = cross_validate(data, rows.growth, path, Codes{0, 1, 0, 1}, 2);
    CHECK((result.alphas == Values{0, 1}));
    CHECK((result.errors == Values{0, 1}));
    CHECK((result.standard_errors == Values{0, 0}));
    CHECK(result.best_alpha == 0);
}

TEST(of_equal_errors_the_largest_alpha_is_best) {
    // Each fold lacks what it would take to predict the other: the root is no worse than the tree.
    const Case rows = numbers({1, 2}, {0, 1});
    const PruningPath path = grow_all(rows).pruning_path();
    const auto result = cross_validate(rows.data(), rows.growth, path, Codes{0, 1}, 2);
    CHECK((result.errors == Values{4, 4}));
    CHECK(result.best_alpha == 0.5);
}

TEST(equal_rewards_have_no_error) {
    const Case rows = numbers({1, 2, 3}, {4, 4, 4});
    const PruningPath path = grow_all(rows).pruning_path();
    const auto result = cross_validate(rows.data(), rows.growth, path, Codes{0, 1, 2}, 3);
    CHECK(result.errors == Values{0} && result.standard_errors == Values{0});
}

TEST(cross_validation_is_what_the_pruned_trees_of_the_folds_say) {
    Rng rng(19);
    for (int round = 0; round < 150; ++round) {
        Case rows = random_case(rng, 6 + rng.integer(25));
        if (rng.integer(2) == 0)
            for (std::size_t i = 0; i < rows.y.size(); ++i) rows.w.push_back(rng.exponential());
        const auto n_folds = static_cast<std::uint32_t>(2 + rng.integer(4));
        Codes folds;
        for (std::uint32_t i = 0; i < rows.y.size(); ++i) folds.push_back(i % n_folds);
        check_against_slow(rows, folds, n_folds);
    }
}

// ---- depth ----

TEST(a_chain_is_grown_without_recursion) {
    constexpr std::size_t kRows = 5000;
    const Case rows = chain(kRows);
    const Tree tree = grow_all(rows);
    CHECK(tree.depth() == kRows - 1 && tree.n_leaves() == kRows);
    CHECK(predict(tree, {double(kRows)}) == 1 && predict(tree, {-1}) == 0);
    CHECK(tree.pruning_path().leaves.front() == kRows);
}

TEST(a_chain_of_100000_nodes_is_walked_and_pruned_without_recursion) {
    constexpr std::int32_t kSplits = 100000;
    const Tree tree = hand_made_chain(kSplits);
    CHECK(tree.depth() == kSplits && tree.n_leaves() == kSplits + 1);
    CHECK(predict(tree, {double(kSplits)}) == kSplits);
    CHECK(tree.prune(0.5).depth() == kSplits && tree.prune(2).nodes.size() == 1);
    const PruningPath path = tree.pruning_path();
    CHECK(path.alphas.back() == 1 && path.leaves.back() == 1 && path.leaves[0] == kSplits + 1);
}

TEST(rewards_that_grow_geometrically_are_peeled_off_one_by_one) {
    Case rows = numbers({}, {});
    for (int i = 0; i < 60; ++i) {
        rows.cells.push_back(i);
        rows.y.push_back(std::pow(3.0, i));
    }
    const Tree tree = grow_all(rows);
    CHECK(tree.depth() >= 24);
    check_sums(tree, rows.growth);
    const auto n = static_cast<std::uint32_t>(rows.y.size());
    for (std::uint32_t row = n - 20; row < n; ++row)
        CHECK(tree.leaf_of(rows.context(row)).mean == rows.y[row]);
}
