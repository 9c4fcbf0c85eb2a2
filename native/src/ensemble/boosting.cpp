#include "banditree/ensemble/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "banditree/ensemble/leaf_rows.hpp"
#include "banditree/ensemble/logistic.hpp"

namespace banditree {

namespace {

// Gradient and Hessian of the log-likelihood, times 4, so that a Hessian is at most 1, as a row is.
void set_binary_gradient(GradientRow& row, float score, float reward) {
    constexpr double kLeastVariance = 0.001;
    const double p = sigmoid(score);
    row.gradient = static_cast<float>(4 * (reward - p));
    row.hessian = static_cast<float>(4 * std::max(p * (1 - p), kLeastVariance));
}

// What the scores leave to be explained, of a random share of the rows.
std::vector<GradientRow> residuals(const CodedRows& rows, const std::vector<float>& scores,
                                   bool binary, double share, Rng& rng) {
    std::vector<GradientRow> sample;
    sample.reserve(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (rng.uniform() >= share) continue;
        GradientRow row{i, rows.arms[i], rows.rewards[i] - scores[i], 1};
        if (binary) set_binary_gradient(row, scores[i], rows.rewards[i]);
        sample.push_back(row);
    }
    return sample;
}

float variance(float score, bool binary) {
    if (!binary) return 1;
    const double p = sigmoid(score);
    return static_cast<float>(p * (1 - p));
}

}  // namespace

Boosting Boosting::fit(const CodedRows& rows, const Coder& coder, bool binary,
                       std::vector<float> start, const BoostingSettings& settings, Rng& rng) {
    Boosting boosting;
    boosting.start_ = std::move(start);
    std::vector<float> scores(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = boosting.start_[rows.arms[i]];
    TreeGrower grower(rows.codes, coder, rows.n_arms, settings.growth, rng);
    for (std::uint32_t t = 0; t < settings.n_trees; ++t) {
        auto sample = residuals(rows, scores, binary, settings.row_share, rng);
        if (sample.empty()) continue;
        LeafValues leaves;
        Stage& stage = boosting.stages_.emplace_back();
        stage.tree = grower.grow(sample, leaves);
        stage.value = std::move(leaves.value);
        for (float& value : stage.value) value *= settings.rate;
        stage.take_in(rows, binary, scores);
    }
    return boosting;
}

void Boosting::Stage::take_in(const CodedRows& rows, bool binary, std::vector<float>& scores) {
    support.assign(value.size(), 0.0f);
    contexts.assign(tree.n_leaves(), 0.0f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t leaf = tree.leaf_of(rows.row_codes(i));
        const std::size_t at = leaf * (rows.n_arms + 1) + rows.arms[i];
        contexts[leaf] += 1;
        support[at] += variance(scores[i], binary);
        scores[i] += value[at];
    }
}

void Boosting::predict(const std::uint8_t* codes, std::span<float> score,
                       std::span<float> support) const {
    const std::size_t known = std::min<std::size_t>(score.size(), n_arms()), width = n_arms() + 1;
    std::copy_n(start_.begin(), known, score.begin());
    std::fill(score.begin() + known, score.end(), start_.back());
    std::fill(support.begin(), support.end(), 0.0f);
    std::vector<const float*> values, rows;
    for (const Stage& stage : stages_) {
        const std::size_t first = stage.tree.leaf_of(codes) * width;
        values.push_back(stage.value.data() + first);
        rows.push_back(stage.support.data() + first);
    }
    add_rows(values, score.first(known));
    add_rows(rows, support.first(known));
    for (const float* value : values)
        for (std::size_t arm = known; arm < score.size(); ++arm) score[arm] += value[width - 1];
    const float share = 1.0f / static_cast<float>(std::max<std::size_t>(stages_.size(), 1));
    for (float& sum : support) sum *= share;
}

float Boosting::score(const std::uint8_t* codes, std::uint32_t arm) const {
    float score = start_[column(arm)];
    for (const Stage& stage : stages_)
        score += stage.value[stage.tree.leaf_of(codes) * (n_arms() + 1) + column(arm)];
    return score;
}

float Boosting::support(const std::uint8_t* codes, std::uint32_t arm) const {
    if (arm >= n_arms() || stages_.empty()) return 0;
    float sum = 0;
    for (const Stage& stage : stages_)
        sum += stage.support[stage.tree.leaf_of(codes) * (n_arms() + 1) + arm];
    return sum / static_cast<float>(stages_.size());
}

Attribution Boosting::attribution(const std::uint8_t* codes, std::uint32_t arm,
                                  std::size_t n_features) const {
    Attribution attribution(n_features);
    attribution.base = start_[column(arm)];
    for (const Stage& stage : stages_) {
        const std::vector<float> values = of_column(stage.value, n_arms() + 1, column(arm));
        attribute(stage.tree, values, stage.contexts, codes, 1, attribution);
    }
    return attribution;
}

}  // namespace banditree
