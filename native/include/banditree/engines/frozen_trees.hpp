// What decisions of a tree policy need, and nothing else. It never changes, so that any number of
// threads may read it at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/trees/flat_tree.hpp"

namespace banditree {

class FrozenTrees {
 public:
    // Draw from the posterior of the arm's leaf, or take what one of its replicas predicts.
    enum class Rule : std::uint8_t { posterior, replicas };
    // A tree with what it predicts in each leaf.
    struct Replica {
        FlatTree tree;
        std::vector<double> predictions;
    };
    struct Arm {
        std::uint64_t n_rows = 0;
        bool cold = false;  // offered before any other
        // On the rows as they are, with what its leaves say; an arm without rows has no leaves.
        FlatTree tree;
        std::vector<Evidence> leaves;
        std::optional<std::uint32_t> made_up_leaf;  // where its made-up rewards are
        std::vector<Replica> replicas;
    };

    FrozenTrees(Rule rule, const Posterior& posterior, const Spread& spread,
                const std::vector<Kind>& kinds, std::vector<Arm> arms)
        : rule_(rule),
          posterior_(posterior),
          spread_(spread),
          kinds_(kinds),
          arms_(std::move(arms)) {}

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    std::uint32_t decide_greedily(const double* context, ArmIndices eligible, Rng& rng) const;
    Evidence evidence(std::uint32_t arm, const double* context) const;
    // What each replica expects of the arm.
    std::vector<double> predictions(std::uint32_t arm, const double* context) const;
    // What the tree on the rows as they are predicts; the arm has rows.
    double predict(std::uint32_t arm, const double* context) const;
    // The rewards where the context falls that nobody observed; the arm has rows.
    std::vector<double> made_up(std::uint32_t arm, const double* context) const;
    // The tree on the rows as they are, with what its nodes count; the arm has rows.
    Tree tree(std::uint32_t arm) const;

    std::size_t n_arms() const { return arms_.size(); }
    const Arm& arm(std::uint32_t arm) const { return arms_[arm]; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const Spread& spread() const { return spread_; }

    void write(ByteWriter& writer) const;
    // Throws std::invalid_argument unless these are the bytes of frozen trees.
    static FrozenTrees read(ByteReader& reader);

 private:
    Rule rule_;
    Posterior posterior_;
    Spread spread_;
    std::vector<Kind> kinds_;
    std::vector<Arm> arms_;
};

// One made-up success and failure; of continuous rewards, the highest and the lowest of all arms.
inline std::array<double, 2> made_up_rewards(bool binary, const Spread& spread) {
    if (binary) return {1, 0};
    return {spread.highest, spread.lowest};
}

// The evidence of a tree's leaves, from left to right.
std::vector<Evidence> evidence_of(std::span<const Moments> leaves, double offset);

}  // namespace banditree
