#include "banditree/online_tree_bootstrap.hpp"

#include <algorithm>

#include "banditree/leader.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

void OnlineTreeBootstrap::add_arm() {
    Arm& arm = arms_.emplace_back(settings_.max_bins);
    arm.rows.set_kinds(kinds_);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        arm.replicas.push_back(
            std::make_unique<IncrementalTree>(settings_.growth, settings_.max_bins));
        arm.replicas.back()->set_kinds(kinds_);
    }
}

void OnlineTreeBootstrap::set_kinds(const std::vector<Kind>& kinds) {
    for (const Arm& arm : arms_) arm.rows.check_kinds(kinds);
    for (Arm& arm : arms_) {
        arm.rows.set_kinds(kinds);
        for (auto& replica : arm.replicas) replica->set_kinds(kinds);
    }
    kinds_ = kinds;
}

std::vector<bool> OnlineTreeBootstrap::members(std::uint32_t arm, std::size_t row) const {
    Rng coins = Rng(settings_.seed).child(arm).child(row);
    std::vector<bool> members(settings_.n_replicas);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = coins.next() >> 63;
    return members;
}

void OnlineTreeBootstrap::learn(std::uint32_t id, std::span<const double> context, double reward) {
    Arm& arm = arms_[id];
    spread_.add(reward);
    const auto takes = members(id, arm.rows.n_rows());
    arm.rows.append(context, reward, 1.0);
    arm.rows.renew();
    for (std::size_t i = 0; i < takes.size(); ++i)
        if (takes[i]) arm.replicas[i]->learn(context, reward, 1.0);
    validate(arm);
}

void OnlineTreeBootstrap::learn_many(ArmIndices arms, const Matrix& contexts,
                                     std::span<const double> rewards) {
    for (const double reward : rewards) spread_.add(reward);
    const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
    for (std::uint32_t arm = 0; arm < arms_.size(); ++arm) {
        // Alpha is chosen on the rows up to the last point only, so these come first.
        const std::size_t before = arms_[arm].rows.n_rows();
        const std::size_t total = before + by_arm[arm].rewards.size();
        const std::size_t point = std::max(last_point(arms_[arm].price.chosen_at, total), before);
        teach(arm, by_arm[arm], 0, point - before);
        validate(arms_[arm]);
        teach(arm, by_arm[arm], point - before, total - before);
        validate(arms_[arm]);
    }
}

void OnlineTreeBootstrap::teach(std::uint32_t id, const ArmRows& given, std::size_t begin,
                                std::size_t end) {
    if (begin == end) return;
    Arm& arm = arms_[id];
    const std::size_t m = given.n_features;
    std::vector<ArmRows> shares(settings_.n_replicas);
    for (ArmRows& share : shares) share.n_features = m;
    for (std::size_t i = begin; i < end; ++i) {
        const std::span row(given.contexts.data() + i * m, m);
        const auto takes = members(id, arm.rows.n_rows());
        arm.rows.append(row, given.rewards[i], 1.0);
        for (std::size_t r = 0; r < takes.size(); ++r) {
            if (!takes[r]) continue;
            shares[r].contexts.insert(shares[r].contexts.end(), row.begin(), row.end());
            shares[r].rewards.push_back(given.rewards[i]);
        }
    }
    arm.rows.renew();
    for (std::size_t r = 0; r < shares.size(); ++r)
        arm.replicas[r]->learn_many(shares[r].matrix(), shares[r].rewards, {});
}

void OnlineTreeBootstrap::validate(Arm& arm) {
    const std::size_t n = arm.rows.n_rows();
    const bool due = last_point(arm.price.chosen_at, n) > arm.price.chosen_at;
    if (due)
        arm.price =
            LeafPrice::chosen(choose_alpha(arm.rows, settings_.growth, settings_.n_folds), n);
    // Cost is a sum, and a replica has half the rows.
    const double alpha = arm.price.alpha(n) / 2;
    for (auto& replica : arm.replicas) {
        due ? replica->set_alpha(alpha) : replica->raise_alpha(alpha);
        if (replica->n_rows() > 0) replica->settle();
    }
}

std::uint32_t OnlineTreeBootstrap::decide(const double* context, ArmIndices eligible,
                                          Rng& rng) const {
    const bool any_cold = std::any_of(eligible.begin(), eligible.end(), [&](auto id) {
        return is_cold(static_cast<std::uint32_t>(id));
    });
    Leader leader(rng);
    for (const auto id : eligible) {
        const auto arm = static_cast<std::uint32_t>(id);
        if (any_cold) {
            leader.offer(arm, is_cold(arm));
            continue;
        }
        const auto replica = static_cast<std::uint32_t>(rng.integer(settings_.n_replicas));
        leader.offer(arm, predict(arm, replica, context));
    }
    return leader.arm();
}

bool OnlineTreeBootstrap::is_cold(std::uint32_t arm) const {
    const auto& replicas = arms_[arm].replicas;
    return std::all_of(replicas.begin(), replicas.end(),
                       [](const auto& replica) { return replica->n_rows() == 0; });
}

double OnlineTreeBootstrap::predict(std::uint32_t arm, std::uint32_t i,
                                    const double* context) const {
    const IncrementalTree& tree = *arms_[arm].replicas[i];
    Evidence leaf;
    if (tree.n_rows() > 0)
        leaf = Evidence::of(tree.pruned_leaf(context), tree.rows().data().offset);
    return settings_.posterior.mean(leaf, spread_);
}

}  // namespace banditree
