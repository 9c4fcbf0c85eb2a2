#include "banditree/engines/halved_arm.hpp"

#include <algorithm>
#include <utility>

#include "banditree/data/schedule.hpp"

namespace banditree {

HalvedArm::HalvedArm(const HalvedArmSettings& settings, const Rng& coins,
                     const std::vector<Kind>& kinds)
    : settings_(settings), coins_(coins), rows_(settings.max_bins), replicas_(settings.n_replicas) {
    rows_.set_kinds(kinds);
}

std::vector<bool> HalvedArm::members(std::size_t row) const {
    Rng coins = coins_.child(row);
    std::vector<bool> members(settings_.n_replicas);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = coins.next() >> 63;
    return members;
}

void HalvedArm::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    if (grows_beside()) {
        append_rows(rows_, contexts, rewards);
        return count_rows();
    }
    const std::size_t inside = std::min(contexts.rows, window().room(rows_.n_rows()));
    take_rows(part_of(contexts, 0, inside), rewards.first(inside));
    if (inside == contexts.rows) return;
    learn_beyond_window(part_of(contexts, inside, contexts.rows - inside), rewards.subspan(inside));
}

void HalvedArm::restore(const Matrix& contexts, std::span<const double> rewards,
                        std::size_t n_learned) {
    first_ = n_learned - contexts.rows;
    const std::size_t inside = std::min(contexts.rows, window().room(0));
    take_rows(part_of(contexts, 0, inside), rewards.first(inside));
    append_rows(rows_, part_of(contexts, inside, contexts.rows - inside), rewards.subspan(inside));
    count_rows();
}

void HalvedArm::learn_beyond_window(const Matrix& contexts, std::span<const double> rewards) {
    const std::size_t due = window().last_due(rows_.n_rows(), contexts.rows);
    append_rows(rows_, part_of(contexts, 0, due), rewards.first(due));
    if (due > 0) keep_last(settings_.window);
    append_rows(rows_, part_of(contexts, due, contexts.rows - due), rewards.subspan(due));
    count_rows();
}

// Each row keeps its coins, which depend on its number.
void HalvedArm::keep_last(std::size_t most) {
    const std::size_t n = window().last(rows_.n_rows(), most);
    const ArmRows last = last_rows(rows_, n);
    HalvedArm arm(settings_, coins_, rows_.kinds());
    arm.first_ = n_learned() - n;
    *this = std::move(arm);
    take_rows(last.matrix(), last.rewards);
}

void HalvedArm::take_rows(const Matrix& contexts, std::span<const double> rewards) {
    if (contexts.rows == 0) return;
    const std::size_t before = rows_.n_rows(), n_rows = before + contexts.rows;
    toss_coins(n_rows);
    const Plan plan = this->plan(before, n_rows);
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        rows_.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        follow(plan);
    }
    count_rows();
    seen_ = n_rows;
}

// Decides for all rows up to this number which replicas take them in.
void HalvedArm::toss_coins(std::size_t n_rows) {
    for (std::size_t row = members_.size() / words(); row < n_rows; ++row) {
        const auto takes = members(first_ + row);
        std::vector<std::uint64_t> bits(words());
        for (std::size_t i = 0; i < takes.size(); ++i)
            bits[i / 64] |= std::uint64_t{takes[i]} << (i % 64);
        for (const std::uint64_t word : bits) members_.push_back(word);
    }
}

HalvedArm::Plan HalvedArm::plan(std::size_t first, std::size_t n_rows) const {
    Plan plan;
    plan.growths.resize(settings_.n_replicas);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        std::size_t grown_at = replicas_[i].grown_at, n = replicas_[i].n_rows;
        for (std::size_t row = first; row < n_rows; ++row) {
            if (!takes(i, row) || ++n < next_growth(grown_at, settings_.refresh)) continue;
            grown_at = n;
            plan.growths[i] = row + 1;
        }
    }
    // Each growth needs the alpha that was chosen last before it, and so does what comes later.
    std::vector<std::size_t> needed = plan.growths;
    needed.push_back(n_rows);
    for (const std::size_t n : needed) {
        const std::size_t point = n > 0 ? last_point(price_.chosen_at, n) : 0;
        if (point > price_.chosen_at) plan.choices.push_back(point);
    }
    return plan;
}

