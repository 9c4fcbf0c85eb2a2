#include "banditree/tree_bootstrap.hpp"

#include <algorithm>

#include "banditree/cross_validation.hpp"
#include "banditree/deciding.hpp"
#include "banditree/grow.hpp"
#include "banditree/leaf_price.hpp"
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
        if (arm.rows.n_rows() == last_point(arm.validated_at, end)) settle(arm);
    }
    for (Arm& arm : arms_)
        if (arm.rows.n_rows() > 0) settle(arm);
}

void TreeBootstrap::restore(std::uint32_t id, const Matrix& contexts,
                            std::span<const double> rewards, const Standing& standing) {
    Arm& arm = arms_[id];
    arm.standing = standing;
    const std::size_t point = last_point(0, contexts.rows);
    if (!std::isnan(standing.alpha)) arm.validated_at = point;
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        arm.rows.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        if (i + 1 == point) settle(arm);
    }
    if (contexts.rows > 0) settle(arm);
}

void TreeBootstrap::take(Arm& arm, std::span<const double> context, double reward) {
    judge(arm, reward);
    const bool widens = spread_.n == 0 || reward < spread_.lowest || reward > spread_.highest;
    spread_.add(reward);
    if (settings_.cold_start == ColdStart::prior) {
        if (widens && !settings_.binary) follow_range();
        if (arm.rows.n_rows() == 0)
            for (const double made_up : this->made_up()) arm.rows.append(context, made_up, 1.0);
    }
    arm.rows.append(context, reward, 1.0);
}

void TreeBootstrap::follow_range() {
    for (Arm& arm : arms_) {
        if (arm.rows.n_rows() == 0) continue;
        arm.rows.replace_first_rewards(made_up());
        arm.exact = Dataset();
        arm.kept_of = 0;
    }
}

// A success is a reward above 0; of continuous rewards, one above the mean of those before.
void TreeBootstrap::judge(Arm& arm, double reward) {
    Standing& standing = arm.standing;
    if (standing.settled) return;
    const bool first = !settings_.binary && spread_.n == 0;
    const bool success = !first && reward > (settings_.binary ? 0 : spread_.mean);
    standing.failures = success ? 0 : standing.failures + 1;
    standing.settled = success || standing.failures >= settings_.patience;
}

// Follows the schedule once rows have come.
void TreeBootstrap::settle(Arm& arm) {
    arm.rows.renew();
    arm.exact = Dataset();
    const std::size_t point = last_point(arm.validated_at, arm.rows.n_rows());
    if (point == arm.validated_at) return;
    arm.validated_at = point;
    // On every fit, alpha is that of the resample; this one is for the tree on the rows themselves.
    if (settings_.pruning != Pruning::none)
        arm.standing.alpha = choose_alpha(data(arm), settings_.growth, settings_.n_folds);
}

const Dataset& TreeBootstrap::data(Arm& arm) {
    if (!arm.rows.exact()) return arm.rows.data();
    if (arm.exact.n_rows() == 0) arm.exact = arm.rows.snapshot();
    return arm.exact;
}

double TreeBootstrap::alpha(std::uint32_t id) const {
    const Arm& arm = arms_[id];
    return LeafPrice::chosen(arm.standing.alpha, arm.validated_at).alpha(arm.rows.n_rows());
}

bool TreeBootstrap::is_cold(std::uint32_t id) const {
    const Arm& arm = arms_[id];
    if (arm.rows.n_rows() == 0) return true;
    return settings_.cold_start == ColdStart::until_success && !arm.standing.settled;
}

