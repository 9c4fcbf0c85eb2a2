#include "banditree/tree_heuristic.hpp"

#include <algorithm>

#include "banditree/deciding.hpp"

namespace banditree {

void TreeHeuristic::add_arm() {
    arms_.push_back(empty_arm());
    rewards_.add_arm();
}

std::unique_ptr<ArmTree> TreeHeuristic::empty_arm() const {
    auto arm = ArmTree::make(settings_);
    arm->set_kinds(kinds_);
    return arm;
}

void TreeHeuristic::set_kinds(const std::vector<Kind>& kinds) {
    for (const auto& arm : arms_) arm->rows().check_kinds(kinds);
    for (auto& arm : arms_) arm->set_kinds(kinds);
    kinds_ = kinds;
}

void TreeHeuristic::learn(std::uint32_t arm, std::span<const double> context, double reward) {
    rewards_.add(arm, reward);
    arms_[arm]->learn(context, reward);
    gardener_.tend(*this, arm);
}

bool TreeHeuristic::tend() {
    gardener_.tend_all(*this);
    gardener_.check();
    return gardener_.is_busy();
}

void TreeHeuristic::restore(std::uint32_t arm, const Matrix& contexts,
                            std::span<const double> rewards, std::size_t n_learned) {
    for (const double reward : rewards) rewards_.add(arm, reward);
    arms_[arm]->restore(contexts, rewards, n_learned);
}

void TreeHeuristic::keep_last(std::span<const std::int64_t> counts) {
    gardener_.abandon();
    rewards_.keep_last(counts);
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        const RowStore& rows = arms_[i]->rows();
        const std::size_t n = window().last(rows.n_rows(), static_cast<std::size_t>(counts[i]));
        const ArmRows last = last_rows(rows, n);
        arms_[i] = empty_arm();
        arms_[i]->learn_many(last.matrix(), last.rewards);
    }
}

void TreeHeuristic::learn_many(ArmIndices arms, const Matrix& contexts,
                               std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        rewards_.add(static_cast<std::uint32_t>(arms[i]), rewards[i]);
    const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
    for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        arms_[arm]->learn_many(by_arm[arm].matrix(), by_arm[arm].rewards);
    gardener_.tend_all(*this);
}

std::uint32_t TreeHeuristic::decide(const double* context, ArmIndices eligible, Rng& rng) const {
    return draw_from_leaves(eligible, posterior_, rewards_.spread(), rng,
                            [&](std::uint32_t arm) { return evidence(arm, context); });
}

std::uint32_t TreeHeuristic::decide_greedily(const double* context, ArmIndices eligible,
                                             Rng& rng) const {
    return best_of_leaves(eligible, posterior_, rewards_.spread(), rng,
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
    return {FrozenTrees::Rule::posterior, posterior_, rewards_.spread(), kinds_, std::move(frozen)};
}

}  // namespace banditree
