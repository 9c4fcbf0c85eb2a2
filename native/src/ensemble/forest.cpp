#include "banditree/ensemble/forest.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace banditree {

Forest Forest::fit(const CodedRows& rows, const Coder& coder, std::vector<float> base,
                   const ForestSettings& settings, std::uint64_t seed) {
    Forest forest;
    forest.seed_ = seed;
    forest.base_ = std::move(base);
    Rng rng(seed);
    TreeGrower grower(rows.codes, coder, rows.n_arms, settings.growth, rng);
    const std::size_t width = rows.n_arms + 1;
    std::vector<GradientRow> sample;
    for (std::uint32_t b = 0; b < settings.n_trees; ++b) {
        sample.clear();
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            const auto weight = static_cast<float>(forest.times(b, rows.numbers[i]));
            const float residual = rows.rewards[i] - forest.base_[rows.arms[i]];
            if (weight > 0) sample.push_back({i, rows.arms[i], weight * residual, weight});
        }
        Bag& bag = forest.bags_.emplace_back();
        LeafValues leaves;
        bag.tree = grower.grow(sample, leaves);
        bag.mean = std::move(leaves.value);
        bag.weight = std::move(leaves.hessian);
        for (std::size_t i = 0; i < bag.mean.size(); ++i) {
            bag.mean[i] += forest.base_[i % width];
            bag.weight[i] += settings.growth.shrinkage;
        }
    }
    return forest;
}

void Forest::predict(const std::uint8_t* codes, std::span<float> mean) const {
    const std::size_t known = std::min<std::size_t>(mean.size(), n_arms()), width = n_arms() + 1;
    std::fill(mean.begin(), mean.end(), 0.0f);
    for (const Bag& bag : bags_) {
        const float* leaf = bag.mean.data() + bag.tree.leaf_of(codes) * width;
        for (std::size_t arm = 0; arm < known; ++arm) mean[arm] += leaf[arm];
        for (std::size_t arm = known; arm < mean.size(); ++arm) mean[arm] += leaf[width - 1];
    }
    for (float& sum : mean) sum /= static_cast<float>(bags_.size());
}

float Forest::mean(const std::uint8_t* codes, std::uint32_t arm) const {
    float sum = 0;
    for (const Bag& bag : bags_)
        sum += bag.mean[bag.tree.leaf_of(codes) * (n_arms() + 1) + column(arm)];
    return sum / static_cast<float>(bags_.size());
}

Attribution Forest::attribution(const std::uint8_t* codes, std::uint32_t arm,
                                std::size_t n_features) const {
    Attribution attribution(n_features);
    for (const Bag& bag : bags_) {
        const std::vector<float> means = of_column(bag.mean, n_arms() + 1, column(arm));
        const std::vector<float> contexts = of_column(bag.weight, n_arms() + 1, n_arms());
        attribute(bag.tree, means, contexts, codes, 1.0 / static_cast<double>(bags_.size()),
                  attribution);
    }
    return attribution;
}

void Forest::learn(const std::uint8_t* codes, std::uint32_t arm, float reward,
                   std::uint64_t number) {
    for (std::size_t b = 0; b < bags_.size(); ++b) {
        const auto weight = static_cast<float>(times(b, number));
        if (weight == 0) continue;
        Bag& bag = bags_[b];
        const std::size_t first = bag.tree.leaf_of(codes) * (n_arms() + 1);
        for (const std::size_t i : {first + column(arm), first + n_arms()}) {
            bag.weight[i] += weight;
            bag.mean[i] += weight / bag.weight[i] * (reward - bag.mean[i]);
            if (arm >= n_arms()) break;
        }
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
