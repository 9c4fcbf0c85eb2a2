#include "banditree/online_tree_bootstrap.hpp"

#include <algorithm>
#include <utility>

#include "banditree/deciding.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

void OnlineTreeBootstrap::add_arm() {
    arms_.push_back(empty_arm());
    rewards_.add_arm();
}

OnlineTreeBootstrap::Arm OnlineTreeBootstrap::empty_arm() const {
    Arm arm(settings_.max_bins);
    arm.rows.set_kinds(kinds_);
    arm.replicas.resize(settings_.n_replicas);
    return arm;
}

void OnlineTreeBootstrap::set_kinds(const std::vector<Kind>& kinds) {
    for (const Arm& arm : arms_) arm.rows.check_kinds(kinds);
    for (Arm& arm : arms_) arm.rows.set_kinds(kinds);
    kinds_ = kinds;
}

std::vector<bool> OnlineTreeBootstrap::members(std::uint32_t arm, std::size_t row) const {
    Rng coins = Rng(settings_.seed).child(arm).child(row);
    std::vector<bool> members(settings_.n_replicas);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = coins.next() >> 63;
    return members;
}

void OnlineTreeBootstrap::learn(std::uint32_t id, std::span<const double> context, double reward) {
    rewards_.add(id, reward);
    learn_rows(id, {context.data(), 1, context.size()}, {&reward, 1});
}

void OnlineTreeBootstrap::learn_many(ArmIndices arms, const Matrix& contexts,
                                     std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        rewards_.add(static_cast<std::uint32_t>(arms[i]), rewards[i]);
    const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
    for (std::uint32_t arm = 0; arm < arms_.size(); ++arm)
        learn_rows(arm, by_arm[arm].matrix(), by_arm[arm].rewards);
}

void OnlineTreeBootstrap::restore(std::uint32_t id, const Matrix& contexts,
                                  std::span<const double> rewards, std::size_t n_learned) {
    for (const double reward : rewards) rewards_.add(id, reward);
    arms_[id].first = n_learned - contexts.rows;
    const std::size_t inside = std::min(contexts.rows, window().room(0));
    take_rows(id, part_of(contexts, 0, inside), rewards.first(inside));
    append_rows(arms_[id].rows, part_of(contexts, inside, contexts.rows - inside),
                rewards.subspan(inside));
    count_rows(id);
}

void OnlineTreeBootstrap::learn_rows(std::uint32_t id, const Matrix& contexts,
                                     std::span<const double> rewards) {
    const std::size_t inside = std::min(contexts.rows, window().room(arms_[id].rows.n_rows()));
    take_rows(id, part_of(contexts, 0, inside), rewards.first(inside));
    if (inside == contexts.rows) return;
    learn_beyond_window(id, part_of(contexts, inside, contexts.rows - inside),
                        rewards.subspan(inside));
}

void OnlineTreeBootstrap::learn_beyond_window(std::uint32_t id, const Matrix& contexts,
                                              std::span<const double> rewards) {
    const std::size_t due = window().last_due(arms_[id].rows.n_rows(), contexts.rows);
    append_rows(arms_[id].rows, part_of(contexts, 0, due), rewards.first(due));
    if (due > 0) keep_last(id, settings_.window);
    append_rows(arms_[id].rows, part_of(contexts, due, contexts.rows - due), rewards.subspan(due));
    count_rows(id);
}

void OnlineTreeBootstrap::keep_last(std::span<const std::int64_t> counts) {
    rewards_.keep_last(counts);
    for (std::uint32_t id = 0; id < arms_.size(); ++id)
        keep_last(id, static_cast<std::size_t>(counts[id]));
}

