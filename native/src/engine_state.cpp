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

constexpr std::uint64_t kMostRows = std::uint64_t{1} << 62;  // that an arm can have learned

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
    kinds_ = std::move(fresh.kinds_);
    rewards_ = std::move(fresh.rewards_);
    arms_ = std::move(fresh.arms_);
}

void OnlineTreeBootstrap::write(ByteWriter& out) const {
    write_kinds(out, kinds_);
    rewards_.spread().write(out);
    out.put<std::uint64_t>(arms_.size());
    for (const Arm& arm : arms_) {
        arm.rows.write(out);
        out.put<std::uint64_t>(arm.first);
        arm.price.write(out);
        out.put<std::uint64_t>(arm.replicas.size());
        for (const Replica& replica : arm.replicas) {
            out.put<std::uint64_t>(replica.grown_at);
            replica.tree.write(out);
        }
    }
}

void OnlineTreeBootstrap::read(ByteReader& in) {
    OnlineTreeBootstrap fresh(settings_);
    fresh.kinds_ = read_kinds(in);
    const Spread spread = Spread::read(in);
    const std::size_t n_arms = in.length(1);
    for (std::uint32_t id = 0; id < n_arms; ++id) {
        fresh.arms_.emplace_back(settings_.max_bins);
        fresh.read_arm(in, id);
        resume_arm(fresh.rewards_, id, fresh.rows(id));
    }
    in.finish();
    fresh.rewards_.spread() = spread;
    kinds_ = std::move(fresh.kinds_);
    rewards_ = std::move(fresh.rewards_);
    arms_ = std::move(fresh.arms_);
}

// Who takes which row follows from the seed.
void OnlineTreeBootstrap::read_arm(ByteReader& in, std::uint32_t id) {
    Arm& arm = arms_[id];
    arm.rows = RowStore::read(in, settings_.max_bins);
    check_rows(arm.rows, kinds_, settings_.posterior);
    arm.first = static_cast<std::size_t>(in.between<std::uint64_t>(0, kMostRows));
    Reader::require(window().allows(arm.rows.n_rows(), arm.first + arm.rows.n_rows()));
    arm.price = LeafPrice::read(in, arm.rows.n_rows());
    arm.forgotten = window().excess(arm.rows.n_rows());
    arm.counted = arm.rows.n_rows();
    arm.offset = arm.rows.data().offset;
    toss_coins(id, arm.counted);
    Reader::require(in.length(1) == settings_.n_replicas);
    arm.replicas.resize(settings_.n_replicas);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        Replica& replica = arm.replicas[i];
        std::size_t taken = 0;
        for (std::size_t row = 0; row < arm.counted; ++row) {
            taken += takes(arm, i, row);
            replica.n_rows += row >= arm.forgotten && takes(arm, i, row);
        }
        replica.grown_at = static_cast<std::size_t>(in.between<std::uint64_t>(taken > 0, taken));
        replica.tree = CountedTree::read(in, arm.rows);
        Reader::require(replica.tree.is_planted() == (taken > 0));
        Reader::require(replica.tree.n_counted() == replica.n_rows);
    }
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
