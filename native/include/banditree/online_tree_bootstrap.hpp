// Several trees per arm, each on a random half of its rows; a decision asks one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/arm_rows.hpp"
#include "banditree/frozen_trees.hpp"
#include "banditree/gardener.hpp"
#include "banditree/halved_arm.hpp"
#include "banditree/posterior.hpp"
#include "banditree/reward_windows.hpp"
#include "banditree/rng.hpp"

namespace banditree {

class OnlineTreeBootstrap {
 public:
    struct Settings : HalvedArmSettings {
        std::uint64_t seed = 0;  // of the halves
        Posterior posterior;
    };

    explicit OnlineTreeBootstrap(const Settings& settings)
        : settings_(settings), rewards_(settings.window), gardener_(10 * settings.beside) {}
    OnlineTreeBootstrap(const OnlineTreeBootstrap&) = delete;
    OnlineTreeBootstrap& operator=(const OnlineTreeBootstrap&) = delete;

    void add_arm();
    // For all arms or, if it throws std::invalid_argument, for none.
    void set_kinds(const std::vector<Kind>& kinds);
    void learn(std::uint32_t arm, std::span<const double> context, double reward);
    // The same as learning the rows one by one.
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards);
    // Becomes what it would be had each arm learned only so many of its rows that count, the last
    // ones, each with the coins that it came with.
    void keep_last(std::span<const std::int64_t> counts);
    // Gives an arm without rows those that another one has kept of all that it has learned.
    void restore(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards,
                 std::size_t n_learned);
    // As of TreeHeuristic.
    bool tend();
    auto waiting() { return gardener_.waiting(); }

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // Whether the arm is offered before any other: no replica has a row of it.
    bool is_cold(std::uint32_t arm) const { return arms_[arm].is_cold(); }
    // What a replica expects of the arm in the context.
    double predict(std::uint32_t arm, std::uint32_t replica, const double* context) const;
    FrozenTrees freeze() const;
    // Whether each replica takes in the row of this number, of all that the arm has learned: coins
    // that depend on seed, arm and number only.
    std::vector<bool> members(std::uint32_t arm, std::size_t row) const {
        return arms_[arm].members(row);
    }

    std::size_t n_arms() const { return arms_.size(); }
    RowWindow window() const { return settings_.rows_that_count(); }
    std::uint32_t n_replicas() const { return settings_.n_replicas; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const Growth& growth() const { return settings_.growth; }
    const RowStore& rows(std::uint32_t arm) const { return arms_[arm].rows(); }
    std::size_t n_rows(std::uint32_t arm, std::uint32_t i) const { return arms_[arm].n_rows(i); }
    // The pruned tree of a replica that has rows.
    Tree tree(std::uint32_t arm, std::uint32_t i) const {
        return arms_[arm].tree(i).current(arms_[arm].offset());
    }
    Spread& spread() { return rewards_.spread(); }

    void write(ByteWriter& out) const;
    // Becomes the engine, of the same settings, that was written. Throws std::invalid_argument,
    // having changed nothing, on what none has written.
    void read(ByteReader& in);

 private:
    friend class Gardener<HalvedArm>;
    bool is_due(std::uint32_t arm) const { return arms_[arm].is_due(); }
    std::unique_ptr<HalvedArm> cutting(std::uint32_t arm) const { return arms_[arm].cutting(); }
    std::size_t n_since(std::uint32_t arm, const HalvedArm& grown) const {
        return arms_[arm].n_since(grown);
    }
    void plant(std::uint32_t arm, HalvedArm&& grown) { arms_[arm].plant(std::move(grown)); }

    Settings settings_;
    std::vector<Kind> kinds_;
    std::vector<HalvedArm> arms_;
    RewardWindows rewards_;
    Gardener<HalvedArm> gardener_;
};

}  // namespace banditree
