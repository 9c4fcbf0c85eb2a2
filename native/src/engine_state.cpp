// Engines as bytes. Each is read into a new one first, so that an error leaves the engine as it
// was.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "banditree/online_tree_bootstrap.hpp"
#include "banditree/tree_bootstrap.hpp"
#include "banditree/tree_heuristic.hpp"

namespace banditree {

namespace {

using Reader = ByteReader;

// Rows that an engine with these features and this posterior can have.
void check_rows(const RowStore& rows, const std::vector<Kind>& kinds, const Posterior& posterior) {
    Reader::require(rows.kinds() == kinds);
    if (posterior.binary && rows.n_rows() > 0)
        Reader::require(rows.lowest_reward() >= 0 && rows.highest_reward() <= 1);
}

// One more arm of this number, whose rows, but for so many made-up ones, were rewarded.
void resume_arm(RewardWindows& rewards, std::uint32_t arm, const RowStore& rows,
                std::size_t n_made_up = 0) {
    rewards.add_arm();
    for (std::size_t row = n_made_up; row < rows.n_rows(); ++row)
        rewards.add(arm, rows.reward(row));
}

}  // namespace

void TreeHeuristic::write(ByteWriter& out) const {
    write_kinds(out, kinds_);
    rewards_.spread().write(out);
    out.put<std::uint64_t>(arms_.size());
    for (const auto& arm : arms_) arm->write(out);
}

void TreeHeuristic::read(ByteReader& in) {
    TreeHeuristic fresh(settings_, posterior_);
    fresh.kinds_ = read_kinds(in);
    const Spread spread = Spread::read(in);
    const std::size_t n_arms = in.length(1);
    for (std::uint32_t id = 0; id < n_arms; ++id) {
        ArmTree& arm = *fresh.arms_.emplace_back(ArmTree::make(settings_));
        arm.read(in);
        check_rows(arm.rows(), fresh.kinds_, posterior_);
        Reader::require(window().allows(arm.n_rows(), arm.n_rows()));
        resume_arm(fresh.rewards_, id, arm.rows());
    }
    in.finish();
    fresh.rewards_.spread() = spread;
    gardener_.abandon();
    kinds_ = std::move(fresh.kinds_);
    rewards_ = std::move(fresh.rewards_);
    arms_ = std::move(fresh.arms_);
}

void OnlineTreeBootstrap::write(ByteWriter& out) const {
    write_kinds(out, kinds_);
    rewards_.spread().write(out);
    out.put<std::uint64_t>(arms_.size());
    for (const HalvedArm& arm : arms_) arm.write(out);
}

void OnlineTreeBootstrap::read(ByteReader& in) {
    OnlineTreeBootstrap fresh(settings_);
    fresh.kinds_ = read_kinds(in);
    const Spread spread = Spread::read(in);
    const std::size_t n_arms = in.length(1);
    for (std::uint32_t id = 0; id < n_arms; ++id) {
        HalvedArm& arm =
            fresh.arms_.emplace_back(settings_, Rng(settings_.seed).child(id), std::vector<Kind>());
        arm.read(in);
        check_rows(arm.rows(), fresh.kinds_, settings_.posterior);
        Reader::require(window().allows(arm.rows().n_rows(), arm.n_learned()));
        resume_arm(fresh.rewards_, id, arm.rows());
    }
    in.finish();
    fresh.rewards_.spread() = spread;
    gardener_.abandon();
    kinds_ = std::move(fresh.kinds_);
    rewards_ = std::move(fresh.rewards_);
    arms_ = std::move(fresh.arms_);
}

void TreeBootstrap::write(ByteWriter& out) const {
    write_kinds(out, kinds_);
    rewards_.spread().write(out);
    out.put<std::uint64_t>(arms_.size());
    for (const Arm& arm : arms_) {
        arm.rows.write(out);
        out.put(arm.standing.failures);
        out.put<std::uint8_t>(arm.standing.settled);
        out.put(arm.standing.alpha);
        out.put<std::uint64_t>(arm.validated_at);
    }
}

void TreeBootstrap::read(ByteReader& in) {
    std::vector<Kind> kinds = read_kinds(in);
    const Spread spread = Spread::read(in);
    std::vector<Arm> arms;
    RewardWindows rewards(settings_.window);
    const std::size_t n_arms = in.length(1);
    for (std::uint32_t id = 0; id < n_arms; ++id) {
        Arm& arm = arms.emplace_back(settings_.max_bins);
        arm.rows = RowStore::read(in, settings_.max_bins);
        Reader::require(arm.rows.kinds() == kinds);
        arm.standing.failures = in.get<std::uint32_t>();
        arm.standing.settled = in.flag();
        arm.standing.alpha = in.between(0.0, std::numeric_limits<double>::infinity());
        const std::size_t n_rows = arm.rows.n_rows();
        Reader::require(n_rows == 0 || n_rows > n_made_up());
        Reader::require(window().allows(n_rows, n_rows));
        arm.validated_at =
            static_cast<std::size_t>(in.between<std::uint64_t>(n_rows > 0, n_rows - excess(arm)));
        resume_arm(rewards, id, arm.rows, n_made_up());
    }
    in.finish();
    rewards.spread() = spread;
    kinds_ = std::move(kinds);
    rewards_ = std::move(rewards);
    arms_ = std::move(arms);
}

}  // namespace banditree
