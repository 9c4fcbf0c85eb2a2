// A forest whose trees all arms share. Splits stay until it is fitted again; rewards enter the
// leaves at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/attribution.hpp"
#include "banditree/ensemble/coded_rows.hpp"
#include "banditree/ensemble/forest_leaves.hpp"
#include "banditree/ensemble/shared_tree.hpp"

namespace banditree {

struct ForestSettings {
    std::uint32_t n_trees = 20;
    SharedGrowth growth{
        .max_depth = 60, .min_rows = 2, .penalty = 0.5f, .shrinkage = 1, .feature_share = 0.4};
};

class Forest {
 public:
    Forest() = default;
    // base: what is expected of each arm, the last of arms to come, before any tree has spoken.
    static Forest fit(const CodedRows& rows, const Coder& coder, std::vector<float> base,
                      const ForestSettings& settings, std::uint64_t seed);

    // The mean reward of each arm. Those that came after the fit have that of all arms together.
    void predict(const std::uint8_t* codes, std::span<float> mean) const;
    float mean(const std::uint8_t* codes, std::uint32_t arm) const;
    Attribution attribution(const std::uint8_t* codes, std::uint32_t arm,
                            std::size_t n_features) const;
    void learn(const std::uint8_t* codes, std::uint32_t arm, float reward, std::uint64_t number);

    bool is_fitted() const { return !base_.empty(); }
    std::uint32_t n_arms() const { return static_cast<std::uint32_t>(base_.size()) - 1; }
    void write(ByteWriter& out) const;
    static Forest read(ByteReader& in, std::size_t n_features);

 private:
    struct Bag {
        SharedTree tree;
        ForestLeaves leaves;
    };
    // How often an observation is in a bag: a Poisson number of mean 1, always the same.
    std::uint32_t times(std::size_t bag, std::uint64_t number) const;

    std::uint64_t seed_ = 0;
    std::vector<float> base_;
    std::vector<Bag> bags_;
};

}  // namespace banditree
