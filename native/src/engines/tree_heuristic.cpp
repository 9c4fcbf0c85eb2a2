#include "banditree/engines/tree_heuristic.hpp"

#include "banditree/engines/deciding.hpp"

namespace banditree {

std::unique_ptr<ArmTree> TreeHeuristic::empty_arm(std::uint32_t) const {
    return ArmTree::make(settings_);
}

void TreeHeuristic::forget_but(std::uint32_t arm, std::size_t most) {
    const RowStore& rows = this->rows(arm);
    const ArmRows last = last_rows(rows, window().last(rows.n_rows(), most));
    arms_[arm] = empty_arm(arm);
    arms_[arm]->set_kinds(kinds_);
    arms_[arm]->learn_many(last.matrix(), last.rewards);
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

FrozenTrees::Arm TreeHeuristic::frozen(std::uint32_t id) const {
    FrozenTrees::Arm frozen;
    const ArmTree& arm = *arms_[id];
    if (arm.n_rows() == 0) return frozen;
    const Tree tree = arm.pruned();
    frozen.n_rows = tree.nodes[0].n;
    frozen.tree = FlatTree(tree);
    frozen.leaves = evidence_of(arm.leaves(), arm.offset());
    return frozen;
}

}  // namespace banditree
