// The spread of the rewards that count: all, or the last ones of each arm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "banditree/laws/posterior.hpp"
#include "banditree/laws/reward_window.hpp"

namespace banditree {

class RewardWindows {
 public:
    explicit RewardWindows(std::size_t window) : window_(window) {}  // 0: all rewards count

    void add_arm() { windows_.emplace_back(); }
    void add(std::uint32_t arm, double reward) {
        spread_.add(reward);
        if (window_ == 0) return;
        const std::optional<double> left = windows_[arm].push(reward, window_);
        if (left) remove(*left);
    }
    // Of each arm, only so many rewards, the last ones, count from now on.
    void keep_last(std::span<const std::int64_t> counts) {
        for (std::size_t arm = 0; arm < windows_.size(); ++arm)
            windows_[arm].keep_last(static_cast<std::size_t>(counts[arm]));
        count_again();
    }
    Spread& spread() { return spread_; }
    const Spread& spread() const { return spread_; }

 private:
    void remove(double reward) {
        const double before = spread_.squared_error;
        spread_.remove(reward);
        // What is left may be rounding only, and a law of rewards would take it for their scale.
        if (spread_.squared_error < kCancelled * before) return count_again();
        spread_.lowest = std::numeric_limits<double>::infinity();
        spread_.highest = -spread_.lowest;
        for (const RewardWindow& window : windows_) {
            if (window.empty()) continue;
            spread_.lowest = std::min(spread_.lowest, window.lowest());
            spread_.highest = std::max(spread_.highest, window.highest());
        }
    }
    void count_again() {
        spread_ = {};
        for (const RewardWindow& window : windows_)
            for (const double reward : window.rewards()) spread_.add(reward);
    }

    static constexpr double kCancelled = 1e-6;
    std::size_t window_;
    Spread spread_;
    std::vector<RewardWindow> windows_;  // of each arm; without a window, they stay empty
};

}  // namespace banditree
