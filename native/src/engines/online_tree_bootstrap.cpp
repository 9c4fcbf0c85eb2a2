#include "banditree/engines/online_tree_bootstrap.hpp"

#include "banditree/engines/deciding.hpp"

namespace banditree {

std::unique_ptr<HalvedArm> OnlineTreeBootstrap::empty_arm(std::uint32_t id) const {
    return std::make_unique<HalvedArm>(settings_, Rng(settings_.seed).child(id),
                                       std::vector<Kind>());
}

std::uint32_t OnlineTreeBootstrap::decide(const double* context, ArmIndices eligible,
                                          Rng& rng) const {
    return cold_arms_first(
        eligible, rng, [&](std::uint32_t arm) { return is_cold(arm); },
        [&](std::uint32_t arm) {
            const auto replica = static_cast<std::uint32_t>(rng.integer(settings_.n_replicas));
            return predict(arm, replica, context);
        });
}

double OnlineTreeBootstrap::predict(std::uint32_t arm, std::uint32_t i,
                                    const double* context) const {
    return posterior_.mean(arms_[arm]->leaf(i, context), rewards_.spread());
}

FrozenTrees::Arm OnlineTreeBootstrap::frozen(std::uint32_t id) const {
    FrozenTrees::Arm frozen;
    const HalvedArm& arm = *arms_[id];
    frozen.n_rows = arm.n_counted();
    frozen.cold = is_cold(id);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        FrozenTrees::Replica& one = frozen.replicas.emplace_back();
        std::vector<Evidence> leaves(1);  // an empty one, of a replica without rows
        if (arm.n_rows(i) > 0) {
            one.tree = FlatTree(arm.tree(i).splits());
            leaves = evidence_of(arm.tree(i).leaves(), arm.offset());
        }
        for (const Evidence& leaf : leaves)
            one.predictions.push_back(posterior_.mean(leaf, rewards_.spread()));
    }
    return frozen;
}

}  // namespace banditree
