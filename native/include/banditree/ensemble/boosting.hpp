// Gradient boosting with trees that all arms share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/attribution.hpp"
#include "banditree/ensemble/coded_rows.hpp"
#include "banditree/ensemble/shared_tree.hpp"

namespace banditree {

struct BoostingSettings {
    std::uint32_t n_trees = 100;
    float rate = 0.05f;
    double row_share = 0.7;  // of the rows that a tree is grown on
    SharedGrowth growth{
        .max_depth = 4, .min_rows = 2, .penalty = 1, .shrinkage = 1, .feature_share = 0.5};
};

class Boosting {
 public:
    // Scores of each arm, the last of arms to come, before any tree has spoken. Binary: a score is
    // a logit; otherwise, a mean.
    Boosting() = default;
    static Boosting fit(const CodedRows& rows, const Coder& coder, bool binary,
                        std::vector<float> start, const BoostingSettings& settings, Rng& rng);

    // The score of each arm, and its support: the variance of its rows in a leaf with the context,
    // added up. A row of a mean counts 1, one of a probability p counts p (1 - p). Over trees
    // it is a harmonic mean, so that those count for more that tell the context from others: what
    // an arm did in other contexts is no reason to be sure of it here.
    // Arms that came after the fit have the score of all arms together, and no support.
    void predict(const std::uint8_t* codes, std::span<float> score, std::span<float> support) const;
    float score(const std::uint8_t* codes, std::uint32_t arm) const;
    float support(const std::uint8_t* codes, std::uint32_t arm) const;
    Attribution attribution(const std::uint8_t* codes, std::uint32_t arm,
                            std::size_t n_features) const;

    bool is_fitted() const { return !start_.empty(); }
    std::uint32_t n_arms() const { return static_cast<std::uint32_t>(start_.size()) - 1; }
    void write(ByteWriter& out) const;
    static Boosting read(ByteReader& in, std::size_t n_features);

 private:
    struct Stage {
        SharedTree tree;
        std::vector<float> value;     // of each leaf and arm, the last of all arms together
        std::vector<float> doubt;     // 1 / (variance of the rows of a leaf and arm + least_)
        std::vector<float> contexts;  // how many came to each leaf

        // Counts the rows, and adds what the tree says of them to their scores.
        void take_in(const CodedRows& rows, bool binary, float least, std::vector<float>& scores);
    };
    float support_of(float doubts) const;
    std::uint32_t column(std::uint32_t arm) const { return std::min(arm, n_arms()); }

    std::vector<float> start_;
    float least_ = 1;  // what every leaf is taken to have besides its rows
    std::vector<Stage> stages_;
};

}  // namespace banditree
