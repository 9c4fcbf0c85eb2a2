#include "banditree/ensemble/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "banditree/ensemble/leaf_rows.hpp"
#include "banditree/ensemble/logistic.hpp"

namespace banditree {

namespace {

constexpr double kLeastVariance = 0.001;

// Gradient and Hessian of the log-likelihood, times 4, so that a Hessian is at most 1, as a row is.
void set_binary_gradient(GradientRow& row, float score, float reward) {
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

// So many observations are believed to be in every leaf besides. Few, and the tree that has seen
// fewest decides; many, and all trees count alike, which continuous rewards need: the draws of an
// arm that pays rarely are wide enough as they are. Measured: docs/bandit.md.
constexpr float kLeastRows = 1;
constexpr float kLeastRowsOfMeans = 10000;

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
    boosting.least_ =
        binary ? kLeastRows * variance(boosting.start_.back(), true) : kLeastRowsOfMeans;
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
        stage.take_in(rows, binary, boosting.least_, scores);
    }
    return boosting;
}

void Boosting::Stage::take_in(const CodedRows& rows, bool binary, float least,
                              std::vector<float>& scores) {
    doubt.assign(value.size(), least);
    contexts.assign(tree.n_leaves(), 0.0f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t leaf = tree.leaf_of(rows.row_codes(i));
        const std::size_t at = leaf * (rows.n_arms + 1) + rows.arms[i];
        contexts[leaf] += 1;
        doubt[at] += variance(scores[i], binary);
        scores[i] += value[at];
    }
    for (float& of_leaf : doubt) of_leaf = 1 / of_leaf;
}

void Boosting::predict(const std::uint8_t* codes, std::span<float> score,
                       std::span<float> support) const {
    const std::size_t known = std::min<std::size_t>(score.size(), n_arms()), width = n_arms() + 1;
    std::copy_n(start_.begin(), known, score.begin());
    std::fill(score.begin() + known, score.end(), start_.back());
    std::fill(support.begin(), support.end(), 0.0f);
    std::vector<const float*> values, doubts;
    for (const Stage& stage : stages_) {
        const std::size_t first = stage.tree.leaf_of(codes) * width;
        values.push_back(stage.value.data() + first);
        doubts.push_back(stage.doubt.data() + first);
    }
    add_rows(values, score.first(known));
    add_rows(doubts, support.first(known));
    for (const float* value : values)
        for (std::size_t arm = known; arm < score.size(); ++arm) score[arm] += value[width - 1];
    for (float& sum : support.first(known)) sum = support_of(sum);
}

float Boosting::score(const std::uint8_t* codes, std::uint32_t arm) const {
    float score = start_[column(arm)];
    for (const Stage& stage : stages_)
        score += stage.value[stage.tree.leaf_of(codes) * (n_arms() + 1) + column(arm)];
    return score;
}

float Boosting::support(const std::uint8_t* codes, std::uint32_t arm) const {
    if (arm >= n_arms() || stages_.empty()) return 0;
    float doubts = 0;
    for (const Stage& stage : stages_)
        doubts += stage.doubt[stage.tree.leaf_of(codes) * (n_arms() + 1) + arm];
    return support_of(doubts);
}

// Of the sum of its doubts.
float Boosting::support_of(float doubts) const {
    if (doubts <= 0) return 0;
    return std::max(0.0f, static_cast<float>(stages_.size()) / doubts - least_);
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
