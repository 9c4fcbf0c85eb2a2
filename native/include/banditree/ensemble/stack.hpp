// Weighs members by what each predicted before it knew.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "banditree/state.hpp"

namespace banditree {

// A weighted sum of what members say, and a constant: of logits if rewards are binary, of means
// otherwise. Weights begin equal and are never negative.
class Stack {
 public:
    Stack(std::size_t n_members, bool binary);

    // The mean reward, or its logit.
    double score(std::span<const double> inputs) const;
    double mean(std::span<const double> inputs) const;
    // One Newton step on the likelihood of all rewards so far.
    void learn(std::span<const double> inputs, double reward);

    std::span<const double> weights() const { return weights_; }
    void write(ByteWriter& out) const;
    void read(ByteReader& in);

 private:
    std::vector<double> solved(std::vector<double> gradient) const;
    std::size_t n() const { return weights_.size(); }

    bool binary_;
    std::vector<double> weights_;    // the last one is the constant
    std::vector<double> curvature_;  // n x n
};

}  // namespace banditree
