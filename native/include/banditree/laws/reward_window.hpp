// The last rewards of an arm, with the lowest and the highest of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace banditree {

class RewardWindow {
 public:
    // Takes in a reward; returns the one that falls out, if there are more than `most` then.
    std::optional<double> push(double reward, std::size_t most) {
        rewards_.push_back(reward);
        while (!lows_.empty() && lows_.back() > reward) lows_.pop_back();
        lows_.push_back(reward);
        while (!highs_.empty() && highs_.back() < reward) highs_.pop_back();
        highs_.push_back(reward);
        if (rewards_.size() <= most) return std::nullopt;
        const double left = rewards_.front();
        rewards_.pop_front();
        if (lows_.front() == left) lows_.pop_front();
        if (highs_.front() == left) highs_.pop_front();
        return left;
    }
    // Lets all fall out but the last ones.
    void keep_last(std::size_t most) {
        const std::size_t n = rewards_.size();
        RewardWindow kept;
        for (std::size_t i = n - std::min(most, n); i < n; ++i) kept.push(rewards_[i], n);
        *this = std::move(kept);
    }
    const std::deque<double>& rewards() const { return rewards_; }
    bool empty() const { return rewards_.empty(); }
    double lowest() const { return lows_.front(); }
    double highest() const { return highs_.front(); }

 private:
    std::deque<double> rewards_;
    // Those that are lower, or higher, than all that came after them: the first is the extreme.
    std::deque<double> lows_;
    std::deque<double> highs_;
};

}  // namespace banditree
