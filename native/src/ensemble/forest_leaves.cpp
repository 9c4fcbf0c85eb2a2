#include "banditree/ensemble/forest_leaves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace banditree {

ForestLeaves::ForestLeaves(std::span<const float> base, float shrinkage)
    : base_(base.begin(), base.end()), shrinkage_(shrinkage) {
    levels_.push_back({0, 0, 0});
    level_rows_.assign(base_.begin(), base_.end() - 1);
}

void ForestLeaves::add_row(const NodeValues& node, std::vector<float>& rows) const {
    for (std::uint32_t arm = 0; arm < n_arms(); ++arm) rows.push_back(node.value[arm] + base_[arm]);
}

std::uint32_t ForestLeaves::inner(std::uint32_t above, const NodeValues& node) {
    if (n_arms() <= kFewArms) return 0;  // leaves ask for none
    const auto first = static_cast<std::uint32_t>(differences_.size());
    if (gets_row(node)) {
        const std::size_t row = level_rows_.size() / n_arms();
        levels_.push_back({above, static_cast<std::uint32_t>(row), first});
        add_row(node, level_rows_);
    } else {
        levels_.push_back({above, kNone, first});
        for (const std::uint32_t arm : node.present)
            differences_.push_back({arm, node.value[arm] - node.above[arm]});
    }
    return static_cast<std::uint32_t>(levels_.size() - 1);
}

void ForestLeaves::leaf(std::uint32_t above, const NodeValues& node) {
    const float hessian = std::accumulate(node.hessian.begin(), node.hessian.end(), 0.0f);
    overall_.push_back({node.value.back() + base_.back(), hessian + shrinkage_});
    Leaf& leaf = leaves_.emplace_back(Leaf{above, kNone, kNone});
    if (gets_row(node)) {
        leaf.row = static_cast<std::uint32_t>(rows_.size() / n_arms());
        add_row(node, rows_);
        weights_.resize(rows_.size(), shrinkage_);
        for (std::size_t i = 0; i < node.present.size(); ++i)
            weights_[cell(leaf, node.present[i])] += node.hessian[i];
        return;
    }
    for (std::size_t i = 0; i < node.present.size(); ++i) {
        const std::uint32_t arm = node.present[i];
        own_.push_back(
            {arm, node.value[arm] - node.above[arm], node.hessian[i] + shrinkage_, leaf.own});
        leaf.own = static_cast<std::uint32_t>(own_.size() - 1);
    }
}

const float* ForestLeaves::add_differences(std::uint32_t number, std::span<float> means) const {
    const Leaf& leaf = leaves_[number];
    if (leaf.row != kNone) return rows_.data() + cell(leaf, 0);
    for (std::uint32_t i = leaf.own; i != kNone; i = own_[i].next)
        means[own_[i].arm] += own_[i].mean;
    std::uint32_t level = leaf.above;
    for (; levels_[level].row == kNone; level = levels_[level].above)
        for (const Difference& difference : differences(level))
            means[difference.arm] += difference.mean;
    return level_rows_.data() + std::size_t{levels_[level].row} * n_arms();
}

float ForestLeaves::mean(std::uint32_t number, std::uint32_t arm) const {
    if (arm >= n_arms()) return overall(number);
    const Leaf& leaf = leaves_[number];
    if (leaf.row != kNone) return rows_[cell(leaf, arm)];
    float mean = inherited(leaf, arm);
    for (std::uint32_t i = leaf.own; i != kNone; i = own_[i].next)
        if (own_[i].arm == arm) mean += own_[i].mean;
    return mean;
}

// What an arm is expected to pay in the node above a leaf.
float ForestLeaves::inherited(const Leaf& leaf, std::uint32_t arm) const {
    float mean = 0;
    std::uint32_t level = leaf.above;
    for (; levels_[level].row == kNone; level = levels_[level].above)
        for (const Difference& difference : differences(level))
            if (difference.arm == arm) mean += difference.mean;
    return mean + level_rows_[std::size_t{levels_[level].row} * n_arms() + arm];
}

void ForestLeaves::learn(std::uint32_t number, std::uint32_t arm, float weight, float reward) {
    overall_[number].learn(weight, reward);
    if (arm >= n_arms()) return;
    Leaf& leaf = leaves_[number];
    if (leaf.row == kNone) return learn_difference(leaf, arm, weight, reward);
    const std::size_t i = cell(leaf, arm);
    weights_[i] += weight;
    rows_[i] += weight / weights_[i] * (reward - rows_[i]);
}

