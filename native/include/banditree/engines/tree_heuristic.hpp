// One pruned tree per arm; a decision draws each arm's mean reward from what its leaf says.
#pragma once

#include <cstdint>
#include <memory>

#include "banditree/engines/arm_tree.hpp"
#include "banditree/engines/engine.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

class TreeHeuristic final : public TreeEngine<ArmTree> {
 public:
    TreeHeuristic(const ArmTreeSettings& settings, const Posterior& posterior)
        : TreeEngine(settings.rows_that_count(), settings.beside, posterior), settings_(settings) {}

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // The arm of the highest mean: no draw, but for ties.
    std::uint32_t decide_greedily(const double* context, ArmIndices eligible, Rng& rng) const;
    Evidence evidence(std::uint32_t arm, const double* context) const;
    const ArmTree& arm(std::uint32_t arm) const { return *arms_[arm]; }

 private:
    std::unique_ptr<ArmTree> empty_arm(std::uint32_t id) const override;
    void forget_but(std::uint32_t arm, std::size_t most) override;
    FrozenTrees::Rule rule() const override { return FrozenTrees::Rule::posterior; }
    FrozenTrees::Arm frozen(std::uint32_t arm) const override;

    ArmTreeSettings settings_;
};

static_assert(Engine<TreeHeuristic>);

}  // namespace banditree
