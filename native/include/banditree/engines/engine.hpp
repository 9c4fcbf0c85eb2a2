// What all engines are, and what those have in common that keep the rows of each arm by themselves.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/data/row_window.hpp"
#include "banditree/engines/frozen_trees.hpp"
#include "banditree/engines/gardener.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/laws/reward_windows.hpp"

namespace banditree {

// Arms are numbered as they are added. `set_kinds` is for all arms or, if it throws
// std::invalid_argument, for none; `learn_many` is the same as learning the rows one by one;
// `keep_last` makes the engine what it would be had each arm learned only so many of its rows that
// count, the last ones. What `write` wrote, `read` reads into an engine of the same settings; on
// what none has written it throws std::invalid_argument, having changed nothing.
template <class T>
concept Engine =
    requires(T engine, const T read_only, std::uint32_t arm, const std::vector<Kind> kinds,
             std::span<const double> context, double reward, ArmIndices arms, Matrix contexts,
             std::span<const std::int64_t> counts, ByteWriter out, ByteReader in) {
        engine.add_arm();
        engine.set_kinds(kinds);
        engine.learn(arm, context, reward);
        engine.learn_many(arms, contexts, context);
        engine.keep_last(counts);
        engine.read(in);
        read_only.write(out);
        { read_only.n_arms() } -> std::convertible_to<std::size_t>;
        { read_only.kinds() } -> std::convertible_to<const std::vector<Kind>&>;
        { read_only.window().size } -> std::convertible_to<std::size_t>;
    };

// An engine of which each arm keeps its own rows. Of an arm it asks rows(), n_learned() (all rows,
// those included that it no longer has), set_kinds(), write() and read() (into an arm without rows,
// with kinds and all).
template <class Arm>
class ArmEngine {
 public:
    ArmEngine(const ArmEngine&) = delete;
    ArmEngine& operator=(const ArmEngine&) = delete;
    virtual ~ArmEngine() = default;

    void add_arm() {
        arms_.push_back(empty_arm(static_cast<std::uint32_t>(n_arms())));
        arms_.back()->set_kinds(kinds_);
        rewards_.add_arm();
    }
    void set_kinds(const std::vector<Kind>& kinds) {
        for (const auto& arm : arms_) arm->rows().check_kinds(kinds);
        for (auto& arm : arms_) arm->set_kinds(kinds);
        kinds_ = kinds;
    }

    std::size_t n_arms() const { return arms_.size(); }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const RowWindow& window() const { return window_; }
    const RowStore& rows(std::uint32_t arm) const { return arms_[arm]->rows(); }
    Spread& spread() { return rewards_.spread(); }

    void write(ByteWriter& out) const;
    void read(ByteReader& in);

 protected:
    explicit ArmEngine(const RowWindow& window) : window_(window), rewards_(window.size) {}

    // Without kinds.
    virtual std::unique_ptr<Arm> empty_arm(std::uint32_t id) const = 0;
    // Throws std::invalid_argument on an arm that this engine cannot have.
    virtual void check(const Arm& arm) const = 0;
    // No tree is being grown any more for the arms as they were.
    virtual void abandon() {}

