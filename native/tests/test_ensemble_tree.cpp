// The grower of shared trees against a version that tries every cut of every feature by itself.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <set>
#include <vector>

#include "banditree/ensemble/shared_tree.hpp"
#include "check.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

using Group = std::vector<GradientRow>;

const std::vector<Kind> kColumnKinds{Kind::number, Kind::category, Kind::number, Kind::category};

// Gradients are short binary fractions, so that sums of floats are exact in any order.
struct Drawn {
    std::vector<RawColumn> columns{kColumnKinds.size()};
    Coder coder;
    std::vector<std::vector<std::uint8_t>> codes;
    Group rows;
    std::uint32_t n_arms;

    Drawn(Rng& rng, std::uint32_t n_rows, std::uint32_t n_arms) : n_arms(n_arms) {
        for (std::uint32_t row = 0; row < n_rows; ++row) add_row(rng, row);
        coder = Coder(columns, kColumnKinds);
        for (std::uint32_t f = 0; f < columns.size(); ++f)
            codes.push_back(coder.codes_of(f, columns[f]));
    }
    void add_row(Rng& rng, std::uint32_t row) {
        const auto arm = static_cast<std::uint32_t>(rng.integer(n_arms));
        double values[] = {static_cast<double>(rng.integer(12)),
                           static_cast<double>(rng.integer(6)), rng.normal(),
                           static_cast<double>(rng.integer(30))};
        const double signal = (values[0] > 6) * (arm + 1.0) - (values[1] == 2) + values[2] / 4;
        for (double& value : values)
            if (rng.integer(10) == 0) value = kNan;
        for (std::size_t f = 0; f < columns.size(); ++f) columns[f].push(values[f]);
        const double noisy = std::isnan(signal) ? 0 : signal + rng.normal();
        const float hessians[] = {0.5f, 1, 2};
        rows.push_back(
            {row, arm, static_cast<float>(std::round(64 * noisy) / 64), hessians[rng.integer(3)]});
    }
    std::uint8_t code(std::uint32_t feature, const GradientRow& row) const {
        return codes[feature][row.row];
    }
    std::vector<std::uint8_t> codes_of_row(std::uint32_t row) const {
        std::vector<std::uint8_t> own;
        for (const auto& column : codes) own.push_back(column[row]);
        return own;
    }
};

struct Sums {
    double gradient = 0, hessian = 0;
    void add(const GradientRow& row) {
        gradient += row.gradient;
        hessian += row.hessian;
    }
};

double value_of(const Group& rows, float penalty) {
    std::map<std::uint32_t, Sums> arms;
    for (const GradientRow& row : rows) arms[row.arm].add(row);
    double sum = 0;
    for (const auto& [arm, sums] : arms)
        sum += sums.gradient * sums.gradient / (sums.hessian + penalty);
    return sum;
}

struct Halves {
    Group left, right;
};

Halves parted(const Drawn& sample, const Group& rows, std::uint32_t feature,
              std::uint64_t left_codes) {
    Halves halves;
    for (const GradientRow& row : rows)
        (left_codes >> sample.code(feature, row) & 1 ? halves.left : halves.right).push_back(row);
    return halves;
}

std::map<std::uint32_t, Sums> sums_of_codes(const Drawn& sample, const Group& rows,
                                            std::uint32_t feature) {
    std::map<std::uint32_t, Sums> sums;
    for (const GradientRow& row : rows) sums[sample.code(feature, row)].add(row);
    return sums;
}

double chance_of(const Drawn& sample, const Group& rows, std::uint32_t feature, float penalty) {
    if (!sample.coder.is_category(feature)) return 0;
    double squares = 0, hessian = 0, means = -1;
    for (const GradientRow& row : rows) {
        squares += double{row.gradient} * row.gradient;
        hessian += row.hessian;
    }
    for (const auto& [code, sums] : sums_of_codes(sample, rows, feature))
        means += sums.hessian / (sums.hessian + penalty);
    return 2 / std::numbers::pi * squares / hessian * std::max(means, 0.0);
}

