#include "banditree/ensemble/beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "banditree/engines/leader.hpp"
#include "banditree/ensemble/logistic.hpp"

namespace banditree {

namespace {

// Successes and failures that every arm is believed to have had: fewer than one, so that what is
// drawn for an arm without rows is mostly near 0 or near 1, and such an arm is tried.
constexpr double kOptimism = 0.3;
// A row in a leaf is worth so many, for splits are chosen on the rows of all arms. Measured:
// docs/bandit.md.
constexpr double kWorth = 20;
constexpr double kWorthOfMeans = 5;
constexpr double kLeastMean = 0.001;
// Of more, a draw is the mean.
constexpr double kMostRows = 1e11;

// Beyond so many arms, only those of the highest means and one other, on average, take part in a
// draw: with many untried arms one of them would always have the largest draw.
constexpr std::size_t kFewArms = 32;
constexpr std::size_t kBestArms = 8;
// An arm with less support than this is novel.
constexpr float kNovel = 0.1f;

}  // namespace

double EnsembleBeliefs::overall() const {
    return binary_ ? (spread_.n * spread_.mean + 1) / (spread_.n + 2) : spread_.mean;
}

std::vector<double> EnsembleBeliefs::starts() const {
    std::vector<double> starts;
    for (const Arm& arm : arms_)
        starts.push_back((arm.paid.n * arm.paid.mean + 2 * overall()) / (arm.paid.n + 2));
    starts.push_back(overall());
    return starts;
}

void EnsembleBeliefs::learn(std::uint32_t arm, const double* context, double reward,
                            std::uint64_t number) {
    if (members_.are_fitted()) {
        const Members::Before before = members_.learn(arm, context, reward, number);
        const double error = reward - mean(before.opinions);
        squared_error_ += error * error;
        arms_[arm].squared_error += error * error;
        stack_.learn(before.opinions, members_.scale().to(reward));
        if (before.support < kNovel) novel_.add(reward);
    }
    arms_[arm].paid.add(reward);
    spread_.add(reward);
}

// The trees, most of what there is, are put aside while the rest is copied.
EnsembleBeliefs EnsembleBeliefs::to_fit() {
    struct Aside {
        Members& members;
        Members others;
        explicit Aside(Members& of) : members(of), others(of.to_fit()) {
            std::swap(members, others);
        }
        ~Aside() { std::swap(members, others); }
    };
    const Aside aside(members_);
    return *this;
}

void EnsembleBeliefs::adopt(Members members, const SharedRows& rows) {
    constexpr std::size_t kRows = 200;
    members_ = std::move(members);
    if (!binary_) return;
    const std::size_t step = std::max<std::size_t>(1, rows.size() / kRows);
    double sum = 0.5, n = 1;
    for (std::size_t row = 0; row < rows.size(); row += step) {
        const Outlook outlook = members_.outlook(rows.context(row).data(), n_arms());
        for (const Opinions& opinions : outlook.opinions) sum += mean(opinions);
        n += static_cast<double>(n_arms());
    }
    chance_ = sum / n;
}

EnsembleBeliefs EnsembleBeliefs::without_members(const SharedRows& rows) const {
    EnsembleBeliefs fresh(binary_);
    fresh.kinds_ = kinds_;
    fresh.arms_.resize(n_arms());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        fresh.arms_[rows.arms()[row]].paid.add(rows.rewards()[row]);
        fresh.spread_.add(rows.rewards()[row]);
    }
    return fresh;
}

std::vector<EnsembleBeliefs::Expectation> EnsembleBeliefs::expectations(const double* context,
                                                                        ArmIndices eligible) const {
    std::vector<Expectation> expected;
    if (!members_.are_fitted()) {
        for (const std::int64_t arm : eligible)
            expected.push_back({overall(), arms_[static_cast<std::size_t>(arm)].paid.n});
        return expected;
    }
    const Outlook outlook = members_.outlook(context, n_arms());
    const double worth = binary_ ? kWorth / (chance_ * (1 - chance_)) : kWorthOfMeans;
    for (const std::int64_t id : eligible) {
        const auto arm = static_cast<std::size_t>(id);
        expected.push_back(
            {mean(outlook.opinions[arm]), std::min(worth * outlook.support[arm], kMostRows)});
    }
    return expected;
}

Attribution EnsembleBeliefs::attribution(const double* context, std::uint32_t arm) const {
    Attribution score(kinds_.size());
    if (!members_.are_fitted()) {
        score.base = overall();
        return score;
    }
    const std::span<const double> weights = stack_.weights();
    const auto of_member = members_.attributions(arm, context);
    score.base = weights[kMembers];
    for (std::size_t i = 0; i < kMembers; ++i) score.add(of_member[i], weights[i]);
    return score.of(
        [this](double seen) { return members_.scale().from(binary_ ? sigmoid(seen) : seen); });
}

