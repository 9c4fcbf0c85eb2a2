// What decisions of the ensemble need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/ensemble/members.hpp"
#include "banditree/ensemble/shared_rows.hpp"
#include "banditree/ensemble/stack.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/laws/winning.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

class EnsembleBeliefs {
 public:
    explicit EnsembleBeliefs(bool binary)
        : binary_(binary), members_(binary), stack_(kMembers, binary) {}

    void add_arm() { arms_.emplace_back(); }
    void learn(std::uint32_t arm, const double* context, double reward, std::uint64_t number);
    // What is expected of each arm, the last of arms to come, whatever the context.
    std::vector<double> starts() const;
    // A copy of all that the next fit needs, which cannot decide.
    EnsembleBeliefs to_fit();
    // Takes over members that were fitted to these rows.
    void adopt(Members members, const SharedRows& rows);
    const Members& members() const { return members_; }
    // In which members are to see rewards.
    RewardScale scale() const;
    // Whether rewards have a unit: equal ones say nothing of what else there may be.
    bool have_unit() const { return binary_ || spread_.lowest < spread_.highest; }
    // Beliefs about as many arms of which only the totals of these rows are known.
    EnsembleBeliefs without_members(const SharedRows& rows) const;

    std::uint32_t decide(const double* context, ArmIndices eligible, Rng& rng) const;
    // The probability with which `decide` takes each of the arms.
    std::vector<double> propensities(const double* context, ArmIndices eligible) const;
    // The mean reward expected of each of the arms, and how many observations that is worth.
    struct Expectation {
        double mean = 0;
        double n = 0;
    };
    std::vector<Expectation> expectations(const double* context, ArmIndices eligible) const;
    // Of the mean reward expected of an arm.
    Attribution attribution(const double* context, std::uint32_t arm) const;
    // Of a reward around what was expected of it.
    double variance() const { return squared_error_ / std::max(spread_.n, 1.0); }

    bool is_binary() const { return binary_; }
    std::size_t n_arms() const { return arms_.size(); }
    double n_learned(std::uint32_t arm) const { return arms_[arm].paid.n; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    void set_kinds(const std::vector<Kind>& kinds) { kinds_ = kinds; }

    void write(ByteWriter& out) const;
    static EnsembleBeliefs read(ByteReader& in);

 private:
    struct Arm {
        Spread paid;
        double squared_error = 0;  // of what was expected of each reward before it came
    };
    double overall() const;
    double mean(const Opinions& opinions) const {
        // What was read from damaged bytes may say what is no number, or one no reward can be.
        const double mean = members_.scale().from(stack_.mean(opinions));
        return std::abs(mean) <= kLargest ? mean : overall();
    }
    double variance_of(const Arm& arm) const;
    // Calls visit(arm, law, share) for each arm: it takes part with this probability, and then its
    // mean reward is drawn from the law.
    template <class Visit>
    void each_law(const double* context, ArmIndices eligible, Visit visit) const;
    std::vector<double> shares(std::span<const Expectation> expected, ArmIndices eligible) const;
    BetaLaw beta(const Expectation& expected, const Arm& arm, bool many) const;
    StudentLaw student(const Expectation& expected, const Arm& arm) const;

    bool binary_;
    std::vector<Kind> kinds_;
    std::vector<Arm> arms_;
    Spread spread_;             // what all were paid
    Spread novel_;              // what was paid where little was known of the arm
    double chance_ = 0.5;       // the mean reward of an arm drawn at random; of binary rewards
    double squared_error_ = 0;  // of what was expected of each reward before it came
    Members members_;
    Stack stack_;
};

}  // namespace banditree
