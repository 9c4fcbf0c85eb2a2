#include "banditree/engines/tree_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "banditree/data/schedule.hpp"
#include "banditree/engines/deciding.hpp"
#include "banditree/engines/leaf_price.hpp"
#include "banditree/trees/cross_validation.hpp"

namespace banditree {

std::unique_ptr<ResampledArm> TreeBootstrap::empty_arm(std::uint32_t) const {
    return std::make_unique<ResampledArm>(settings_.max_bins);
}

void TreeBootstrap::check(const Arm& arm) const {
    const std::size_t n_rows = arm.store.n_rows();
    ByteReader::require(n_rows == 0 || n_rows > n_made_up());
    ByteReader::require(arm.validated_at >= (n_rows > 0 ? 1 : 0));
    ByteReader::require(arm.validated_at <= n_rows - excess(arm));
}

void TreeBootstrap::learn(std::uint32_t id, std::span<const double> context, double reward) {
    const std::int64_t arm = id;
    learn_many({&arm, 1}, {context.data(), 1, context.size()}, {&reward, 1});
}

void TreeBootstrap::learn_many(ArmIndices arms, const Matrix& contexts,
                               std::span<const double> rewards) {
    std::vector<std::size_t> n_more(arms_.size());
    for (const auto arm : arms) ++n_more[static_cast<std::size_t>(arm)];
    std::vector<Plan> plans;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        plans.push_back(plan(*arms_[arm], n_more[arm]));
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        const auto id = static_cast<std::uint32_t>(arms[i]);
        Arm& arm = *arms_[id];
        take(id, {contexts.data + i * contexts.columns, contexts.columns}, rewards[i]);
        if (arm.store.n_rows() == plans[id].relearn_at) {
            keep_last(arm, settings_.window);
            plans[id] = {};
        }
        if (arm.store.n_rows() == plans[id].settle_at) settle(arm);
    }
    for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        if (n_more[arm] > 0) settle(*arms_[arm]);
}

TreeBootstrap::Plan TreeBootstrap::plan(const Arm& arm, std::size_t n_more) const {
    std::size_t n_rows = arm.store.n_rows();
    if (n_rows == 0 && n_more > 0) n_rows = n_made_up();
    const std::size_t inside = std::min(n_more, window().room(n_rows));
    if (inside < n_more) {
        const std::size_t due = window().last_due(n_rows + inside, n_more - inside);
        if (due > 0) return {0, n_rows + inside + due};
    }
    return {last_point(arm.validated_at, n_rows + inside), 0};
}

void TreeBootstrap::restore(std::uint32_t id, const Matrix& contexts,
                            std::span<const double> rewards, const Standing& standing) {
    if (!window().allows(contexts.rows, contexts.rows))
        throw std::invalid_argument("the arm cannot be restored");
    Arm& arm = *arms_[id];
    arm.standing = standing;
    for (std::size_t i = n_made_up(); i < rewards.size(); ++i) rewards_.add(id, rewards[i]);
    const std::size_t inside = std::min(contexts.rows, window().room(0));
    if (!std::isnan(standing.alpha)) arm.validated_at = last_point(0, inside);
    give_rows(arm, part_of(contexts, 0, inside), rewards.first(inside));
    append_rows(arm.store, part_of(contexts, inside, contexts.rows - inside),
                rewards.subspan(inside));
    if (contexts.rows > 0) settle(arm);
}

void TreeBootstrap::give_rows(Arm& arm, const Matrix& contexts, std::span<const double> rewards) {
    const std::size_t point = last_point(0, contexts.rows);
    append_rows(arm.store, part_of(contexts, 0, point), rewards.first(point));
    if (point > 0) settle(arm);
    append_rows(arm.store, part_of(contexts, point, contexts.rows - point), rewards.subspan(point));
    if (contexts.rows > 0) settle(arm);
}

// Whether an arm was given up, or had its success, is what the rows say that it keeps.
void TreeBootstrap::keep_last(std::span<const std::int64_t> counts) {
    rewards_.keep_last(counts);
    for (std::size_t id = 0; id < arms_.size(); ++id) {
        Arm& arm = *arms_[id];
        keep_last(arm, static_cast<std::size_t>(counts[id]));
        arm.standing.failures = 0;
        arm.standing.settled = false;
        for (std::size_t row = n_made_up(); row < arm.store.n_rows(); ++row)
            judge(arm, arm.store.reward(row));
    }
}

