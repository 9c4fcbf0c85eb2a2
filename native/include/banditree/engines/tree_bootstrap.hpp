// A decision fits each arm's tree to a resample of its rows, prunes it, and asks it for the
// context. With a window, resamples are drawn from the last rows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/data/schedule.hpp"
#include "banditree/engines/engine.hpp"
#include "banditree/engines/resampled_arm.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/trees/grow.hpp"
#include "banditree/trees/split.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

class TreeBootstrap final : public ArmEngine<ResampledArm> {
 public:
    enum class Weights { multinomial, exponential };
    // When alpha is cross-validated: as the arm's rows grow, on every resample, never (alpha 0).
    enum class Pruning { scheduled, every_fit, none };
    enum class ColdStart { until_success, prior };
    struct Settings {
        Growth growth;
        std::uint32_t max_bins = 0;
        std::uint32_t n_folds = 10;
        Weights weights = Weights::multinomial;
        Pruning pruning = Pruning::scheduled;
        ColdStart cold_start = ColdStart::prior;
        std::uint32_t patience = 0;
        bool binary = true;
        std::size_t window = 0;  // only so many rows of an arm, the last ones, count; 0: all
    };
    explicit TreeBootstrap(const Settings& settings)
        : ArmEngine(rows_that_count(settings)), settings_(settings) {}

    void learn(std::uint32_t arm, std::span<const double> context, double reward);
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards);
    void keep_last(std::span<const std::int64_t> counts);
    // Gives an arm without rows those of another one, made-up ones included, and its standing; if
    // alpha is NaN there, it is chosen again. Throws std::invalid_argument if a window does not
    // allow so many.
    void restore(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards,
                 const Standing& standing);

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng);
    // Whether the arm is offered before any resampling.
    bool is_cold(std::uint32_t arm) const;
    // What the tree on one resample predicts; the arm has rows.
    double draw(std::uint32_t arm, const double* context, Rng& rng);
    // What trees on resamples predict that are kept between calls: those of the arm's rows as of
    // the last time they had grown by a twentieth (of up to a hundred, all) or the window was
    // learned alone, so that they follow from rows and stream alone.
    std::vector<double> kept_draws(std::uint32_t arm, const double* context, const Rng& stream);
    // With the trees that kept_draws of stream.child(arm) asks.
    FrozenTrees freeze(const Rng& stream);
    // The rewards that nobody observed in the leaf of the context; the arm has rows.
    std::vector<double> made_up(std::uint32_t arm, const double* context);
    // What the tree on the rows as they are predicts.
    double predict(std::uint32_t arm, const double* context);
    Tree pruned(std::uint32_t arm);
    Evidence held_out(std::uint32_t arm, const double* context) const;

    const Growth& growth() const { return settings_.growth; }
    const Standing& standing(std::uint32_t arm) const { return arms_[arm]->standing; }
    double alpha(std::uint32_t arm) const;

 private:
    using Arm = ResampledArm;

    // What is still to be done for an arm in a batch: what comes before the last of its kind would
    // be forgotten.
    struct Plan {
        std::size_t settle_at = 0;   // at so many rows of the store
        std::size_t relearn_at = 0;  // at so many rows of the store; 0: never
    };

    // The window is one of observations: made-up rows, which come first, are beside it.
    static RowWindow rows_that_count(const Settings& settings) {
        if (settings.window == 0) return {0, 0, n_made_up(settings)};
        return {settings.window, kKeptFor, n_made_up(settings)};
    }
    // The made-up rows that an arm begins with.
    static std::size_t n_made_up(const Settings& settings) {
        return settings.cold_start == ColdStart::prior ? 2 : 0;
    }
    std::size_t n_made_up() const { return n_made_up(settings_); }
    std::unique_ptr<Arm> empty_arm(std::uint32_t id) const override;
    void check(const Arm& arm) const override;

    Plan plan(const Arm& arm, std::size_t n_more) const;
    void take(std::uint32_t arm, std::span<const double> context, double reward);
    std::size_t excess(const Arm& arm) const { return window().excess(arm.store.n_rows()); }
    // Gives an arm without rows some, and settles where that was last due.
    void give_rows(Arm& arm, const Matrix& contexts, std::span<const double> rewards);
    void keep_last(Arm& arm, std::size_t most);
    // The weights of the store's rows, given those of the rows that count.
    std::vector<double> spaced(const Arm& arm, std::vector<double> weights) const;
    Sample unresampled(Arm& arm);
    std::array<double, 2> made_up() const {
        return made_up_rewards(settings_.binary, rewards_.spread());
    }
    FrozenTrees::Arm frozen(std::uint32_t arm, const Rng& stream);
    // Made-up continuous rewards are the ends of the range of all rewards, as it grows.
    void follow_range();
    void judge(Arm& arm, double reward);
    void settle(Arm& arm);
    const Dataset& data(Arm& arm);
    std::vector<double> resample(std::size_t n_rows, Rng& rng) const;
    static std::vector<double> first_row(const Arm& arm);
    const std::vector<Tree>& kept(std::uint32_t arm, const Rng& stream);
    void keep(Arm& arm, std::size_t n_rows, Rng stream);
    // What trees of so many rows are pruned at, of which there were no fewer when it was chosen.
    static double alpha_at(const Arm& arm, std::size_t n_rows);
    double validated(const Dataset& data, const std::vector<double>& weights) const;
    double predict_validated(const Dataset& data, const std::vector<double>& weights,
                             const double* context) const;

    // Of kept trees: from how many rows on, by which share these grow until the trees are grown
    // anew, how many trees there are, and how many rows they go over together, where that allows
    // it.
    static constexpr std::size_t kKeptFrom = 100;
    static constexpr double kKeptFor = 0.05;
    static constexpr std::size_t kFewestDraws = 256;
    static constexpr std::size_t kMostDraws = 4096;
    static constexpr std::size_t kRowsOfDraws = 250'000;

    Settings settings_;
};

static_assert(Engine<TreeBootstrap>);

}  // namespace banditree
