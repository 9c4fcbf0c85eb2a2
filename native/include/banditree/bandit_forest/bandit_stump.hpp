// One node of a BanditForest (Feraud, Allesiardo, Urvoy and Clerot, AISTATS 2016).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/bandit_forest/binarizer.hpp"
#include "banditree/bandit_forest/flat_state.hpp"

namespace banditree {

// Plays of an arm somewhere, and the sum of their rewards.
struct Tally {
    double count = 0;
    double sum = 0;

    double mean() const { return sum / count; }
    void add(double reward) {
        ++count;
        sum += reward;
    }
    void write(StateWriter& out) const;
    static Tally read(StateReader& in);
};

// What the eliminations need to know besides a node's own tallies.
struct Contest {
    std::span<const std::uint8_t> active;  // of each arm: 0 if it was removed
    double variable_factor = 0;            // 4 K M D L / delta, with K active arms
    double arm_factor = 0;                 // 4 K L / delta
    double radius = 1;                     // times the radii of the paper
};

// The right-hand sides of inequalities (3) and (4) after t plays of every arm, times the scale of
// the contest.
double variable_radius(const Contest& contest, double t);
double arm_radius(const Contest& contest, double t);

// Looks for the variable that tells best which arm to play: the largest sum, over its two values v,
// of max over arms k of E[y_k 1{x = v}]. Variables are eliminated until one is left, the selected
// one. On the deepest level, arms are eliminated too, within each value ("cell") of each variable,
// and a cell with one arm left is settled.
//
// The paper tests after a round of plays of all arms. Here arms are drawn at random and a test runs
// after each observation, with the number of plays of the arm that has fewest.
class BanditStump {
 public:
    // Stands for the variable of a node that has none to choose from; its value is always 0.
    static constexpr std::uint32_t kNoVariable = 0xffffffffu;

    // Candidates in ascending order; none makes a node of one cell.
    BanditStump(std::vector<std::uint32_t> candidates, double epsilon, bool deepest,
                std::size_t n_arms);

    std::span<const std::uint32_t> candidates() const { return candidates_; }
    double epsilon() const { return epsilon_; }
    bool deepest() const { return deepest_; }
    bool selected() const { return candidates_.size() == 1; }
    std::uint32_t variable() const { return candidates_.front(); }
    bool splits() const { return selected() && variable() != kNoVariable; }

    void learn(std::uint32_t arm, double reward, const BitView& bits, const Contest& contest);
    // A new arm has been played nowhere and remains everywhere.
    void add_arm();
    // After an arm was removed or came back: cells without an active arm take all arms back.
    void arms_changed(std::span<const std::uint8_t> active);

    const Tally& plays(std::uint32_t arm) const { return plays_[arm]; }
    // Of the plays with this value of the candidate at a position.
    Tally cell(std::uint32_t arm, bool value, std::size_t position = 0) const;
    // Whether the arm is left in the cell of the candidate at a position; only on the deepest
    // level.
    bool remains(std::uint32_t arm, bool value, std::size_t position = 0) const {
        return remains_[slot(arm, position)][value];
    }
    // Nothing is left to find out where the selected variable has this value.
    bool settled(bool value, std::span<const std::uint8_t> active) const;

    void write(StateWriter& out) const;
    static BanditStump read(StateReader& in, std::size_t n_variables, bool deepest,
                            std::span<const std::uint8_t> active);

 private:
    struct Remains {
        bool of_value[2] = {true, true};
        bool& operator[](bool value) { return of_value[value]; }
        bool operator[](bool value) const { return of_value[value]; }
    };

    std::size_t slot(std::size_t arm, std::size_t position) const {
        return arm * candidates_.size() + position;
    }
    void read_tallies(StateReader& in);
    std::vector<double> worths(std::span<const std::uint8_t> active) const;
    void eliminate_variables(const Contest& contest);
    void keep_variables(std::span<const std::size_t> positions);
    void eliminate_arms(std::size_t position, bool value, const Contest& contest);
    std::size_t count_remaining(std::size_t position, bool value,
                                std::span<const std::uint8_t> active) const;

    std::vector<std::uint32_t> candidates_;
    double epsilon_;
    bool deepest_;
    std::vector<Tally> plays_;      // per arm
    std::vector<Tally> ones_;       // per arm and candidate: plays with the bit set
    std::vector<Remains> remains_;  // per arm and candidate, on the deepest level
    // No two variables differ by more in worth; lets most observations do without the test.
    double widest_gap_;
};

}  // namespace banditree
