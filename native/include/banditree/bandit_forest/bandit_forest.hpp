// BanditForest (Feraud, Allesiardo, Urvoy and Clerot: Random Forest for the Contextual Bandit
// Problem, AISTATS 2016).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/bandit_forest/bandit_tree.hpp"
#include "banditree/bandit_forest/binarizer.hpp"
#include "banditree/data/dataset.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

// Explores uniformly until every tree is finished at a context, then takes the trees' majority.
// As in the authors' own experiments, exploring means a uniform draw from the arms that some
// unfinished tree still tries; thus a decision changes nothing but the generator it draws from.
//
// The first observations are kept until the cut points of the bits can be fixed from them, then the
// forest learns them in their order. The state depends on the calls and the seed only.
class BanditForest {
 public:
    using Context = std::span<const double>;
    using Arms = std::span<const std::uint32_t>;

    // A variable on a path, and the value that the context has.
    struct Step {
        Bit bit;
        bool value;
    };
    // One tree's view of a context and an arm.
    struct View {
        std::vector<Step> path;  // selected variables only
        bool finished;           // the tree no longer explores here
        Tally tally;             // of the arm in the smallest cell where it was played
    };

    explicit BanditForest(const ForestSettings& settings);

    const ForestSettings& settings() const { return settings_; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    std::size_t n_arms() const { return active_.size(); }
    bool is_active(std::uint32_t arm) const { return active_.at(arm) != 0; }
    bool warming_up() const { return trees_.empty(); }
    std::span<const Bit> bits() const { return binarizer_.bits(); }

    // Features can be added; those that come after the warm-up are ignored.
    void set_kinds(std::vector<Kind> kinds);
    void add_arm();
    // Inactive arms take no part in eliminations; what is observed of them is kept.
    void set_active(std::uint32_t arm, bool active);
    // The reward is in [0, 1].
    void learn(std::uint32_t arm, Context context, double reward);

    // One of the eligible arms, which are active and distinct.
    std::uint32_t decide(Context context, Arms eligible, Rng& rng) const;
    // Of each eligible arm, in their order: the probability that decide takes it.
    std::vector<double> propensities(Context context, Arms eligible) const;
    // Of every arm: the mean over the trees of its mean reward where they put the context, 0.5
    // where it was never played.
    std::vector<double> expected_rewards(Context context) const;
    // One per tree.
    std::vector<View> explain(Context context, std::uint32_t arm) const;

    std::vector<double> dump() const;
    // Takes over what dump gave of a forest with the same settings. Throws std::invalid_argument,
    // having changed nothing, on anything else.
    void restore(std::span<const double> state);

 private:
    struct Observation {
        std::uint32_t arm;
        double reward;
        std::vector<double> context;
    };

    void check_context(Context context) const;
    void check_eligible(Arms eligible) const;
    Contest contest() const;
    void plant();
    Tally buffered(std::uint32_t arm) const;
    // Decisions are uniform over these.
    std::vector<std::uint32_t> choices(Context context, Arms eligible) const;
    std::vector<std::uint32_t> majority(const BitView& bits, Arms eligible) const;

    void write_observations(StateWriter& out) const;
    void read_settings(StateReader& in) const;
    void read_observations(StateReader& in);

    ForestSettings settings_;
    std::vector<Kind> kinds_;
    std::vector<std::uint8_t> active_;
    std::vector<Observation> buffer_;  // empty after the warm-up
    Binarizer binarizer_;
    std::vector<BanditTree> trees_;  // none before
};

}  // namespace banditree
