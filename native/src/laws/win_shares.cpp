// Winning with sets of equally likely values.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include "banditree/laws/winning.hpp"
#include "contender.hpp"

namespace banditree {
namespace {

struct Entry {
    double value;
    std::size_t arm;

    bool operator<(const Entry& other) const {
        return value != other.value ? value < other.value : arm < other.arm;
    }
};

std::vector<Entry> sorted_entries(std::span<const std::vector<double>> values) {
    std::vector<Entry> entries;
    for (std::size_t arm = 0; arm < values.size(); ++arm) {
        for (const double value : values[arm]) entries.push_back({value, arm});
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

// Takes the values of all arms in rising order, those that are equal at once.
class ShareCount {
 public:
    explicit ShareCount(std::span<const std::vector<double>> values)
        : values_(values),
          passed_(values.size(), 0),
          below_(values.size(), 0.0),
          wins_(values.size(), 0.0) {}

    // equals: all entries of one value, sorted by arm.
    void add(std::span<const Entry> equals) {
        tied_.clear();
        for (auto first = equals.begin(); first != equals.end();) {
            const auto last = std::find_if(
                first, equals.end(), [&](const Entry& entry) { return entry.arm != first->arm; });
            enter(first->arm, static_cast<std::size_t>(last - first));
            first = last;
        }
        const double others_below =
            std::accumulate(below_.begin(), below_.end(), 1.0, std::multiplies<>());
        if (tied_.size() == 1) {
            wins_[tied_[0].arm] += others_below * tied_[0].density[0];
        } else if (others_below > 0.0) {
            share_tie(others_below);
        }
        for (const Contender& contender : tied_)
            below_[contender.arm] = share(contender.arm, passed_[contender.arm]);
    }

    const std::vector<double>& wins() const { return wins_; }

 private:
    double share(std::size_t arm, std::size_t count) const {
        return static_cast<double>(count) / static_cast<double>(values_[arm].size());
    }

    void enter(std::size_t arm, std::size_t count) {
        tied_.push_back({arm, below_[arm], {}, {}, {}});
        tied_.back().density.fill(share(arm, count));
        passed_[arm] += count;
        below_[arm] = 1.0;  // leaves it out of the product of the others
    }

    // A tie is as if each tied arm had an independent uniform number and the largest one won: where
    // this number is y, another tied arm loses with the probability below + equal y. One panel per
    // 16 arms integrates this polynomial in y exactly, up to rounding.
    void share_tie(double others_below) {
        const std::size_t panels = (tied_.size() + 15) / 16;
        const double half = 0.5 / static_cast<double>(panels);
        for (std::size_t panel = 0; panel < panels; ++panel) {
            const double middle = half * static_cast<double>(2 * panel + 1);
            for (Contender& contender : tied_) {
                for (std::size_t i = 0; i < kNodes; ++i)
                    contender.distribution[i] =
                        contender.below + contender.density[i] * (middle + half * kRule.node[i]);
            }
            find_gains(tied_);
            for (const Contender& contender : tied_)
                wins_[contender.arm] += others_below * half * dot(contender.gain, kRule.weight);
        }
    }

    std::span<const std::vector<double>> values_;
    std::vector<std::size_t> passed_;  // how many values of each arm have been added
    std::vector<double> below_;        // the same as a share of the arm's values
    std::vector<double> wins_;
    std::vector<Contender> tied_;
};

}  // namespace

std::vector<double> win_shares(std::span<const std::vector<double>> values) {
    require(!values.empty(), "win_shares: at least one arm is needed");
    for (const std::vector<double>& arm : values) {
        require(!arm.empty(), "win_shares: an arm has no value");
        require(std::all_of(arm.begin(), arm.end(), [](double v) { return std::isfinite(v); }),
                "win_shares: values must be finite");
    }
    const std::vector<Entry> entries = sorted_entries(values);
    ShareCount shares(values);
    for (auto first = entries.begin(); first != entries.end();) {
        const auto last = std::find_if(
            first, entries.end(), [&](const Entry& entry) { return entry.value != first->value; });
        shares.add({first, last});
        first = last;
    }
    return normalised(shares.wins());
}

}  // namespace banditree
