// One pruned tree per arm; a decision draws each arm's mean reward from what its leaf says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/arm_rows.hpp"
#include "banditree/arm_tree.hpp"
#include "banditree/frozen_trees.hpp"
#include "banditree/gardener.hpp"
#include "banditree/posterior.hpp"
#include "banditree/reward_windows.hpp"
#include "banditree/rng.hpp"
#include "banditree/row_window.hpp"

namespace banditree {

class TreeHeuristic {
 public:
    TreeHeuristic(const ArmTreeSettings& settings, const Posterior& posterior)
        : settings_(settings),
          posterior_(posterior),
          rewards_(settings.window),
          gardener_(10 * settings.beside) {}
    TreeHeuristic(const TreeHeuristic&) = delete;
    TreeHeuristic& operator=(const TreeHeuristic&) = delete;

    void add_arm();
    // For all arms or, if it throws std::invalid_argument, for none.
    void set_kinds(const std::vector<Kind>& kinds);
    void learn(std::uint32_t arm, std::span<const double> context, double reward);
    // The same as learning the rows one by one.
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards);

    // Becomes what it would be had each arm learned only so many of its rows that count, the last
    // ones.
    void keep_last(std::span<const std::int64_t> counts);
    // Gives an arm without rows those that another one has kept of all that it has learned.
    void restore(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards,
                 std::size_t n_learned);

    // Plants what has been grown beside and begins what is due, as learning does; returns whether
    // more is being grown. Throws what kept a tree from being grown.
    bool tend();
    auto waiting() { return gardener_.waiting(); }

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // The arm of the highest mean: no draw, but for ties.
    std::uint32_t decide_greedily(const double* context, ArmIndices eligible, Rng& rng) const;
    Evidence evidence(std::uint32_t arm, const double* context) const;
    FrozenTrees freeze() const;

    std::size_t n_arms() const { return arms_.size(); }
    RowWindow window() const { return settings_.rows_that_count(); }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const ArmTree& arm(std::uint32_t arm) const { return *arms_[arm]; }
    const RowStore& rows(std::uint32_t arm) const { return arms_[arm]->rows(); }
    Spread& spread() { return rewards_.spread(); }

    void write(ByteWriter& out) const;
    // Becomes the engine, of the same settings, that was written. Throws std::invalid_argument,
    // having changed nothing, on what none has written.
    void read(ByteReader& in);

 private:
    friend class Gardener<ArmTree>;
    bool is_due(std::uint32_t arm) const { return arms_[arm]->is_due(); }
    std::unique_ptr<ArmTree> cutting(std::uint32_t arm) const { return arms_[arm]->cutting(); }
    std::size_t n_since(std::uint32_t arm, const ArmTree& grown) const {
        return arms_[arm]->n_since(grown);
    }
    void plant(std::uint32_t arm, ArmTree&& grown) { arms_[arm]->plant(std::move(grown)); }
    std::unique_ptr<ArmTree> empty_arm() const;

    ArmTreeSettings settings_;
    Posterior posterior_;
    std::vector<Kind> kinds_;
    std::vector<std::unique_ptr<ArmTree>> arms_;
    RewardWindows rewards_;
    Gardener<ArmTree> gardener_;
};

}  // namespace banditree
