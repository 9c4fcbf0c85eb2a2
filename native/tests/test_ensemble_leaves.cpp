// Leaves that keep what differs from the nodes above, against leaves with a row for each.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "banditree/ensemble/forest_leaves.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;

namespace {

constexpr float kShrinkage = 1;
constexpr std::uint32_t kFeatures = 3;

// A tree grown on random rows, of which some arms have many.
struct GrownTree {
    std::uint32_t n_arms;
    std::vector<RawColumn> columns{kFeatures};
    std::vector<GradientRow> rows;
    SharedTree tree;
    std::vector<float> base, mean, weight;  // in each leaf, the last of all arms together

    GrownTree(std::uint64_t seed, std::uint32_t n_rows, std::uint32_t n_arms) : n_arms(n_arms) {
        Rng rng(seed);
        for (std::uint32_t row = 0; row < n_rows; ++row) add_row(rng, row);
        for (std::uint32_t arm = 0; arm <= n_arms; ++arm)
            base.push_back(static_cast<float>(rng.uniform()));
        LeafValues leaves;
        tree = grow(seed, leaves);
        for (std::size_t i = 0; i < leaves.value.size(); ++i) {
            mean.push_back(leaves.value[i] + base[i % base.size()]);
            weight.push_back(leaves.hessian[i] + kShrinkage);
        }
    }
    void add_row(Rng& rng, std::uint32_t row) {
        const bool is_common = rng.integer(2) == 0;
        const auto arm =
            static_cast<std::uint32_t>(rng.integer(is_common ? std::min(n_arms, 3u) : n_arms));
        double sum = arm % 4;
        for (RawColumn& column : columns) {
            column.push(rng.normal());
            sum += column.at(row);
        }
        rows.push_back({row, arm, static_cast<float>(sum + rng.normal()), 1});
    }
    SharedTree grow(std::uint64_t seed, LeafSink& leaves) const {
        const std::vector<Kind> kinds(kFeatures, Kind::number);
        const Coder coder(columns, kinds);
        std::vector<std::vector<std::uint8_t>> codes;
        for (std::uint32_t f = 0; f < coder.n_features(); ++f)
            codes.push_back(coder.codes_of(f, columns[f]));
        Rng rng(seed);
        std::vector<GradientRow> moved = rows;
        const SharedGrowth growth{.penalty = 0.5f, .shrinkage = kShrinkage};
        return TreeGrower(codes, coder, n_arms, growth, rng).grow(moved, leaves);
    }
    void learn(std::uint32_t leaf, std::uint32_t arm, float weight_of, float reward) {
        for (const std::uint32_t column : {std::min(arm, n_arms), n_arms}) {
            const std::size_t i = leaf * base.size() + column;
            weight[i] += weight_of;
            mean[i] += weight_of / weight[i] * (reward - mean[i]);
            if (arm >= n_arms) break;
        }
    }
    void check(const ForestLeaves& leaves) const {
        for (std::uint32_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
            const float* own = mean.data() + leaf * base.size();
            std::vector<float> means(n_arms, 0.0f);
            const float* row = leaves.add_differences(leaf, means);
            for (std::uint32_t arm = 0; arm < n_arms; ++arm) {
                CHECK_NEAR(means[arm] + row[arm], own[arm], 2e-5);
                CHECK_NEAR(leaves.mean(leaf, arm), own[arm], 2e-5);
                if (arm % 17 == 0) CHECK_NEAR(leaves.means_of(arm)[leaf], own[arm], 2e-5);
            }
            CHECK_NEAR(leaves.overall(leaf), own[n_arms], 1e-5);
            CHECK_NEAR(leaves.mean(leaf, n_arms + 3), own[n_arms], 1e-5);
            CHECK_NEAR(leaves.weights()[leaf], weight[leaf * base.size() + n_arms], 1e-3);
        }
    }
};

std::vector<std::uint8_t> written(const ForestLeaves& leaves) {
    ByteWriter out;
    leaves.write(out);
    return out.take();
}

}  // namespace

TEST(ensemble_leaves_keep_all_that_differs) {
    std::uint64_t seed = 90;
    for (const std::uint32_t n_arms : {1u, 5u, 32u, 33u, 60u, 300u})
        for (const std::uint32_t n_rows : {0u, 1u, 40u, 600u}) {
            GrownTree grown(++seed, n_rows, n_arms);
            ForestLeaves leaves(grown.base, kShrinkage);
            CHECK(grown.grow(seed, leaves).n_leaves() == grown.tree.n_leaves());
            grown.check(leaves);
            Rng rng(seed);
            for (int i = 0; i < 400; ++i) {
                const auto leaf = static_cast<std::uint32_t>(rng.integer(grown.tree.n_leaves()));
                const auto arm = static_cast<std::uint32_t>(rng.integer(n_arms + 2));
                const auto weight = static_cast<float>(1 + rng.integer(2));
                const auto reward = static_cast<float>(rng.normal());
                grown.learn(leaf, arm, weight, reward);
                leaves.learn(leaf, arm, weight, reward);
            }
            grown.check(leaves);
            const std::vector<std::uint8_t> bytes = written(leaves);
            ByteReader in(bytes);
            const ForestLeaves copy = ForestLeaves::read(in, grown.base, grown.tree.n_leaves());
            in.finish();
            CHECK(written(copy) == bytes);
            grown.check(copy);
        }
}

TEST(ensemble_leaves_of_many_arms_take_the_room_of_their_rows) {
    const GrownTree grown(80, 6000, 200);
    ForestLeaves leaves(grown.base, kShrinkage);
    grown.grow(80, leaves);
    const std::size_t rows_of_all = 2 * sizeof(float) * grown.mean.size();
    CHECK(grown.tree.n_leaves() > 400);
    CHECK(written(leaves).size() < rows_of_all / 3);
}

TEST(ensemble_leaves_that_are_damaged_are_refused_or_work) {
    const GrownTree grown(81, 300, 60);
    ForestLeaves leaves(grown.base, kShrinkage);
    grown.grow(81, leaves);
    const std::vector<std::uint8_t> good = written(leaves);
    Rng rng(82);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::vector<std::uint8_t> bytes = good;
        bytes[rng.integer(bytes.size())] ^= static_cast<std::uint8_t>(1 + rng.integer(255));
        ByteReader in(bytes);
        try {
            ForestLeaves forged = ForestLeaves::read(in, grown.base, grown.tree.n_leaves());
            std::vector<float> means(60);
            for (std::uint32_t leaf = 0; leaf < grown.tree.n_leaves(); leaf += 5) {
                forged.add_differences(leaf, means);
                forged.learn(leaf, leaf % 60, 1, 1);
            }
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 300);
}
