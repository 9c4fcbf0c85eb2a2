#include "banditree/bandit_forest/bandit_stump.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "banditree/random/elementary.hpp"

namespace banditree {

namespace {

// The worth of a variable is a sum of two means of rewards in [0, 1].
constexpr double kLargestGap = 2;
constexpr double kRounding = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53;

double deviation(double factor, double t) {
    return std::sqrt(portable_log(factor * t * t) / (2 * t));
}

}  // namespace

double variable_radius(const Contest& contest, double t) {
    return contest.radius * 4 * deviation(contest.variable_factor, t);
}

double arm_radius(const Contest& contest, double t) {
    return contest.radius * 2 * deviation(contest.arm_factor, t);
}

void Tally::write(StateWriter& out) const {
    out.number(count);
    out.number(sum);
}

Tally Tally::read(StateReader& in) {
    Tally tally;
    tally.count = static_cast<double>(in.whole(kMaxCount));
    tally.sum = in.between(0, tally.count);
    return tally;
}

BanditStump::BanditStump(std::vector<std::uint32_t> candidates, double epsilon, bool deepest,
                         std::size_t n_arms)
    : candidates_(std::move(candidates)),
      epsilon_(epsilon),
      deepest_(deepest),
      widest_gap_(kLargestGap) {
    if (candidates_.empty()) candidates_.push_back(kNoVariable);
    for (std::size_t arm = 0; arm < n_arms; ++arm) add_arm();
}

void BanditStump::add_arm() {
    plays_.emplace_back();
    ones_.resize(ones_.size() + candidates_.size());
    if (deepest_) remains_.resize(ones_.size());
}

void BanditStump::arms_changed(std::span<const std::uint8_t> active) {
    widest_gap_ = kLargestGap;
    if (!deepest_) return;
    for (std::size_t position = 0; position < candidates_.size(); ++position)
        for (const bool value : {false, true})
            if (count_remaining(position, value, active) == 0)
                for (std::size_t arm = 0; arm < plays_.size(); ++arm)
                    remains_[slot(arm, position)][value] = true;
}

void BanditStump::learn(std::uint32_t arm, double reward, const BitView& bits,
                        const Contest& contest) {
    plays_[arm].add(reward);
    for (std::size_t position = 0; position < candidates_.size(); ++position)
        if (bits[candidates_[position]]) ones_[slot(arm, position)].add(reward);
    // One more reward moves the arm's two means by at most 1 / count in total.
    widest_gap_ += 2 / plays_[arm].count;
    eliminate_variables(contest);
    if (!deepest_) return;
    for (std::size_t position = 0; position < candidates_.size(); ++position)
        eliminate_arms(position, bits[candidates_[position]], contest);
}

Tally BanditStump::cell(std::uint32_t arm, bool value, std::size_t position) const {
    const Tally& ones = ones_[slot(arm, position)];
    if (value) return ones;
    const Tally& all = plays_[arm];
    return {all.count - ones.count, std::max(0.0, all.sum - ones.sum)};
}

std::vector<double> BanditStump::worths(std::span<const std::uint8_t> active) const {
    const std::size_t n = candidates_.size();
    std::vector<double> of_zero(n, 0.0), of_one(n, 0.0);
    for (std::size_t arm = 0; arm < plays_.size(); ++arm) {
        if (!active[arm]) continue;
        const Tally all = plays_[arm];
        const Tally* ones = &ones_[slot(arm, 0)];
        for (std::size_t i = 0; i < n; ++i) {
            of_one[i] = std::max(of_one[i], ones[i].sum / all.count);
            of_zero[i] = std::max(of_zero[i], (all.sum - ones[i].sum) / all.count);
        }
    }
    for (std::size_t i = 0; i < n; ++i) of_one[i] += of_zero[i];
    return of_one;
}

void BanditStump::eliminate_variables(const Contest& contest) {
    if (selected()) return;
    double fewest = kInfinity;
    for (std::size_t arm = 0; arm < plays_.size(); ++arm)
        if (contest.active[arm]) fewest = std::min(fewest, plays_[arm].count);
    if (fewest == 0 || fewest == kInfinity) return;
    const double radius = variable_radius(contest, fewest);
    if (widest_gap_ + epsilon_ + kRounding < radius) return;

    const std::vector<double> worth = worths(contest.active);
    const auto best = std::max_element(worth.begin(), worth.end());
    std::vector<std::size_t> kept;
    widest_gap_ = 0;
    for (std::size_t position = 0; position < worth.size(); ++position) {
        const double gap = *best - worth[position];
        // The best stays even when epsilon alone exceeds the radius.
        if (worth.begin() + position != best && gap + epsilon_ >= radius) continue;
        kept.push_back(position);
        widest_gap_ = std::max(widest_gap_, gap);
    }
    if (kept.size() < candidates_.size()) keep_variables(kept);
}

void BanditStump::keep_variables(std::span<const std::size_t> positions) {
    std::size_t end = 0;
    for (std::size_t arm = 0; arm < plays_.size(); ++arm)
        for (const std::size_t position : positions) {
            ones_[end] = ones_[slot(arm, position)];
            if (deepest_) remains_[end] = remains_[slot(arm, position)];
            ++end;
        }
    ones_.resize(end);
    ones_.shrink_to_fit();
    remains_.resize(deepest_ ? end : 0);
    remains_.shrink_to_fit();
    for (std::size_t i = 0; i < positions.size(); ++i) candidates_[i] = candidates_[positions[i]];
    candidates_.resize(positions.size());
}

std::size_t BanditStump::count_remaining(std::size_t position, bool value,
                                         std::span<const std::uint8_t> active) const {
    std::size_t count = 0;
    for (std::size_t arm = 0; arm < plays_.size(); ++arm)
        count += active[arm] && remains_[slot(arm, position)][value];
    return count;
}

void BanditStump::eliminate_arms(std::size_t position, bool value, const Contest& contest) {
    double fewest = kInfinity, highest = 0;
    std::size_t count = 0, best = 0;
    for (std::uint32_t arm = 0; arm < plays_.size(); ++arm) {
        if (!contest.active[arm] || !remains(arm, value, position)) continue;
        const Tally tally = cell(arm, value, position);
        if (tally.count == 0) return;
        fewest = std::min(fewest, tally.count);
        if (count++ == 0 || tally.mean() > highest) highest = tally.mean(), best = arm;
    }
    if (count < 2) return;
    const double radius = arm_radius(contest, fewest);
    if (1 + epsilon_ < radius) return;
    for (std::uint32_t arm = 0; arm < plays_.size(); ++arm) {
        if (arm == best || !contest.active[arm] || !remains(arm, value, position)) continue;
        if (highest - cell(arm, value, position).mean() + epsilon_ >= radius)
            remains_[slot(arm, position)][value] = false;
    }
}

bool BanditStump::settled(bool value, std::span<const std::uint8_t> active) const {
    return deepest_ && selected() && count_remaining(0, value, active) == 1;
}

void BanditStump::write(StateWriter& out) const {
    const bool has_variables = variable() != kNoVariable;
    out.whole(has_variables ? candidates_.size() : 0);
    if (has_variables)
        for (const std::uint32_t variable : candidates_) out.whole(variable);
    out.number(epsilon_);
    for (const Tally& tally : plays_) tally.write(out);
    for (const Tally& tally : ones_) tally.write(out);
    for (const Remains& cell : remains_)
        for (const bool value : {false, true}) out.flag(cell[value]);
}

void BanditStump::read_tallies(StateReader& in) {
    for (Tally& tally : plays_) tally = Tally::read(in);
    for (std::size_t i = 0; i < ones_.size(); ++i) {
        ones_[i] = Tally::read(in);
        StateReader::require(ones_[i].count <= plays_[i / candidates_.size()].count);
    }
    for (Remains& cell : remains_)
        for (const bool value : {false, true}) cell[value] = in.flag();
}

BanditStump BanditStump::read(StateReader& in, std::size_t n_variables, bool deepest,
                              std::span<const std::uint8_t> active) {
    std::vector<std::uint32_t> candidates(in.length());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        candidates[i] = in.index(n_variables);
        StateReader::require(i == 0 || candidates[i - 1] < candidates[i]);
    }
    const double epsilon = in.between(0, kInfinity);
    in.expect(active.size() * candidates.size());
    BanditStump stump(std::move(candidates), epsilon, deepest, active.size());
    stump.read_tallies(in);
    // Reviving arms would be a change: every cell that was written has an active arm, if any is.
    const bool none_active = std::count(active.begin(), active.end(), 1) == 0;
    for (std::size_t position = 0; deepest && position < stump.candidates_.size(); ++position)
        for (const bool value : {false, true})
            StateReader::require(none_active || stump.count_remaining(position, value, active) > 0);
    return stump;
}

}  // namespace banditree
