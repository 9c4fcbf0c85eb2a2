#include "banditree/tree_heuristic.hpp"

#include <algorithm>
#include <limits>

#include "banditree/deciding.hpp"

namespace banditree {

void TreeHeuristic::add_arm() {
    arms_.push_back(ArmTree::make(settings_));
    arms_.back()->set_kinds(kinds_);
    windows_.emplace_back();
}

void TreeHeuristic::set_kinds(const std::vector<Kind>& kinds) {
    for (const auto& arm : arms_) arm->rows().check_kinds(kinds);
    for (auto& arm : arms_) arm->set_kinds(kinds);
    kinds_ = kinds;
}

void TreeHeuristic::learn(std::uint32_t arm, std::span<const double> context, double reward) {
    note(arm, reward);
    arms_[arm]->learn(context, reward);
}

// Keeps the spread that of the rewards that count.
void TreeHeuristic::note(std::uint32_t arm, double reward) {
    spread_.add(reward);
    if (settings_.window == 0) return;
    const std::optional<double> left = windows_[arm].push(reward, settings_.window);
    if (!left) return;
    spread_.remove(*left);
    spread_.lowest = std::numeric_limits<double>::infinity();
    spread_.highest = -spread_.lowest;
    for (const RewardWindow& window : windows_) {
        if (window.empty()) continue;
        spread_.lowest = std::min(spread_.lowest, window.lowest());
        spread_.highest = std::max(spread_.highest, window.highest());
    }
}

void TreeHeuristic::restore(std::uint32_t arm, const Matrix& contexts,
                            std::span<const double> rewards, std::size_t n_learned) {
    for (const double reward : rewards) note(arm, reward);
    arms_[arm]->restore(contexts, rewards, n_learned);
}

void TreeHeuristic::learn_many(ArmIndices arms, const Matrix& contexts,
                               std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        note(static_cast<std::uint32_t>(arms[i]), rewards[i]);
    const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
    for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        arms_[arm]->learn_many(by_arm[arm].matrix(), by_arm[arm].rewards);
}

std::uint32_t TreeHeuristic::decide(const double* context, ArmIndices eligible, Rng& rng) const {
    return draw_from_leaves(eligible, posterior_, spread_, rng,
                            [&](std::uint32_t arm) { return evidence(arm, context); });
}

std::uint32_t TreeHeuristic::decide_greedily(const double* context, ArmIndices eligible,
                                             Rng& rng) const {
    return best_of_leaves(eligible, posterior_, spread_, rng,
                          [&](std::uint32_t arm) { return evidence(arm, context); });
}

Evidence TreeHeuristic::evidence(std::uint32_t arm, const double* context) const {
    const ArmTree& tree = *arms_[arm];
    return tree.n_rows() > 0 ? Evidence::of(tree.leaf(context), tree.offset()) : Evidence{};
}

FrozenTrees TreeHeuristic::freeze() const {
    std::vector<FrozenTrees::Arm> frozen(arms_.size());
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        const ArmTree& arm = *arms_[i];
        if (arm.n_rows() == 0) continue;
        const Tree tree = arm.pruned();
        frozen[i].n_rows = tree.nodes[0].n;
        frozen[i].tree = FlatTree(tree);
        frozen[i].leaves = evidence_of(arm.leaves(), arm.offset());
    }
    return {FrozenTrees::Rule::posterior, posterior_, spread_, kinds_, std::move(frozen)};
}

}  // namespace banditree