// Each row keeps its coins, which depend on its number.
void OnlineTreeBootstrap::keep_last(std::uint32_t id, std::size_t most) {
    const std::size_t n_rows = arms_[id].rows.n_rows(), n = window().last(n_rows, most);
    const ArmRows last = last_rows(arms_[id].rows, n);
    Arm arm = empty_arm();
    arm.first = arms_[id].first + n_rows - n;
    arms_[id] = std::move(arm);
    take_rows(id, last.matrix(), last.rewards);
}

void OnlineTreeBootstrap::take_rows(std::uint32_t id, const Matrix& contexts,
                                    std::span<const double> rewards) {
    if (contexts.rows == 0) return;
    Arm& arm = arms_[id];
    const std::size_t before = arm.rows.n_rows();
    toss_coins(id, before + contexts.rows);
    const Plan plan = this->plan(arm, before);
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        arm.rows.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        const std::size_t n = before + i + 1;
        if (std::find(plan.choices.begin(), plan.choices.end(), n) != plan.choices.end()) {
            arm.rows.renew();
            arm.price =
                LeafPrice::chosen(choose_alpha(arm.rows, settings_.growth, settings_.n_folds), n);
        }
        for (std::uint32_t replica = 0; replica < settings_.n_replicas; ++replica)
            if (plan.growths[replica] == n) grow_anew(arm, replica);
    }
    count_rows(id);
}

// Decides for all rows up to this number which replicas take them in.
void OnlineTreeBootstrap::toss_coins(std::uint32_t id, std::size_t n_rows) {
    Arm& arm = arms_[id];
    for (std::size_t row = arm.members.size() / words(); row < n_rows; ++row) {
        const auto takes = members(id, arm.first + row);
        const std::size_t first = arm.members.size();
        arm.members.resize(first + words());
        for (std::size_t i = 0; i < takes.size(); ++i)
            arm.members[first + i / 64] |= std::uint64_t{takes[i]} << (i % 64);
    }
}

OnlineTreeBootstrap::Plan OnlineTreeBootstrap::plan(const Arm& arm, std::size_t first) const {
    const std::size_t n_rows = arm.members.size() / words();
    Plan plan;
    plan.growths.resize(settings_.n_replicas);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        std::size_t grown_at = arm.replicas[i].grown_at, n = arm.replicas[i].n_rows;
        for (std::size_t row = first; row < n_rows; ++row) {
            if (!takes(arm, i, row) || ++n < next_growth(grown_at, settings_.refresh)) continue;
            grown_at = n;
            plan.growths[i] = row + 1;
        }
    }
    // Each growth needs the alpha that was chosen last before it, and so does what comes later.
    std::vector<std::size_t> needed = plan.growths;
    needed.push_back(n_rows);
    for (const std::size_t n : needed) {
        const std::size_t point = n > 0 ? last_point(arm.price.chosen_at, n) : 0;
        if (point > arm.price.chosen_at) plan.choices.push_back(point);
    }
    return plan;
}

void OnlineTreeBootstrap::grow_anew(Arm& arm, std::uint32_t i) {
    arm.rows.renew();
    std::vector<std::uint32_t> own;
    for (std::uint32_t row = 0; row < arm.rows.n_rows(); ++row)
        if (takes(arm, i, row)) own.push_back(row);
    plant(arm, i, own);
    // The others are counted with those of all replicas.
    for (const auto row : own)
        if (row < arm.counted) arm.replicas[i].tree.count(arm.rows, row);
}

void OnlineTreeBootstrap::plant(Arm& arm, std::uint32_t i, const std::vector<std::uint32_t>& own) {
    arm.replicas[i].grown_at = own.size();
    arm.replicas[i].tree.plant(grow_pruned(arm.rows, own, settings_.growth, alpha_of(arm)));
}

