#include "banditree/tree_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "banditree/arm_tree.hpp"
#include "banditree/cross_validation.hpp"
#include "banditree/grow.hpp"
#include "banditree/leader.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

void TreeBootstrap::add_arm() {
    arms_.emplace_back(settings_.max_bins);
    arms_.back().rows.set_kinds(kinds_);
}

void TreeBootstrap::set_kinds(const std::vector<Kind>& kinds) {
    for (const Arm& arm : arms_) arm.rows.check_kinds(kinds);
    for (Arm& arm : arms_) {
        arm.rows.set_kinds(kinds);
        arm.exact = Dataset();
    }
    kinds_ = kinds;
}

void TreeBootstrap::learn(std::uint32_t arm, std::span<const double> context, double reward) {
    take(arms_[arm], context, reward);
    settle(arms_[arm]);
}

void TreeBootstrap::learn_many(ArmIndices arms, const Matrix& contexts,
                               std::span<const double> rewards) {
    std::vector<std::size_t> ends(arms_.size());
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) ends[arm] = arms_[arm].rows.n_rows();
    const bool prior = settings_.cold_start == ColdStart::prior;
    for (const auto arm : arms) ends[arm] += ends[arm] == 0 && prior ? 3 : 1;
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        Arm& arm = arms_[static_cast<std::size_t>(arms[i])];
        take(arm, {contexts.data + i * contexts.columns, contexts.columns}, rewards[i]);
        // Alpha is chosen at the last point of the schedule only; those before would be forgotten.
        const std::size_t end = ends[static_cast<std::size_t>(arms[i])];
        if (arm.rows.n_rows() == last_point(arm.price.chosen_at, end)) settle(arm);
    }
    for (Arm& arm : arms_)
        if (arm.rows.n_rows() > 0) settle(arm);
}

void TreeBootstrap::restore(std::uint32_t id, const Matrix& contexts,
                            std::span<const double> rewards, const Standing& standing) {
    Arm& arm = arms_[id];
    arm.standing = standing;
    const std::size_t point = last_point(0, contexts.rows);
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        arm.rows.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        if (i + 1 == point) settle(arm);
    }
    if (contexts.rows > 0) settle(arm);
}

void TreeBootstrap::take(Arm& arm, std::span<const double> context, double reward) {
    if (settings_.cold_start == ColdStart::prior && arm.rows.n_rows() == 0)
        make_up(arm, context, reward);
    judge(arm, reward);
    spread_.add(reward);
    arm.rows.append(context, reward, 1.0);
}

// One success and one failure; of continuous rewards, the first one plus and minus a standard
// deviation of all rewards so far.
void TreeBootstrap::make_up(Arm& arm, std::span<const double> context, double reward) {
    double high = 1, low = 0;
    if (!settings_.binary) {
        const double deviation = std::sqrt(spread_.variance());
        const double away = deviation > 0 ? deviation : std::max(1.0, std::abs(reward));
        high = reward + away;
        low = reward - away;
    }
    arm.rows.append(context, high, 1.0);
    arm.rows.append(context, low, 1.0);
}

// A success is a reward above 0; of continuous rewards, one above the mean of those before.
void TreeBootstrap::judge(Arm& arm, double reward) {
    Standing& standing = arm.standing;
    if (standing.settled) return;
    const bool success = reward > (settings_.binary ? 0 : spread_.mean);
    standing.failures = success ? 0 : standing.failures + 1;
    standing.settled = success || standing.failures >= settings_.patience;
}

// Follows the schedule once rows have come.
void TreeBootstrap::settle(Arm& arm) {
    arm.rows.renew();
    arm.exact = Dataset();
    const std::size_t n = arm.rows.n_rows();
    if (last_point(arm.price.chosen_at, n) == arm.price.chosen_at) return;
    const bool scheduled = settings_.pruning == Pruning::scheduled;
    arm.price = LeafPrice::chosen(
        scheduled ? choose_alpha(data(arm), settings_.growth, settings_.n_folds) : 0, n);
}

const Dataset& TreeBootstrap::data(Arm& arm) {
    if (!arm.rows.exact()) return arm.rows.data();
    if (arm.exact.n_rows() == 0) arm.exact = arm.rows.snapshot();
    return arm.exact;
}

bool TreeBootstrap::is_cold(std::uint32_t id) const {
    const Arm& arm = arms_[id];
    if (arm.rows.n_rows() == 0) return true;
    return settings_.cold_start == ColdStart::until_success && !arm.standing.settled;
}

std::uint32_t TreeBootstrap::decide(const double* context, ArmIndices eligible, Rng& rng) {
    const bool any_cold = std::any_of(eligible.begin(), eligible.end(), [&](auto id) {
        return is_cold(static_cast<std::uint32_t>(id));
    });
    Leader leader(rng);
    for (const auto id : eligible) {
        const auto arm = static_cast<std::uint32_t>(id);
        leader.offer(arm, any_cold ? is_cold(arm) : draw(arm, context, rng));
    }
    return leader.arm();
}

std::vector<double> TreeBootstrap::resample(std::size_t n_rows, Rng& rng) const {
    std::vector<double> weights(n_rows);
    if (settings_.weights == Weights::multinomial)
        rng.multinomial_weights(std::span<double>(weights));
    else
        rng.exponential_weights(weights);
    return weights;
}

double TreeBootstrap::draw(std::uint32_t id, const double* context, Rng& rng) {
    Arm& arm = arms_[id];
    const Dataset& rows = data(arm);
    const auto weights = resample(rows.n_rows(), rng);
    if (settings_.pruning == Pruning::every_fit) return predict_validated(rows, weights, context);
    return lazy_predict(rows, Sample::of(rows, weights), settings_.growth, alpha(id), context);
}

// All copies of a row have its number, and so are in one fold.
double TreeBootstrap::predict_validated(const Dataset& data, const std::vector<double>& weights,
                                        const double* context) const {
    Dataset resampled = data;
    resampled.w = weights;
    const double alpha = choose_alpha(resampled, settings_.growth, settings_.n_folds);
    return lazy_predict(data, Sample::of(data, weights), settings_.growth, alpha, context);
}

double TreeBootstrap::predict(std::uint32_t id, const double* context) {
    const Dataset& rows = data(arms_[id]);
    const Sample all = Sample::of(rows, std::span<const double>());
    return lazy_predict(rows, all, settings_.growth, alpha(id), context);
}

Evidence TreeBootstrap::held_out(std::uint32_t id, const double* context) const {
    return held_out_evidence(arms_[id].rows, settings_.growth, alpha(id), settings_.n_folds,
                             context);
}

Tree TreeBootstrap::pruned(std::uint32_t id) {
    const Dataset& rows = data(arms_[id]);
    const Sample all = Sample::of(rows, std::span<const double>());
    return grow(rows, all, settings_.growth).tree.prune(alpha(id));
}

}  // namespace banditree
