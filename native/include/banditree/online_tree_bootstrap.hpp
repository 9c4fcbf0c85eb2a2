// Several incremental trees per arm, each on a random half of its rows; a decision asks one of
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/arm_rows.hpp"
#include "banditree/incremental.hpp"
#include "banditree/leaf_price.hpp"
#include "banditree/posterior.hpp"
#include "banditree/rng.hpp"

namespace banditree {

class OnlineTreeBootstrap {
 public:
    struct Settings {
        Growth growth;
        std::uint32_t max_bins = 0;
        std::uint32_t n_folds = 10;
        std::uint32_t n_replicas = 0;
        std::uint64_t seed = 0;  // of the halves
        Posterior posterior;
    };

    explicit OnlineTreeBootstrap(const Settings& settings) : settings_(settings) {}
    OnlineTreeBootstrap(const OnlineTreeBootstrap&) = delete;
    OnlineTreeBootstrap& operator=(const OnlineTreeBootstrap&) = delete;

    void add_arm();
    // For all arms or, if it throws std::invalid_argument, for none.
    void set_kinds(const std::vector<Kind>& kinds);
    void learn(std::uint32_t arm, std::span<const double> context, double reward);
    // The same as learning the rows one by one.
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards);

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // Whether the arm is offered before any other: no replica has a row of it.
    bool is_cold(std::uint32_t arm) const;
    // What a replica expects of the arm in the context.
    double predict(std::uint32_t arm, std::uint32_t replica, const double* context) const;
    // Whether each replica takes in the row of this number: coins that depend on seed, arm and row
    // only.
    std::vector<bool> members(std::uint32_t arm, std::size_t row) const;

    std::size_t n_arms() const { return arms_.size(); }
    std::uint32_t n_replicas() const { return settings_.n_replicas; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const Growth& growth() const { return settings_.growth; }
    const RowStore& rows(std::uint32_t arm) const { return arms_[arm].rows; }
    IncrementalTree& replica(std::uint32_t arm, std::uint32_t i) { return *arms_[arm].replicas[i]; }
    Spread& spread() { return spread_; }

 private:
    struct Arm {
        explicit Arm(std::uint32_t max_bins) : rows(max_bins) {}
        RowStore rows;
        std::vector<std::unique_ptr<IncrementalTree>> replicas;
        LeafPrice price;
    };

    void teach(std::uint32_t arm, const ArmRows& rows, std::size_t begin, std::size_t end);
    void validate(Arm& arm);

    Settings settings_;
    std::vector<Kind> kinds_;
    std::vector<Arm> arms_;
    Spread spread_;
};

}  // namespace banditree