void ForestLeaves::learn_difference(Leaf& leaf, std::uint32_t arm, float weight, float reward) {
    std::uint32_t i = leaf.own;
    while (i != kNone && own_[i].arm != arm) i = own_[i].next;
    if (i == kNone) {
        i = static_cast<std::uint32_t>(own_.size());
        own_.push_back({arm, 0, shrinkage_, leaf.own});
        leaf.own = i;
    }
    const float mean = inherited(leaf, arm) + own_[i].mean;
    own_[i].weight += weight;
    own_[i].mean += weight / own_[i].weight * (reward - mean);
}

std::vector<float> ForestLeaves::means_of(std::uint32_t arm) const {
    std::vector<float> means;
    for (std::uint32_t leaf = 0; leaf < overall_.size(); ++leaf) means.push_back(mean(leaf, arm));
    return means;
}

std::vector<float> ForestLeaves::weights() const {
    std::vector<float> weights;
    for (const Mean& leaf : overall_) weights.push_back(leaf.weight);
    return weights;
}

// ---- State ----

namespace {

float read_number(ByteReader& in, float least) {
    const auto number = in.get<float>();
    ByteReader::require(std::isfinite(number) && number >= least);
    return number;
}
constexpr float kAny = -std::numeric_limits<float>::max();

std::vector<float> read_numbers(ByteReader& in, float least) {
    std::vector<float> numbers = in.array<float>();
    for (const float number : numbers)
        ByteReader::require(std::isfinite(number) && number >= least);
    return numbers;
}

}  // namespace

void ForestLeaves::write(ByteWriter& out) const {
    out.put(shrinkage_);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        out.put(overall_[i].mean);
        out.put(overall_[i].weight);
        out.put(leaves_[i].above);
        out.put(leaves_[i].own);
        out.put(leaves_[i].row);
    }
    out.array(rows_);
    out.array(weights_);
    out.array(level_rows_);
    out.put<std::uint64_t>(levels_.size());
    for (const Level& level : levels_) {
        out.put(level.above);
        out.put(level.row);
        out.put(level.first);
    }
    out.put<std::uint64_t>(differences_.size());
    for (const Difference& difference : differences_) {
        out.put(difference.arm);
        out.put(difference.mean);
    }
    out.put<std::uint64_t>(own_.size());
    for (const Own& own : own_) {
        out.put(own.arm);
        out.put(own.mean);
        out.put(own.weight);
        out.put(own.next);
    }
}

ForestLeaves ForestLeaves::read(ByteReader& in, std::span<const float> base, std::size_t n_leaves) {
    ForestLeaves leaves(base, read_number(in, 0));
    for (std::size_t i = 0; i < n_leaves; ++i) {
        leaves.overall_.push_back({read_number(in, kAny), read_number(in, 0)});
        const auto above = in.get<std::uint32_t>(), own = in.get<std::uint32_t>();
        leaves.leaves_.push_back({above, own, in.get<std::uint32_t>()});
    }
    leaves.rows_ = read_numbers(in, kAny);
    leaves.weights_ = read_numbers(in, 0);
    ByteReader::require(leaves.weights_.size() == leaves.rows_.size());
    leaves.read_levels(in);
    leaves.read_own(in);
    for (const Leaf& leaf : leaves.leaves_) {
        ByteReader::require(leaf.above < leaves.levels_.size());
        ByteReader::require(leaf.own < leaves.own_.size() || leaf.own == kNone);
        ByteReader::require(leaf.row < leaves.rows_.size() / leaves.n_arms() || leaf.row == kNone);
    }
    return leaves;
}

// Each level is below one that comes before it.
void ForestLeaves::read_levels(ByteReader& in) {
    level_rows_ = read_numbers(in, kAny);
    const std::size_t n_rows = level_rows_.size() / n_arms();
    levels_.resize(in.length(12));
    ByteReader::require(!levels_.empty());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        Level& level = levels_[i];
        level.above = in.get<std::uint32_t>();
        level.row = in.get<std::uint32_t>();
        level.first = in.get<std::uint32_t>();
        ByteReader::require(level.row < n_rows || (level.row == kNone && level.above < i));
        ByteReader::require(i == 0 || level.first >= levels_[i - 1].first);
    }
    differences_.resize(in.length(8));
    ByteReader::require(levels_.back().first <= differences_.size());
    for (Difference& difference : differences_) {
        difference.arm = in.between<std::uint32_t>(0, n_arms() - 1);
        difference.mean = read_number(in, kAny);
    }
}

// The differences of a leaf follow each other to the front.
void ForestLeaves::read_own(ByteReader& in) {
    own_.resize(in.length(16));
    for (std::size_t i = 0; i < own_.size(); ++i) {
        own_[i].arm = in.between<std::uint32_t>(0, n_arms() - 1);
        own_[i].mean = read_number(in, kAny);
        own_[i].weight = read_number(in, 0);
        own_[i].next = in.get<std::uint32_t>();
        ByteReader::require(own_[i].next < i || own_[i].next == kNone);
    }
}

}  // namespace banditree