double gain_of(const Drawn& sample, const Group& rows, std::uint32_t feature,
               std::uint64_t left_codes, float penalty) {
    const Halves halves = parted(sample, rows, feature, left_codes);
    return value_of(halves.left, penalty) + value_of(halves.right, penalty) -
           value_of(rows, penalty) - chance_of(sample, rows, feature, penalty);
}

std::vector<std::uint32_t> ordered_codes(const Drawn& sample, const Group& rows,
                                         std::uint32_t feature, float penalty) {
    std::map<std::uint32_t, Sums> sums = sums_of_codes(sample, rows, feature);
    std::vector<std::uint32_t> order;
    for (const auto& [code, of_code] : sums) order.push_back(code);
    if (sample.coder.is_category(feature))
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
            return sums[a].gradient / (sums[a].hessian + penalty) <
                   sums[b].gradient / (sums[b].hessian + penalty);
        });
    return order;
}

double best_gain(const Drawn& sample, const Group& rows, const SharedGrowth& growth) {
    double best = 0;
    for (std::uint32_t f = 0; f < sample.codes.size(); ++f) {
        const std::vector<std::uint32_t> order = ordered_codes(sample, rows, f, growth.penalty);
        std::uint64_t left = 0;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            left |= std::uint64_t{1} << order[i];
            const Halves halves = parted(sample, rows, f, left);
            if (std::min(halves.left.size(), halves.right.size()) < growth.min_rows) continue;
            best = std::max(best, gain_of(sample, rows, f, left, growth.penalty));
        }
    }
    return best;
}

// Codes of a category that the node has not seen go where most rows go, and so does a missing
// number; other numbers go with those that are nearest among those seen.
void check_unseen(const Drawn& sample, const Group& rows, const SharedTree::Node& node) {
    const Halves halves = parted(sample, rows, node.feature, node.left_codes);
    const bool most_left = halves.left.size() >= halves.right.size();
    const auto seen = sums_of_codes(sample, rows, node.feature);
    const bool is_category = sample.coder.is_category(node.feature);
    const auto goes_left = [&](std::uint32_t code) { return (node.left_codes >> code & 1) == 1; };
    for (std::uint32_t code = 0; code < Coder::kCodes; ++code) {
        if (seen.contains(code)) continue;
        if (is_category || code == Coder::kMissing) {
            CHECK(goes_left(code) == most_left);
            continue;
        }
        const auto above = seen.upper_bound(code);
        if (above == seen.end()) CHECK(goes_left(code) == goes_left(seen.rbegin()->first));
        if (above == seen.begin()) CHECK(goes_left(code) == goes_left(above->first));
        if (above == seen.begin() || above == seen.end()) continue;
        const std::uint32_t high = above->first, low = std::prev(above)->first;
        CHECK(goes_left(code) == goes_left(2 * code > low + high ? high : low));
    }
}

struct Checker {
    const Drawn& sample;
    const SharedGrowth& growth;
    const SharedTree& tree;
    const LeafValues& leaves;
    std::size_t n_splits = 0;

    void node(std::size_t at, const Group& rows, std::uint32_t depth,
              const std::vector<double>& parent) {
        const SharedTree::Node& own = tree.nodes()[at];
        const std::vector<double> values = shrunk(rows, parent);
        const bool may_split = rows.size() >= 2 * growth.min_rows && depth < growth.max_depth;
        const double best = may_split ? best_gain(sample, rows, growth) : 0;
        if (own.child == 0) {
            CHECK(best < 1e-6 * (sample.n_arms + 1));
            return leaf(own.left_codes, rows, values);
        }
        ++n_splits;
        CHECK(may_split);
        CHECK_NEAR(gain_of(sample, rows, own.feature, own.left_codes, growth.penalty), best,
                   1e-9 * (1 + best));
        check_unseen(sample, rows, own);
        const Halves halves = parted(sample, rows, own.feature, own.left_codes);
        CHECK(std::min(halves.left.size(), halves.right.size()) >= growth.min_rows);
        node(own.child, halves.left, depth + 1, values);
        node(own.child + 1, halves.right, depth + 1, values);
    }
    std::vector<Sums> sums(const Group& rows) const {
        std::vector<Sums> sums(sample.n_arms + 1);
        for (const GradientRow& row : rows) {
            sums[row.arm].add(row);
            sums.back().add(row);
        }
        return sums;
    }
    std::vector<double> shrunk(const Group& rows, std::vector<double> values) const {
        const std::vector<Sums> own = sums(rows);
        for (std::size_t i = 0; i < own.size(); ++i)
            values[i] = (own[i].gradient + growth.shrinkage * values[i]) /
                        (own[i].hessian + growth.shrinkage);
        return values;
    }
    void leaf(std::size_t number, const Group& rows, const std::vector<double>& values) const {
        const std::vector<Sums> own = sums(rows);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t column = number * values.size() + i;
            CHECK_NEAR(leaves.value[column], values[i], 1e-5);
            CHECK_NEAR(leaves.hessian[column], own[i].hessian, 1e-4);
        }
    }
};

