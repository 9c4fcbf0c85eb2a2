// Several trees per arm, each on a random half of its rows; a decision asks one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "banditree/engines/engine.hpp"
#include "banditree/engines/halved_arm.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

class OnlineTreeBootstrap final : public TreeEngine<HalvedArm> {
 public:
    struct Settings : HalvedArmSettings {
        std::uint64_t seed = 0;  // of the halves
        Posterior posterior;
    };

    explicit OnlineTreeBootstrap(const Settings& settings)
        : TreeEngine(settings.rows_that_count(), settings.beside, settings.posterior),
          settings_(settings) {}

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // Whether the arm is offered before any other: no replica has a row of it.
    bool is_cold(std::uint32_t arm) const { return arms_[arm]->is_cold(); }
    // What a replica expects of the arm in the context.
    double predict(std::uint32_t arm, std::uint32_t replica, const double* context) const;
    // Whether each replica takes in the row of this number, of all that the arm has learned: coins
    // that depend on seed, arm and number only.
    std::vector<bool> members(std::uint32_t arm, std::size_t row) const {
        return arms_[arm]->members(row);
    }

    std::uint32_t n_replicas() const { return settings_.n_replicas; }
    const Growth& growth() const { return settings_.growth; }
    std::size_t n_rows(std::uint32_t arm, std::uint32_t i) const { return arms_[arm]->n_rows(i); }
    // The pruned tree of a replica that has rows.
    Tree tree(std::uint32_t arm, std::uint32_t i) const {
        return arms_[arm]->tree(i).current(arms_[arm]->offset());
    }

 private:
    std::unique_ptr<HalvedArm> empty_arm(std::uint32_t id) const override;
    // The rows that are left keep the coins that they came with.
    void forget_but(std::uint32_t arm, std::size_t most) override { arms_[arm]->keep_last(most); }
    FrozenTrees::Rule rule() const override { return FrozenTrees::Rule::replicas; }
    FrozenTrees::Arm frozen(std::uint32_t arm) const override;

    Settings settings_;
};

static_assert(Engine<OnlineTreeBootstrap>);

}  // namespace banditree