std::vector<double> EnsembleBeliefs::shares(std::span<const Expectation> expected,
                                            ArmIndices eligible) const {
    if (eligible.size() <= kFewArms) return {};
    std::vector<std::size_t> order(eligible.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_better = [&](std::size_t a, std::size_t b) {
        if (expected[a].mean != expected[b].mean) return expected[a].mean > expected[b].mean;
        return eligible[a] < eligible[b];
    };
    std::nth_element(order.begin(), order.begin() + kBestArms, order.end(), is_better);
    std::vector<double> shares(eligible.size(),
                               1 / static_cast<double>(eligible.size() - kBestArms));
    for (std::size_t i = 0; i < kBestArms; ++i) shares[order[i]] = 1;
    return shares;
}

// Of few arms, the prior is for trying all; of many, for what a novel one has paid so far.
BetaLaw EnsembleBeliefs::beta(const Expectation& expected, const Arm& arm, bool many) const {
    double mean = std::clamp(expected.mean, kLeastMean, 1 - kLeastMean);
    if (arm.paid.n == 0 && !many) mean = std::max(mean, 0.5);
    const double prior = many ? (novel_.n * novel_.mean + 0.5) / (novel_.n + 1) : 0.5;
    return {2 * kOptimism * prior + mean * expected.n,
            2 * kOptimism * (1 - prior) + (1 - mean) * expected.n};
}

// The law of TreeHeuristic's leaves (docs/policies.md), with what the arm was paid in place of what
// its leaf was: so wide that an arm that pays rarely is not given up for its zeros.
StudentLaw EnsembleBeliefs::student(const Expectation& expected, const Arm& arm) const {
    const double n = arm.paid.n, rows = expected.n / kWorthOfMeans;
    const double range = spread_.highest - spread_.lowest;
    const double height = n > 0 && range > 0 ? (arm.paid.mean - spread_.lowest) / range : 0;
    const bool varies = arm.paid.lowest < arm.paid.highest;
    if (n >= 2 && variance() > 0 && !varies && height <= Posterior::kRounding)
        return {expected.mean, Posterior::kFirstPayoff * std::sqrt(variance()) / (rows + 1),
                Posterior::kFirstPayoffFreedom};
    const double total = n * height * height;
    const double error = varies ? arm.paid.squared_error / (range * range) : 0;
    const double payoffs = varies ? std::min(n, n * total / (total + error)) : n;
    const double widening =
        n > 0 ? 1 + Posterior::kWidening * (1 / std::max(payoffs, 1.0) - 1 / n) : 1;
    return {expected.mean, std::sqrt(widening * variance_of(arm) / (expected.n + 1)), 2 + payoffs};
}

double EnsembleBeliefs::variance_of(const Arm& arm) const {
    return (arm.squared_error + variance()) / (arm.paid.n + 1);
}

// The squares of tiny differences may be 0.
RewardScale EnsembleBeliefs::scale() const {
    const double deviation = std::sqrt(spread_.variance());
    if (binary_) return {};
    return {spread_.mean, deviation > 0 ? deviation : 1};
}

template <class Visit>
void EnsembleBeliefs::each_law(const double* context, ArmIndices eligible, Visit visit) const {
    const std::vector<Expectation> expected = expectations(context, eligible);
    const std::vector<double> shares = this->shares(expected, eligible);
    for (std::size_t i = 0; i < eligible.size(); ++i) {
        const auto id = static_cast<std::uint32_t>(eligible[i]);
        const double share = shares.empty() ? 1 : shares[i];
        if (binary_)
            visit(id, beta(expected[i], arms_[id], !shares.empty()), share);
        else
            visit(id, student(expected[i], arms_[id]), share);
    }
}

namespace {

double draw_from(const BetaLaw& law, Rng& rng) { return rng.beta(law.a, law.b); }

// The laws of one kind among those visited, with their shares.
template <class Law>
struct Laws {
    std::vector<Law> laws;
    std::vector<double> shares;

    void add(const Law& law, double share) {
        laws.push_back(law);
        shares.push_back(share);
    }
};

}  // namespace

std::uint32_t EnsembleBeliefs::decide(const double* context, ArmIndices eligible, Rng& rng) const {
    Leader leader(rng);
    each_law(context, eligible, [&](std::uint32_t arm, const auto& law, double share) {
        if (share == 1 || rng.uniform() < share) leader.offer(arm, draw_from(law, rng));
    });
    return leader.arm();
}

std::vector<double> EnsembleBeliefs::propensities(const double* context,
                                                  ArmIndices eligible) const {
    Laws<BetaLaw> betas;
    Laws<StudentLaw> students;
    each_law(context, eligible, [&](std::uint32_t, const auto& law, double share) {
        if constexpr (std::is_same_v<std::decay_t<decltype(law)>, BetaLaw>)
            betas.add(law, share);
        else
            students.add(law, share);
    });
    return binary_ ? win_probabilities(betas.laws, betas.shares)
                   : win_probabilities(students.laws, students.shares);
}

void EnsembleBeliefs::write(ByteWriter& out) const {
    out.put<std::uint8_t>(binary_);
    write_kinds(out, kinds_);
    out.put<std::uint64_t>(arms_.size());
    for (const Arm& arm : arms_) {
        arm.paid.write(out);
        out.put(arm.squared_error);
    }
    spread_.write(out);
    novel_.write(out);
    out.put(chance_);
    out.put(squared_error_);
    members_.write(out);
    stack_.write(out);
}

EnsembleBeliefs EnsembleBeliefs::read(ByteReader& in) {
    EnsembleBeliefs beliefs(in.flag());
    beliefs.kinds_ = read_kinds(in);
    beliefs.arms_.resize(in.length(6 * sizeof(double)));
    for (Arm& arm : beliefs.arms_) {
        arm.paid = Spread::read(in);
        arm.squared_error = in.between(0.0, std::numeric_limits<double>::max());
    }
    beliefs.spread_ = Spread::read(in);
    beliefs.novel_ = Spread::read(in);
    beliefs.chance_ = in.between(1e-9, 1 - 1e-9);
    beliefs.squared_error_ = in.between(0.0, std::numeric_limits<double>::max());
    beliefs.members_ = Members::read(in, beliefs.binary_);
    beliefs.stack_.read(in);
    const Members& members = beliefs.members_;
    ByteReader::require(members.n_features() <= beliefs.kinds_.size());
    ByteReader::require(members.n_arms() <= beliefs.n_arms());
    return beliefs;
}

}  // namespace banditree