SharedGrowth random_growth(Rng& rng) {
    const float penalties[] = {0.25f, 1, 3};
    return {.max_depth = static_cast<std::uint32_t>(1 + rng.integer(12)),
            .min_rows = static_cast<std::uint32_t>(1 + rng.integer(5)),
            .penalty = penalties[rng.integer(3)],
            .shrinkage = penalties[rng.integer(3)],
            .feature_share = 1};
}

}  // namespace

TEST(ensemble_tree_agrees_with_trying_every_cut) {
    Rng rng(4);
    std::size_t n_splits = 0;
    for (int round = 0; round < 40; ++round) {
        const auto n_rows = static_cast<std::uint32_t>(30 + rng.integer(400));
        const Drawn sample(rng, n_rows, static_cast<std::uint32_t>(1 + rng.integer(4)));
        const SharedGrowth growth = random_growth(rng);
        TreeGrower grower(sample.codes, sample.coder, sample.n_arms, growth, rng);
        Group rows = sample.rows;
        LeafValues leaves;
        const SharedTree tree = grower.grow(rows, leaves);
        Checker checker{sample, growth, tree, leaves};
        checker.node(0, sample.rows, 0, std::vector<double>(sample.n_arms + 1, 0));
        n_splits += checker.n_splits;
        CHECK(leaves.value.size() == tree.n_leaves() * (sample.n_arms + 1));
    }
    CHECK(n_splits > 200);
}

// With many arms, of which few were played, rows are sorted instead of counted.
TEST(ensemble_tree_is_the_same_counted_and_sorted) {
    Rng data(9);
    for (int round = 0; round < 10; ++round) {
        const Drawn sample(data, 600, 3);
        const SharedGrowth growth{.max_depth = 6, .min_rows = 20};
        LeafValues few, many;
        Group counted = sample.rows, sorted = sample.rows;
        Rng mine(1), its(1);
        const std::uint32_t n_many = 3000;
        const SharedTree tree =
            TreeGrower(sample.codes, sample.coder, 3, growth, mine).grow(counted, few);
        const SharedTree same =
            TreeGrower(sample.codes, sample.coder, n_many, growth, its).grow(sorted, many);
        CHECK(tree.nodes().size() > 3 && tree.nodes().size() == same.nodes().size());
        for (std::uint32_t row = 0; row < 600; ++row) {
            const std::vector<std::uint8_t> codes = sample.codes_of_row(row);
            const std::size_t leaf = tree.leaf_of(codes.data());
            CHECK(same.leaf_of(codes.data()) == leaf);
            for (std::size_t arm = 0; arm < 3; ++arm)
                CHECK_NEAR(few.value[leaf * 4 + arm], many.value[leaf * (n_many + 1) + arm], 1e-6);
        }
    }
}

TEST(ensemble_tree_without_rows_or_features_is_a_leaf) {
    Rng rng(2);
    const Coder coder;
    const std::vector<std::vector<std::uint8_t>> no_codes;
    TreeGrower grower(no_codes, coder, 2, {.shrinkage = 1}, rng);
    LeafValues of_none, of_three;
    Group none, three{{0, 1, 2, 1}, {1, 1, 2, 1}, {2, 1, 2, 1}};
    CHECK(grower.grow(none, of_none).n_leaves() == 1);
    CHECK(of_none.value == std::vector<float>(3, 0));
    CHECK(grower.grow(three, of_three).n_leaves() == 1);
    CHECK(of_three.value == std::vector<float>({0, 1.5f, 1.5f}));
}
