#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "banditree/random/rng.hpp"

namespace banditree {

// The arm of the largest value among those offered, ties at random.
class Leader {
 public:
    explicit Leader(Rng& rng) : rng_(rng) {}

    void offer(std::uint32_t arm, double value) {
        // What is no number loses; if none is one, still one of those offered leads.
        if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
        if (value > best_) {
            best_ = value;
            tied_ = 0;
        }
        if (value == best_ && (++tied_ == 1 || rng_.integer(tied_) == 0)) arm_ = arm;
    }
    std::uint32_t arm() const { return arm_; }

 private:
    Rng& rng_;
    double best_ = -std::numeric_limits<double>::infinity();
    std::uint64_t tied_ = 0;
    std::uint32_t arm_ = 0;
};

}  // namespace banditree