// Made-up rewards move to the first context that is kept; whether the arm was given up, or had its
// success, remains.
void TreeBootstrap::keep_last(Arm& arm, std::size_t most) {
    ArmRows last = last_rows(arm.store, window().last(arm.store.n_rows(), most));
    ArmRows first;
    first.n_features = last.n_features;
    if (n_made_up() > 0 && !last.rewards.empty())
        for (const double reward : made_up()) {
            first.contexts.insert(
                first.contexts.end(), last.contexts.begin(),
                last.contexts.begin() + static_cast<std::ptrdiff_t>(last.n_features));
            first.rewards.push_back(reward);
        }
    last.contexts.insert(last.contexts.begin(), first.contexts.begin(), first.contexts.end());
    last.rewards.insert(last.rewards.begin(), first.rewards.begin(), first.rewards.end());
    const Standing standing = arm.standing;
    arm = Arm(settings_.max_bins);
    arm.set_kinds(kinds_);
    arm.standing = standing;
    give_rows(arm, last.matrix(), last.rewards);
}

void TreeBootstrap::take(std::uint32_t id, std::span<const double> context, double reward) {
    Arm& arm = *arms_[id];
    judge(arm, reward);
    const std::array<double, 2> before = made_up();
    rewards_.add(id, reward);
    if (settings_.cold_start == ColdStart::prior) {
        if (made_up() != before) follow_range();
        if (arm.store.n_rows() == 0)
            for (const double made_up : this->made_up()) arm.store.append(context, made_up, 1.0);
    }
    arm.store.append(context, reward, 1.0);
}

void TreeBootstrap::follow_range() {
    for (const auto& arm : arms_) {
        if (arm->store.n_rows() < n_made_up()) continue;
        arm->store.replace_first_rewards(made_up());
        arm->exact = Dataset();
        arm->kept_of = 0;
    }
}

// A success is a reward above 0; of continuous rewards, one above the mean of those before.
void TreeBootstrap::judge(Arm& arm, double reward) {
    Standing& standing = arm.standing;
    if (standing.settled) return;
    const Spread& spread = rewards_.spread();
    const bool first = !settings_.binary && spread.n == 0;
    const bool success = !first && reward > (settings_.binary ? 0 : spread.mean);
    standing.failures = success ? 0 : standing.failures + 1;
    standing.settled = success || standing.failures >= settings_.patience;
}

// Follows the schedule once rows have come; beyond a full window, alpha stays. Kept trees are those
// of the bins and of alpha as they are now.
void TreeBootstrap::settle(Arm& arm) {
    if (arm.store.renew()) arm.kept_of = 0;
    arm.exact = Dataset();
    const std::size_t point = last_point(arm.validated_at, arm.store.n_rows() - excess(arm));
    if (point == arm.validated_at) return;
    arm.validated_at = point;
    arm.kept_of = 0;
    // On every fit, alpha is that of the resample; this one is for the tree on the rows themselves.
    if (settings_.pruning != Pruning::none)
        arm.standing.alpha = choose_alpha(data(arm), settings_.growth, settings_.n_folds);
}

const Dataset& TreeBootstrap::data(Arm& arm) {
    if (!arm.store.exact()) return arm.store.data();
    if (arm.exact.n_rows() == 0) arm.exact = arm.store.snapshot();
    return arm.exact;
}

double TreeBootstrap::alpha(std::uint32_t id) const {
    return alpha_at(*arms_[id], rows(id).n_rows() - excess(*arms_[id]));
}

double TreeBootstrap::alpha_at(const Arm& arm, std::size_t n_rows) {
    return LeafPrice::chosen(arm.standing.alpha, arm.validated_at).alpha(n_rows);
}

