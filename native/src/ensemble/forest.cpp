#include "banditree/ensemble/forest.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "banditree/ensemble/leaf_rows.hpp"

namespace banditree {

Forest Forest::fit(const CodedRows& rows, const Coder& coder, std::vector<float> base,
                   const ForestSettings& settings, std::uint64_t seed) {
    Forest forest;
    forest.seed_ = seed;
    forest.base_ = std::move(base);
    Rng rng(seed);
    TreeGrower grower(rows.codes, coder, rows.n_arms, settings.growth, rng);
    std::vector<GradientRow> sample;
    for (std::uint32_t b = 0; b < settings.n_trees; ++b) {
        sample.clear();
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const auto weight = static_cast<float>(forest.times(b, rows.numbers[i]));
            const float residual = rows.rewards[i] - forest.base_[rows.arms[i]];
            if (weight > 0) sample.push_back({i, rows.arms[i], weight * residual, weight});
        }
        ForestLeaves leaves(forest.base_, settings.growth.shrinkage);
        SharedTree tree = grower.grow(sample, leaves);
        forest.bags_.push_back({std::move(tree), std::move(leaves)});
    }
    return forest;
}

void Forest::predict(const std::uint8_t* codes, std::span<float> mean) const {
    const std::size_t known = std::min<std::size_t>(mean.size(), n_arms());
    std::fill(mean.begin(), mean.end(), 0.0f);
    std::vector<const float*> rows;
    for (const Bag& bag : bags_) {
        const std::uint32_t leaf = bag.tree.leaf_of(codes);
        rows.push_back(bag.leaves.add_differences(leaf, mean.first(known)));
        for (float& unknown : mean.subspan(known)) unknown += bag.leaves.overall(leaf);
    }
    add_rows(rows, mean.first(known));
    for (float& sum : mean) sum /= static_cast<float>(bags_.size());
}

float Forest::mean(const std::uint8_t* codes, std::uint32_t arm) const {
    float sum = 0;
    for (const Bag& bag : bags_) sum += bag.leaves.mean(bag.tree.leaf_of(codes), arm);
    return sum / static_cast<float>(bags_.size());
}

Attribution Forest::attribution(const std::uint8_t* codes, std::uint32_t arm,
                                std::size_t n_features) const {
    Attribution attribution(n_features);
    for (const Bag& bag : bags_)
        attribute(bag.tree, bag.leaves.means_of(arm), bag.leaves.weights(), codes,
                  1.0 / static_cast<double>(bags_.size()), attribution);
    return attribution;
}

void Forest::learn(const std::uint8_t* codes, std::uint32_t arm, float reward,
                   std::uint64_t number) {
    for (std::size_t b = 0; b < bags_.size(); ++b) {
        const auto weight = static_cast<float>(times(b, number));
        if (weight == 0) continue;
        Bag& bag = bags_[b];
        bag.leaves.learn(bag.tree.leaf_of(codes), arm, weight, reward);
    }
}

std::uint32_t Forest::times(std::size_t bag, std::uint64_t number) const {
    static constexpr std::array<double, 6> kUpTo{0.36787944117144233, 0.73575888234288467,
                                                 0.91969860292860584, 0.98101184312384619,
                                                 0.99634015317265629, 0.99940581518241837};
    const std::uint64_t word = SplitMix64::mix(seed_ ^ SplitMix64::mix(number * 64 + bag));
    const double uniform = static_cast<double>(word >> 11) * 0x1p-53;
    std::uint32_t times = 0;
    while (times < kUpTo.size() && uniform >= kUpTo[times]) ++times;
    return times;
}

}  // namespace banditree
