// Several trees per arm, each on a random half of its rows; a decision asks one of them. The rows
// are stored once; a tree is grown anew each time its half has grown by a share. With a window, an
// arm learns its last rows again, alone, each time a share of them is new.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/arm_rows.hpp"
#include "banditree/counted_tree.hpp"
#include "banditree/frozen_trees.hpp"
#include "banditree/leaf_price.hpp"
#include "banditree/posterior.hpp"
#include "banditree/reward_windows.hpp"
#include "banditree/rng.hpp"
#include "banditree/row_window.hpp"

namespace banditree {

class OnlineTreeBootstrap {
 public:
    struct Settings {
        Growth growth;
        std::uint32_t max_bins = 0;
        std::uint32_t n_folds = 10;
        std::uint32_t n_replicas = 0;
        double refresh = 0;      // by which share a half grows until its tree is grown anew
        std::size_t window = 0;  // only so many rows of an arm, the last ones, count; 0: all
        std::uint64_t seed = 0;  // of the halves
        Posterior posterior;
    };

    explicit OnlineTreeBootstrap(const Settings& settings)
        : settings_(settings), rewards_(settings.window) {}
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

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // Whether the arm is offered before any other: no replica has a row of it.
    bool is_cold(std::uint32_t arm) const;
    // What a replica expects of the arm in the context.
    double predict(std::uint32_t arm, std::uint32_t replica, const double* context) const;
    FrozenTrees freeze() const;
    // Whether each replica takes in the row of this number, of all that the arm has learned: coins
    // that depend on seed, arm and number only.
    std::vector<bool> members(std::uint32_t arm, std::size_t row) const;

    std::size_t n_arms() const { return arms_.size(); }
    RowWindow window() const { return {settings_.window, settings_.refresh}; }
    std::uint32_t n_replicas() const { return settings_.n_replicas; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const Growth& growth() const { return settings_.growth; }
    const RowStore& rows(std::uint32_t arm) const { return arms_[arm].rows; }
    std::size_t n_rows(std::uint32_t arm, std::uint32_t i) const {
        return arms_[arm].replicas[i].n_rows;
    }
    // The pruned tree of a replica that has rows.
    Tree tree(std::uint32_t arm, std::uint32_t i) const {
        return arms_[arm].replicas[i].tree.current(rows(arm).data().offset);
    }
    Spread& spread() { return rewards_.spread(); }

    void write(ByteWriter& out) const;
    // Becomes the engine, of the same settings, that was written. Throws std::invalid_argument,
    // having changed nothing, on what none has written.
    void read(ByteReader& in);

 private:
    struct Replica {
        CountedTree tree;
        std::size_t n_rows = 0;
        std::size_t grown_at = 0;  // so many rows of its own
    };
    struct Arm {
        explicit Arm(std::uint32_t max_bins) : rows(max_bins) {}
        RowStore rows;
        std::vector<std::uint64_t>
            members;  // a bit per replica, in as many words a row as it takes
        std::vector<Replica> replicas;
        LeafPrice price;
        std::size_t first = 0;  // number of the first row, of all that the arm has learned
        // The rows from `forgotten` to `counted` are counted.
        std::size_t forgotten = 0;
        std::size_t counted = 0;
        double offset = 0;  // about which they were counted
    };
    // Which work on an arm's rows is due once so many more have come: what comes before the last of
    // its kind would be forgotten.
    struct Plan {
        std::vector<std::size_t> growths;  // of each replica, at so many rows of the arm; 0: none
        std::vector<std::size_t> choices;  // of alpha
    };

    std::size_t words() const { return (settings_.n_replicas + 63) / 64; }
    bool takes(const Arm& arm, std::uint32_t replica, std::size_t row) const {
        return arm.members[row * words() + replica / 64] >> (replica % 64) & 1;
    }
    void learn_rows(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards);
    void take_rows(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards);
    void learn_beyond_window(std::uint32_t arm, const Matrix& contexts,
                             std::span<const double> rewards);
    void keep_last(std::uint32_t arm, std::size_t most);
    Arm empty_arm() const;
    Plan plan(const Arm& arm, std::size_t first) const;
    void toss_coins(std::uint32_t arm, std::size_t n_rows);
    void count_rows(std::uint32_t arm);
    // The replicas that take a row in.
    std::vector<std::uint32_t> takers(const Arm& arm, std::size_t row) const;
    void read_arm(ByteReader& in, std::uint32_t arm);
    void grow_anew(Arm& arm, std::uint32_t replica);
    void plant(Arm& arm, std::uint32_t replica, const std::vector<std::uint32_t>& own);
    static double alpha_of(const Arm& arm);

    Settings settings_;
    std::vector<Kind> kinds_;
    std::vector<Arm> arms_;
    RewardWindows rewards_;
};

}  // namespace banditree