// Counts the rows that have come, and takes out those that count no longer; begins anew if those
// before were counted about another offset.
void OnlineTreeBootstrap::count_rows(std::uint32_t id) {
    Arm& arm = arms_[id];
    toss_coins(id, arm.rows.n_rows());
    arm.rows.renew();
    const std::size_t first = window().excess(arm.rows.n_rows());
    const double offset = arm.rows.data().offset;
    if (offset != arm.offset) {
        for (Replica& replica : arm.replicas) {
            replica.tree.forget_counts();
            replica.n_rows = 0;
        }
        arm.forgotten = arm.counted = first;
    }
    for (; arm.forgotten < std::min(first, arm.counted); ++arm.forgotten)
        for (const std::uint32_t i : takers(arm, arm.forgotten)) {
            arm.replicas[i].tree.uncount(arm.rows, static_cast<std::uint32_t>(arm.forgotten));
            --arm.replicas[i].n_rows;
        }
    arm.forgotten = first;
    for (arm.counted = std::max(arm.counted, first); arm.counted < arm.rows.n_rows(); ++arm.counted)
        for (const std::uint32_t i : takers(arm, arm.counted)) {
            const auto row = static_cast<std::uint32_t>(arm.counted);
            // Beyond a full window nothing is grown, and this may be the replica's first row.
            if (!arm.replicas[i].tree.is_planted()) plant(arm, i, {row});
            arm.replicas[i].tree.count(arm.rows, row);
            ++arm.replicas[i].n_rows;
        }
    arm.offset = offset;
}

std::vector<std::uint32_t> OnlineTreeBootstrap::takers(const Arm& arm, std::size_t row) const {
    std::vector<std::uint32_t> takers;
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i)
        if (takes(arm, i, row)) takers.push_back(i);
    return takers;
}

// Cost is a sum, and a replica has half the rows.
double OnlineTreeBootstrap::alpha_of(const Arm& arm) {
    return arm.price.alpha(arm.rows.n_rows()) / 2;
}

std::uint32_t OnlineTreeBootstrap::decide(const double* context, ArmIndices eligible,
                                          Rng& rng) const {
    return cold_arms_first(
        eligible, rng, [&](std::uint32_t arm) { return is_cold(arm); },
        [&](std::uint32_t arm) {
            const auto replica = static_cast<std::uint32_t>(rng.integer(settings_.n_replicas));
            return predict(arm, replica, context);
        });
}

bool OnlineTreeBootstrap::is_cold(std::uint32_t arm) const {
    const auto& replicas = arms_[arm].replicas;
    return std::all_of(replicas.begin(), replicas.end(),
                       [](const Replica& replica) { return replica.n_rows == 0; });
}

double OnlineTreeBootstrap::predict(std::uint32_t arm, std::uint32_t i,
                                    const double* context) const {
    const Replica& replica = arms_[arm].replicas[i];
    Evidence leaf;
    if (replica.n_rows > 0) leaf = Evidence::of(replica.tree.leaf(context), arms_[arm].offset);
    return settings_.posterior.mean(leaf, rewards_.spread());
}

FrozenTrees OnlineTreeBootstrap::freeze() const {
    const Posterior& posterior = settings_.posterior;
    std::vector<FrozenTrees::Arm> frozen(arms_.size());
    for (std::uint32_t id = 0; id < arms_.size(); ++id) {
        const Arm& arm = arms_[id];
        frozen[id].n_rows = arm.rows.n_rows() - arm.forgotten;
        frozen[id].cold = is_cold(id);
        for (const Replica& replica : arm.replicas) {
            FrozenTrees::Replica& one = frozen[id].replicas.emplace_back();
            std::vector<Evidence> leaves(1);  // an empty one, of a replica without rows
            if (replica.n_rows > 0) {
                one.tree = FlatTree(replica.tree.splits());
                leaves = evidence_of(replica.tree.leaves(), arm.offset);
            }
            for (const Evidence& leaf : leaves)
                one.predictions.push_back(posterior.mean(leaf, rewards_.spread()));
        }
    }
    return {FrozenTrees::Rule::replicas, posterior, rewards_.spread(), kinds_, std::move(frozen)};
}

}  // namespace banditree