    RowWindow window_;
    std::vector<Kind> kinds_;
    std::vector<std::unique_ptr<Arm>> arms_;
    RewardWindows rewards_;
};

template <class Arm>
void ArmEngine<Arm>::write(ByteWriter& out) const {
    write_kinds(out, kinds_);
    rewards_.spread().write(out);
    out.put<std::uint64_t>(arms_.size());
    for (const auto& arm : arms_) arm->write(out);
}

template <class Arm>
void ArmEngine<Arm>::read(ByteReader& in) {
    std::vector<Kind> kinds = read_kinds(in);
    const Spread spread = Spread::read(in);
    std::vector<std::unique_ptr<Arm>> arms;
    RewardWindows rewards(window_.size);
    const std::size_t n_arms = in.length(1);
    for (std::uint32_t id = 0; id < n_arms; ++id) {
        const Arm& arm = *arms.emplace_back(empty_arm(id));
        arms.back()->read(in);
        const RowStore& rows = arm.rows();
        ByteReader::require(rows.kinds() == kinds);
        ByteReader::require(window_.allows(rows.n_rows(), arm.n_learned()));
        check(arm);
        rewards.add_arm();
        for (std::size_t row = window_.beside; row < rows.n_rows(); ++row)
            rewards.add(id, rows.reward(row));
    }
    in.finish();
    rewards.spread() = spread;
    abandon();
    kinds_ = std::move(kinds);
    arms_ = std::move(arms);
    rewards_ = std::move(rewards);
}

// One whose arms keep their trees, and may grow them beside it. Of an arm it asks besides what a
// Gardener does, learn(), learn_many() and restore().
template <class Arm>
class TreeEngine : public ArmEngine<Arm> {
 public:
    void learn(std::uint32_t arm, std::span<const double> context, double reward) {
        rewards_.add(arm, reward);
        arms_[arm]->learn(context, reward);
        gardener_.tend(*this, arm);
    }
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards) {
        for (std::size_t i = 0; i < rewards.size(); ++i)
            rewards_.add(static_cast<std::uint32_t>(arms[i]), rewards[i]);
        const auto by_arm = rows_by_arm(arms_.size(), arms, contexts, rewards);
        for (std::size_t arm = 0; arm < arms_.size(); ++arm)
            arms_[arm]->learn_many(by_arm[arm].matrix(), by_arm[arm].rewards);
        gardener_.tend_all(*this);
    }
    void keep_last(std::span<const std::int64_t> counts) {
        gardener_.abandon();
        rewards_.keep_last(counts);
        for (std::uint32_t arm = 0; arm < arms_.size(); ++arm)
            forget_but(arm, static_cast<std::size_t>(counts[arm]));
    }
    // Gives an arm without rows those that another one has kept of all that it has learned.
    void restore(std::uint32_t arm, const Matrix& contexts, std::span<const double> rewards,
                 std::size_t n_learned) {
        for (const double reward : rewards) rewards_.add(arm, reward);
        arms_[arm]->restore(contexts, rewards, n_learned);
    }

    // Plants what has been grown beside and begins what is due, as learning does; returns whether
    // more is being grown. Throws what kept a tree from being grown.
    bool tend() {
        gardener_.tend_all(*this);
        gardener_.check();
        return gardener_.is_busy();
    }
    auto waiting() { return gardener_.waiting(); }

    FrozenTrees freeze() const {
        std::vector<FrozenTrees::Arm> frozen;
        for (std::uint32_t arm = 0; arm < arms_.size(); ++arm) frozen.push_back(this->frozen(arm));
        return {rule(), posterior_, rewards_.spread(), kinds_, std::move(frozen)};
    }

 protected:
    using ArmEngine<Arm>::arms_;
    using ArmEngine<Arm>::kinds_;
    using ArmEngine<Arm>::rewards_;

    TreeEngine(const RowWindow& window, std::size_t beside, const Posterior& posterior)
        : ArmEngine<Arm>(window), posterior_(posterior), gardener_(10 * beside) {}

    // An arm becomes what it would be had it learned only so many of its rows that count, the last
    // ones.
    virtual void forget_but(std::uint32_t arm, std::size_t most) = 0;
    virtual FrozenTrees::Rule rule() const = 0;
    virtual FrozenTrees::Arm frozen(std::uint32_t arm) const = 0;
    void check(const Arm& arm) const override {
        if (posterior_.binary && arm.rows().n_rows() > 0)
            ByteReader::require(arm.rows().lowest_reward() >= 0 &&
                                arm.rows().highest_reward() <= 1);
    }
    void abandon() override { gardener_.abandon(); }

    Posterior posterior_;

 private:
    friend class Gardener<Arm>;
    bool is_due(std::uint32_t arm) const { return arms_[arm]->is_due(); }
    std::unique_ptr<Arm> cutting(std::uint32_t arm) const { return arms_[arm]->cutting(); }
    std::size_t n_since(std::uint32_t arm, const Arm& grown) const {
        return arms_[arm]->n_since(grown);
    }
    void plant(std::uint32_t arm, Arm&& grown) { arms_[arm]->plant(std::move(grown)); }

    Gardener<Arm> gardener_;
};

}  // namespace banditree
