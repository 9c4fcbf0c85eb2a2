#include "banditree/online_tree_bootstrap.hpp"

#include <utility>

#include "banditree/deciding.hpp"

namespace banditree {

void OnlineTreeBootstrap::add_arm() {
    arms_.emplace_back(settings_, Rng(settings_.seed).child(arms_.size()), kinds_);
    rewards_.add_arm();
}

void OnlineTreeBootstrap::set_kinds(const std::vector<Kind>& kinds) {
    for (const HalvedArm& arm : arms_) arm.rows().check_kinds(kinds);
    for (HalvedArm& arm : arms_) arm.set_kinds(kinds);
    kinds_ = kinds;
}

void OnlineTreeBootstrap::learn(std::uint32_t id, std::span<const double> context, double reward) {
    rewards_.add(id, reward);
    arms_[id].learn_many({context.data(), 1, context.size()}, {&reward, 1});
    gardener_.tend(*this, id);
}

void OnlineTreeBootstrap::learn_many(ArmIndices arms, const Matrix& contexts,
                                     std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        rewards_.add(static_cast<std::uint32_t>(arms[i]), rewards[i]);
    const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
    for (std::uint32_t arm = 0; arm < arms_.size(); ++arm)
        arms_[arm].learn_many(by_arm[arm].matrix(), by_arm[arm].rewards);
    gardener_.tend_all(*this);
}

void OnlineTreeBootstrap::restore(std::uint32_t id, const Matrix& contexts,
                                  std::span<const double> rewards, std::size_t n_learned) {
    for (const double reward : rewards) rewards_.add(id, reward);
    arms_[id].restore(contexts, rewards, n_learned);
}

void OnlineTreeBootstrap::keep_last(std::span<const std::int64_t> counts) {
    gardener_.abandon();
    rewards_.keep_last(counts);
    for (std::size_t id = 0; id < arms_.size(); ++id)
        arms_[id].keep_last(static_cast<std::size_t>(counts[id]));
}

bool OnlineTreeBootstrap::tend() {
    gardener_.tend_all(*this);
    gardener_.check();
    return gardener_.is_busy();
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

double OnlineTreeBootstrap::predict(std::uint32_t arm, std::uint32_t i,
                                    const double* context) const {
    return settings_.posterior.mean(arms_[arm].leaf(i, context), rewards_.spread());
}

FrozenTrees OnlineTreeBootstrap::freeze() const {
    const Posterior& posterior = settings_.posterior;
    std::vector<FrozenTrees::Arm> frozen(arms_.size());
    for (std::uint32_t id = 0; id < arms_.size(); ++id) {
        const HalvedArm& arm = arms_[id];
        frozen[id].n_rows = arm.n_counted();
        frozen[id].cold = is_cold(id);
        for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
            FrozenTrees::Replica& one = frozen[id].replicas.emplace_back();
            std::vector<Evidence> leaves(1);  // an empty one, of a replica without rows
            if (arm.n_rows(i) > 0) {
                one.tree = FlatTree(arm.tree(i).splits());
                leaves = evidence_of(arm.tree(i).leaves(), arm.offset());
            }
            for (const Evidence& leaf : leaves)
                one.predictions.push_back(posterior.mean(leaf, rewards_.spread()));
        }
    }
    return {FrozenTrees::Rule::replicas, posterior, rewards_.spread(), kinds_, std::move(frozen)};
}

}  // namespace banditree