bool TreeBootstrap::is_cold(std::uint32_t id) const {
    const Arm& arm = *arms_[id];
    if (arm.store.n_rows() == 0) return true;
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

// Rows that no longer count come after the made-up ones.
std::vector<double> TreeBootstrap::spaced(const Arm& arm, std::vector<double> weights) const {
    if (excess(arm) == 0) return weights;
    weights.insert(weights.begin() + static_cast<std::ptrdiff_t>(n_made_up()), excess(arm), 0.0);
    return weights;
}

Sample TreeBootstrap::unresampled(Arm& arm) {
    const Dataset& rows = data(arm);
    if (excess(arm) == 0) return Sample::of(rows, std::span<const double>());
    return Sample::of(rows, spaced(arm, std::vector<double>(rows.n_rows() - excess(arm), 1.0)));
}

double TreeBootstrap::draw(std::uint32_t id, const double* context, Rng& rng) {
    Arm& arm = *arms_[id];
    const Dataset& rows = data(arm);
    const auto weights = spaced(arm, resample(rows.n_rows() - excess(arm), rng));
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
    Arm& arm = *arms_[id];
    const std::size_t n_rows = arm.store.n_rows() - excess(arm);
    // Of few rows, each counts.
    std::size_t grown_at = std::min(n_rows, kKeptFrom);
    while (next_growth(grown_at, kKeptFor) <= n_rows) grown_at = next_growth(grown_at, kKeptFor);
    if (arm.kept_of != grown_at) keep(arm, grown_at, stream.child(grown_at));
    return arm.kept;
}

// Grows trees on resamples of the first rows: the more, the fewer rows there are.
void TreeBootstrap::keep(Arm& arm, std::size_t n_rows, Rng stream) {
    const Dataset& rows = data(arm);
    const double alpha = alpha_at(arm, std::max(n_rows, arm.validated_at));
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
    const Dataset& rows = data(*arms_[id]);
    return lazy_predict(rows, unresampled(*arms_[id]), settings_.growth, alpha(id), context);
}

Evidence TreeBootstrap::held_out(std::uint32_t id, const double* context) const {
    return held_out_evidence(rows(id), settings_.growth, alpha(id), settings_.n_folds, context);
}

Tree TreeBootstrap::pruned(std::uint32_t id) {
    const Dataset& rows = data(*arms_[id]);
    return grow(rows, unresampled(*arms_[id]), settings_.growth).tree.prune(alpha(id));
}

std::vector<double> TreeBootstrap::made_up(std::uint32_t id, const double* context) {
    if (settings_.cold_start != ColdStart::prior) return {};
    const Tree tree = pruned(id);
    const std::vector<double> first = first_row(*arms_[id]);
    if (&tree.leaf_of(first.data()) != &tree.leaf_of(context)) return {};
    const auto rewards = made_up();
    return {rewards.begin(), rewards.end()};
}

std::vector<double> TreeBootstrap::first_row(const Arm& arm) {
    std::vector<double> row;
    for (std::uint32_t f = 0; f < arm.store.kinds().size(); ++f)
        row.push_back(arm.store.value(f, 0));
    return row;
}

FrozenTrees TreeBootstrap::freeze(const Rng& stream) {
    std::vector<FrozenTrees::Arm> frozen;
    for (std::uint32_t id = 0; id < arms_.size(); ++id)
        frozen.push_back(this->frozen(id, stream.child(id)));
    return {FrozenTrees::Rule::replicas, Posterior{settings_.binary, 1, 1}, rewards_.spread(),
            kinds_, std::move(frozen)};
}

FrozenTrees::Arm TreeBootstrap::frozen(std::uint32_t id, const Rng& stream) {
    FrozenTrees::Arm frozen;
    frozen.cold = is_cold(id);
    frozen.n_rows = rows(id).n_rows() - excess(*arms_[id]);
    if (frozen.n_rows == 0) return frozen;
    const Tree tree = pruned(id);
    frozen.tree = FlatTree(tree);
    for (const Node& node : tree.nodes)
        if (node.is_leaf())
            frozen.leaves.push_back({node.weight, node.weight * node.mean, node.cost});
    if (settings_.cold_start == ColdStart::prior)
        frozen.made_up_leaf = frozen.tree.leaf_of(first_row(*arms_[id]).data());
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
