#include "banditree/ensemble/linear.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "banditree/ensemble/logistic.hpp"

namespace banditree {

namespace {

constexpr float kRate = 0.3f;
constexpr float kFirstSquare = 1e-3f;
// Of the squared gradients that count on when rows are learned again: steps become longer.
constexpr float kRemembered = 0.3f;
constexpr double kPenalty = 1;

}  // namespace

Linear::Inputs::Inputs(const Coder& coder) {
    for (std::uint32_t f = 0; f < coder.n_features(); ++f) {
        first.push_back(count);
        is_category.push_back(coder.is_category(f));
        count += coder.is_category(f) ? Coder::kCodes : 1;
    }
}

template <class Visit>
void Linear::Inputs::each(const std::uint8_t* codes, const float* scaled, Visit visit) const {
    visit(0, 1.0f);
    for (std::size_t f = 0; f < first.size(); ++f) {
        if (is_category[f])
            visit(first[f] + codes[f], 1.0f);
        else if (scaled[f] != 0)
            visit(first[f], scaled[f]);
    }
}

Linear Linear::adapted(const Coder& before, const Coder& coder, std::uint32_t n_arms) const {
    Linear fresh(binary_);
    fresh.n_arms_ = n_arms_;
    fresh.counts_ = counts_;
    fresh.inputs_ = Inputs(coder);
    fresh.weights_.assign(std::size_t{fresh.inputs_.count} * n_arms_, 0.0f);
    fresh.squares_.assign(fresh.weights_.size(), kFirstSquare);
    if (n_arms_ > 0) fresh.copy_input(*this, 0, 0, 1);
    // The last features may have no value any more.
    const std::size_t n_common = std::min(before.n_features(), coder.n_features());
    for (std::uint32_t f = 0; f < n_common && n_arms_ > 0; ++f) {
        const std::uint32_t from = inputs_.first[f], into = fresh.inputs_.first[f];
        if (before.is_category(f) != coder.is_category(f)) continue;
        if (!coder.is_category(f)) {
            fresh.copy_input(*this, from, into, coder.deviation(f) / before.deviation(f));
            // The score of a number stays what it was, now that 0 is another one.
            const double moved = (coder.mean(f) - before.mean(f)) / before.deviation(f);
            for (std::uint32_t arm = 0; arm < n_arms_; ++arm)
                fresh.weights_[arm] +=
                    static_cast<float>(weights_[std::size_t{from} * n_arms_ + arm] * moved);
            continue;
        }
        for (std::uint8_t code = 0; code < Coder::kCodes; ++code) {
            const std::int64_t id = coder.category_of(f, code);
            const std::uint8_t former = id < 0 ? code : before.code_of(f, static_cast<double>(id));
            fresh.copy_input(*this, from + former, into + code, 1);
        }
    }
    fresh.add_arms(n_arms);
    return fresh;
}

void Linear::copy_input(const Linear& from, std::uint32_t input, std::uint32_t into,
                        double factor) {
    for (std::uint32_t arm = 0; arm < n_arms_; ++arm) {
        const std::size_t to = std::size_t{into} * n_arms_ + arm;
        const std::size_t source = std::size_t{input} * n_arms_ + arm;
        weights_[to] = static_cast<float>(from.weights_[source] * factor);
        squares_[to] = from.squares_[source];
    }
}

void Linear::add_arms(std::uint32_t n_arms) {
    if (n_arms <= n_arms_) return;
    std::vector<float> weights, squares;
    for (std::size_t input = 0; input < inputs_.count; ++input) {
        const auto row = weights_.begin() + static_cast<std::ptrdiff_t>(input * n_arms_);
        const float mean =
            n_arms_ == 0 ? 0.0f
                         : std::accumulate(row, row + n_arms_, 0.0f) / static_cast<float>(n_arms_);
        weights.insert(weights.end(), row, row + n_arms_);
        weights.insert(weights.end(), n_arms - n_arms_, mean);
        const auto square = squares_.begin() + static_cast<std::ptrdiff_t>(input * n_arms_);
        squares.insert(squares.end(), square, square + n_arms_);
        squares.insert(squares.end(), n_arms - n_arms_, kFirstSquare);
    }
    n_arms_ = n_arms;
    weights_ = std::move(weights);
    squares_ = std::move(squares);
    counts_.resize(n_arms, 0);
}

void Linear::replay(const CodedRows& rows, double epochs, Rng& rng) {
    for (float& square : squares_) square = square * kRemembered + kFirstSquare;
    const auto steps = static_cast<std::size_t>(epochs * static_cast<double>(rows.size()));
    for (std::size_t i = 0; i < steps; ++i) {
        const std::size_t row = rng.integer(rows.size());
        fit(rows.row_codes(row), rows.row_scaled(row), rows.arms[row], rows.rewards[row]);
    }
}

void Linear::learn(const std::uint8_t* codes, const float* scaled, std::uint32_t arm,
                   float reward) {
    if (arm >= n_arms_) add_arms(arm + 1);
    counts_[arm] += 1;
    fit(codes, scaled, arm, reward);
}

void Linear::step(std::size_t weight, float gradient) {
    // Only weights of damaged bytes make it so steep, or no number.
    constexpr float kSteepest = 1e9f;
    if (!(std::abs(gradient) < kSteepest)) return;
    squares_[weight] += gradient * gradient;
    weights_[weight] -= kRate * gradient / std::sqrt(squares_[weight]);
}

void Linear::fit(const std::uint8_t* codes, const float* scaled, std::uint32_t arm, float reward) {
    const float score = this->score(codes, scaled, arm);
    const float error = (binary_ ? static_cast<float>(sigmoid(score)) : score) - reward;
    const auto penalty = static_cast<float>(kPenalty / std::max(counts_[arm], 1.0));
    inputs_.each(codes, scaled, [&](std::uint32_t input, float value) {
        const std::size_t weight = std::size_t{input} * n_arms_ + arm;
        step(weight, error * value + (input == 0 ? 0 : penalty * weights_[weight]));
    });
}

float Linear::score(const std::uint8_t* codes, const float* scaled, std::uint32_t arm) const {
    if (arm >= n_arms_) return 0;
    float sum = 0;
    inputs_.each(codes, scaled, [&](std::uint32_t input, float value) {
        sum += weights_[std::size_t{input} * n_arms_ + arm] * value;
    });
    return sum;
}

void Linear::predict(const std::uint8_t* codes, const float* scaled, std::span<float> score) const {
    std::fill(score.begin(), score.end(), 0.0f);
    const std::size_t known = std::min<std::size_t>(score.size(), n_arms_);
    inputs_.each(codes, scaled, [&](std::uint32_t input, float value) {
        const float* weights = weights_.data() + std::size_t{input} * n_arms_;
        for (std::size_t arm = 0; arm < known; ++arm) score[arm] += weights[arm] * value;
    });
}

// Numbers are 0 on average; a category is compared with what all contexts have.
Attribution Linear::attribution(const Coder& coder, const std::uint8_t* codes, const float* scaled,
                                std::uint32_t arm) const {
    Attribution attribution(inputs_.first.size());
    if (arm >= n_arms_) return attribution;
    const auto weight = [&](std::size_t input) { return weights_[input * n_arms_ + arm]; };
    attribution.base = weight(0);
    for (std::uint32_t f = 0; f < inputs_.first.size(); ++f) {
        const std::size_t first = inputs_.first[f];
        if (!inputs_.is_category[f]) {
            attribution.of_feature[f] = weight(first) * scaled[f];
            continue;
        }
        double mean = 0;
        for (std::uint8_t code = 0; code < Coder::kCodes; ++code)
            mean += coder.share(f, code) * weight(first + code);
        attribution.base += mean;
        attribution.of_feature[f] = weight(first + codes[f]) - mean;
    }
    return attribution;
}

}  // namespace banditree