std::uint32_t TreeBootstrap::decide(const double* context, ArmIndices eligible, Rng& rng) {
    return cold_arms_first(
        eligible, rng, [&](std::uint32_t arm) { return is_cold(arm); },
        [&](std::uint32_t arm) { return draw(arm, context, rng); });
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
double TreeBootstrap::validated(const Dataset& data, const std::vector<double>& weights) const {
    Dataset resampled = data;
    resampled.w = weights;
    return choose_alpha(resampled, settings_.growth, settings_.n_folds);
}

double TreeBootstrap::predict_validated(const Dataset& data, const std::vector<double>& weights,
                                        const double* context) const {
    const double alpha = validated(data, weights);
    return lazy_predict(data, Sample::of(data, weights), settings_.growth, alpha, context);
}

std::vector<double> TreeBootstrap::kept_draws(std::uint32_t id, const double* context,
                                              const Rng& stream) {
    std::vector<double> predictions;
    for (const Tree& tree : kept(id, stream)) predictions.push_back(tree.leaf_of(context).mean);
    return predictions;
}

const std::vector<Tree>& TreeBootstrap::kept(std::uint32_t id, const Rng& stream) {
    Arm& arm = arms_[id];
    // Of few rows, each counts.
    std::size_t grown_at = std::min(arm.rows.n_rows(), kKeptFrom);
    while (next_growth(grown_at, kKeptFor) <= arm.rows.n_rows())
        grown_at = next_growth(grown_at, kKeptFor);
    if (arm.kept_of != grown_at) keep(arm, alpha(id), grown_at, stream.child(grown_at));
    return arm.kept;
}

// Grows trees on resamples of the first rows: the more, the fewer rows there are.
void TreeBootstrap::keep(Arm& arm, double alpha, std::size_t n_rows, Rng stream) {
    const Dataset& rows = data(arm);
    arm.kept.clear();
    const std::size_t affordable = kRowsOfDraws / n_rows;
    for (std::size_t i = 0; i < std::clamp(affordable, kFewestDraws, kMostDraws); ++i) {
        auto weights = resample(n_rows, stream);
        weights.resize(rows.n_rows());
        Growth growth = settings_.growth;
        growth.alpha = settings_.pruning == Pruning::every_fit ? validated(rows, weights) : alpha;
        const Sample sample = Sample::of(rows, weights);
        arm.kept.push_back(grow(rows, sample, growth).tree.prune(growth.alpha));
    }
    arm.kept_of = n_rows;
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

std::vector<double> TreeBootstrap::made_up(std::uint32_t id, const double* context) {
    if (settings_.cold_start != ColdStart::prior) return {};
    const Tree tree = pruned(id);
    const std::vector<double> first = first_row(arms_[id]);
    if (&tree.leaf_of(first.data()) != &tree.leaf_of(context)) return {};
    const auto rewards = made_up();
    return {rewards.begin(), rewards.end()};
}

std::vector<double> TreeBootstrap::first_row(const Arm& arm) {
    std::vector<double> row;
    for (std::uint32_t f = 0; f < arm.rows.kinds().size(); ++f) row.push_back(arm.rows.value(f, 0));
    return row;
}

FrozenTrees TreeBootstrap::freeze(const Rng& stream) {
    std::vector<FrozenTrees::Arm> frozen;
    for (std::uint32_t id = 0; id < arms_.size(); ++id)
        frozen.push_back(this->frozen(id, stream.child(id)));
    return {FrozenTrees::Rule::replicas, Posterior{settings_.binary, 1, 1}, spread_, kinds_,
            std::move(frozen)};
}

FrozenTrees::Arm TreeBootstrap::frozen(std::uint32_t id, const Rng& stream) {
    FrozenTrees::Arm frozen;
    frozen.cold = is_cold(id);
    frozen.n_rows = arms_[id].rows.n_rows();
    if (frozen.n_rows == 0) return frozen;
    const Tree tree = pruned(id);
    frozen.tree = FlatTree(tree);
    for (const Node& node : tree.nodes)
        if (node.is_leaf())
            frozen.leaves.push_back({node.weight, node.weight * node.mean, node.cost});
    if (settings_.cold_start == ColdStart::prior)
        frozen.made_up_leaf = frozen.tree.leaf_of(first_row(arms_[id]).data());
    if (frozen.cold) return frozen;
    for (const Tree& resampled : kept(id, stream)) {
        FrozenTrees::Replica& replica = frozen.replicas.emplace_back();
        replica.tree = FlatTree(resampled);
        for (const Node& node : resampled.nodes)
            if (node.is_leaf()) replica.predictions.push_back(node.mean);
    }
    return frozen;
}

}  // namespace banditree
