#include "banditree/ensemble/beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "banditree/ensemble/logistic.hpp"
#include "banditree/leader.hpp"
#include "banditree/ensemble/knob.hpp"

namespace banditree {

namespace {

// Successes and failures that every arm is believed to have had: fewer than one, so that what is
// drawn for an arm without rows is mostly near 0 or near 1, and such an arm is tried.
constexpr double kOptimism = 0.3;
// Rows in a leaf count as so many of one's own, for all arms share the trees.
constexpr double kCertainty = 4;
constexpr double kLeastMean = 0.001;

}  // namespace

double EnsembleBeliefs::overall() const {
    return binary_ ? (all_.reward + 1) / (all_.n + 2) : all_.reward / std::max(all_.n, 1.0);
}

double EnsembleBeliefs::prior(const Total& arm) const {
    return (arm.reward + 2 * overall()) / (arm.n + 2);
}

std::vector<double> EnsembleBeliefs::starts() const {
    std::vector<double> starts;
    for (const Total& arm : arms_) starts.push_back(prior(arm));
    starts.push_back(overall());
    return starts;
}

void EnsembleBeliefs::adopt(Members members, const SharedRows& rows) {
    constexpr std::size_t kRows = 200;
    members_ = std::move(members);
    double sum = 0, n = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
        const std::size_t row = rows.size() <= kRows ? i : i * rows.size() / kRows;
        if (row >= rows.size()) break;
        const std::vector<double> context = rows.context(row);
        for (const Opinions& opinions : members_.outlook(context.data(), n_arms()).opinions) {
            sum += stack_.mean(opinions);
            n += 1;
        }
    }
    chance_ = binary_ ? (sum + 0.5) / (n + 1) : 0.5;
}

void EnsembleBeliefs::learn(std::uint32_t arm, const double* context, double reward,
                            std::uint64_t number) {
    if (members_.are_fitted()) {
        const Opinions opinions = members_.learn(arm, context, reward, number);
        const double error = reward - stack_.mean(opinions);
        squared_error_ += error * error;
        stack_.learn(opinions, reward);
    }
    arms_[arm].add(reward);
    all_.add(reward);
    spread_.add(reward);
}

std::vector<EnsembleBeliefs::Expectation> EnsembleBeliefs::expectations(
    const double* context, ArmIndices eligible) const {
    std::vector<Expectation> expected;
    if (!members_.are_fitted()) {
        expected.assign(eligible.size(), {overall(), 0});
        return expected;
    }
    const Outlook outlook = members_.outlook(context, n_arms());
    const double unit = knob("c", 10) / (binary_ ? chance_ * (1 - chance_) : 1);
    for (const auto arm : eligible)
        expected.push_back({stack_.mean(outlook.opinions[arm]), unit * outlook.support[arm]});
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
    return binary_ ? score.of(sigmoid) : score;
}

BetaLaw EnsembleBeliefs::beta(const Expectation& expected, bool untried) const {
    double mean = std::clamp(expected.mean, kLeastMean, 1 - kLeastMean);
    if (untried && knob("half", 1) > 0) mean = std::max(mean, 0.5);
    const double n = expected.n;
    const double o = knob("o", .3);
    const double m = knob("m", 0) > 0 ? (novel_.reward + .5) / (novel_.n + 1) : .5;
    return {2 * o * m + mean * n, 2 * o * (1 - m) + (1 - mean) * n};
}

StudentLaw EnsembleBeliefs::student(const Expectation& expected) const {
    const double n = expected.n;
    return {expected.mean, std::sqrt(variance() / (n + 1)), 2 + n};
}

std::uint32_t EnsembleBeliefs::decide(const double* context, ArmIndices eligible, Rng& rng) const {
    const std::vector<Expectation> expected = expectations(context, eligible);
    Leader leader(rng);
    for (std::size_t i = 0; i < eligible.size(); ++i) {
        const auto arm = static_cast<std::uint32_t>(eligible[i]);
        if (binary_) {
            const BetaLaw law = beta(expected[i], arms_[arm].n == 0);
            leader.offer(arm, rng.beta(law.a, law.b));
        } else {
            leader.offer(arm, draw_from(student(expected[i]), rng));
        }
    }
    return leader.arm();
}

std::vector<double> EnsembleBeliefs::propensities(const double* context,
                                                  ArmIndices eligible) const {
    const std::vector<Expectation> expected = expectations(context, eligible);
    std::vector<BetaLaw> betas;
    std::vector<StudentLaw> students;
    for (std::size_t i = 0; i < eligible.size(); ++i) {
        if (binary_)
            betas.push_back(beta(expected[i], arms_[static_cast<std::size_t>(eligible[i])].n == 0));
        else
            students.push_back(student(expected[i]));
    }
    return binary_ ? win_probabilities(betas) : win_probabilities(students);
}

void EnsembleBeliefs::Total::write(ByteWriter& out) const {
    out.put(n);
    out.put(reward);
}

EnsembleBeliefs::Total EnsembleBeliefs::Total::read(ByteReader& in) {
    Total total;
    total.n = in.between(0.0, std::numeric_limits<double>::max());
    total.reward = in.get<double>();
    ByteReader::require(std::isfinite(total.reward));
    return total;
}

void EnsembleBeliefs::write(ByteWriter& out) const {
    out.put<std::uint8_t>(binary_);
    write_kinds(out, kinds_);
    out.put<std::uint64_t>(arms_.size());
    for (const Total& arm : arms_) arm.write(out);
    all_.write(out);
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
    beliefs.arms_.resize(in.length(2 * sizeof(double)));
    for (Total& arm : beliefs.arms_) arm = Total::read(in);
    beliefs.all_ = Total::read(in);
    beliefs.spread_ = Spread::read(in);
    beliefs.novel_ = Total::read(in);
    beliefs.chance_ = in.between(0.0, 1.0);
    beliefs.squared_error_ = in.between(0.0, std::numeric_limits<double>::max());
    beliefs.members_ = Members::read(in, beliefs.binary_);
    beliefs.stack_.read(in);
    const Members& members = beliefs.members_;
    ByteReader::require(members.n_features() <= beliefs.kinds_.size());
    ByteReader::require(members.n_arms() <= beliefs.n_arms());
    return beliefs;
}

}  // namespace banditree