// Does what is due at this very number of rows.
void HalvedArm::follow(const Plan& plan) {
    const std::size_t n = rows_.n_rows();
    if (std::find(plan.choices.begin(), plan.choices.end(), n) != plan.choices.end()) {
        rows_.renew();
        price_ = LeafPrice::chosen(choose_alpha(rows_, settings_.growth, settings_.n_folds), n);
    }
    for (std::uint32_t replica = 0; replica < settings_.n_replicas; ++replica)
        if (plan.growths[replica] == n) grow_anew(replica);
}

void HalvedArm::grow_anew(std::uint32_t i) {
    rows_.renew();
    // The new tree counts about this offset, and all trees of the arm about one.
    if (rows_.data().offset != offset_) count_about_offset();
    std::vector<std::uint32_t> own;
    for (std::uint32_t row = 0; row < rows_.n_rows(); ++row)
        if (takes(i, row)) own.push_back(row);
    grow_on(i, own);
    // The others are counted with those of all replicas.
    count(i, forgotten_, counted_);
}

// Cost is a sum, and a replica has half the rows.
void HalvedArm::grow_on(std::uint32_t i, const std::vector<std::uint32_t>& own) {
    const double alpha = price_.alpha(rows_.n_rows()) / 2;
    replicas_[i].grown_at = own.size();
    replicas_[i].tree.plant(grow_pruned(rows_, own, settings_.growth, alpha).tree);
}

void HalvedArm::count(std::uint32_t i, std::size_t first, std::size_t end) {
    for (std::size_t row = first; row < end; ++row)
        if (takes(i, row)) replicas_[i].tree.count(rows_, static_cast<std::uint32_t>(row));
}

void HalvedArm::uncount(std::uint32_t i, std::size_t first, std::size_t end) {
    for (std::size_t row = first; row < end; ++row)
        if (takes(i, row)) replicas_[i].tree.uncount(rows_, static_cast<std::uint32_t>(row));
}

// Counts the rows that have come, and takes out those that count no longer.
void HalvedArm::count_rows() {
    toss_coins(rows_.n_rows());
    if (grows_beside() && !rows_.exact())
        rows_.move_offset();
    else
        rows_.renew();
    const std::size_t first = window().excess(rows_.n_rows());
    if (rows_.data().offset != offset_) count_about_offset();
    for (; forgotten_ < std::min(first, counted_); ++forgotten_)
        for (const std::uint32_t i : takers(forgotten_)) {
            uncount(i, forgotten_, forgotten_ + 1);
            --replicas_[i].n_rows;
        }
    forgotten_ = first;
    for (counted_ = std::max(counted_, first); counted_ < rows_.n_rows(); ++counted_)
        for (const std::uint32_t i : takers(counted_)) {
            // Where nothing is grown at once, this may be the replica's first row.
            if (!replicas_[i].tree.is_planted()) grow_on(i, {static_cast<std::uint32_t>(counted_)});
            count(i, counted_, counted_ + 1);
            ++replicas_[i].n_rows;
        }
}

// The rows before were counted about another offset.
void HalvedArm::count_about_offset() {
    const double offset = rows_.data().offset;
    if (settings_.beside > 0) {
        // To count them again would take long.
        for (Replica& replica : replicas_) replica.tree.lower_offset(offset_ - offset);
    } else {
        for (Replica& replica : replicas_) {
            replica.tree.forget_counts();
            replica.n_rows = 0;
        }
        forgotten_ = counted_ = window().excess(rows_.n_rows());
    }
    offset_ = offset;
}

std::vector<std::uint32_t> HalvedArm::takers(std::size_t row) const {
    std::vector<std::uint32_t> takers;
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i)
        if (takes(i, row)) takers.push_back(i);
    return takers;
}

bool HalvedArm::is_cold() const {
    return std::all_of(replicas_.begin(), replicas_.end(),
                       [](const Replica& replica) { return replica.n_rows == 0; });
}

Evidence HalvedArm::leaf(std::uint32_t i, const double* context) const {
    const Replica& replica = replicas_[i];
    return replica.n_rows > 0 ? Evidence::of(replica.tree.leaf(context), offset_) : Evidence{};
}

}  // namespace banditree
