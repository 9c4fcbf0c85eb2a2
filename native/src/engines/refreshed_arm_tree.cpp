#include "banditree/engines/refreshed_arm_tree.hpp"

#include <algorithm>

#include "banditree/data/schedule.hpp"
#include "banditree/engines/live_arm_tree.hpp"

namespace banditree {

std::unique_ptr<ArmTree> ArmTree::make(const ArmTreeSettings& settings) {
    if (settings.refresh == 0 && settings.window == 0)
        return std::make_unique<LiveArmTree>(settings);
    return std::make_unique<RefreshedArmTree>(settings);
}

Refreshes Refreshes::at(std::size_t n, double share) const {
    Refreshes due = *this;
    while (next_growth(due.grown_at, share) <= n) {
        due.grown_at = next_growth(due.grown_at, share);
        if (next_point(due.chosen_at) <= due.grown_at) due.chosen_at = due.grown_at;
    }
    return due;
}

void RefreshedArmTree::learn(std::span<const double> context, double reward) {
    learn_many({context.data(), 1, context.size()}, {&reward, 1});
}

void RefreshedArmTree::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    if (grows_beside()) {
        append_rows(rows_, contexts, rewards);
        return count_rows();
    }
    const std::size_t inside = std::min(contexts.rows, window().room(n_rows()));
    take_rows(part_of(contexts, 0, inside), rewards.first(inside));
    if (inside == contexts.rows) return;
    learn_beyond_window(part_of(contexts, inside, contexts.rows - inside), rewards.subspan(inside));
}

void RefreshedArmTree::take_rows(const Matrix& contexts, std::span<const double> rewards) {
    if (contexts.rows == 0) return;
    const Refreshes due = refreshes_.at(n_rows() + contexts.rows, settings_.refresh);
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        rows_.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        follow(due);
    }
    count_rows();
}

// Alpha and the tree are found only where they are last due: what comes before would be forgotten.
void RefreshedArmTree::follow(const Refreshes& due) {
    const std::size_t n = n_rows();
    if (n == due.chosen_at) {
        rows_.renew();
        refreshes_.chosen_at = n;
        price_ = LeafPrice::chosen(chosen_alpha(), n);
    }
    if (n == due.grown_at) {
        rows_.renew();
        refreshes_.grown_at = n;
        plant_anew();
    }
}

// As if all rows were counted again: that adds up the same numbers in the same order. With trees
// that are grown beside, it is left to count_rows, which is to find nothing counted about an offset
// that moves.
void RefreshedArmTree::plant_anew() {
    PrunedTree grown = grow_pruned(rows_, {}, settings_.growth, alpha());
    if (settings_.beside > 0) {
        tree_.plant(std::move(grown.tree));
        counted_ = 0;
    } else {
        tree_.plant(std::move(grown.tree), std::move(grown.moments));
        counted_ = n_rows();
        offset_ = offset();
    }
}

void RefreshedArmTree::learn_beyond_window(const Matrix& contexts,
                                           std::span<const double> rewards) {
    const std::size_t due = window().last_due(n_rows(), contexts.rows);
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        rows_.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
        if (i + 1 == due) learn_window_only();
    }
    count_rows();
}

void RefreshedArmTree::learn_window_only() {
    const ArmRows last = last_rows(rows_, settings_.window);
    const std::vector<Kind> kinds = rows_.kinds();
    rows_ = RowStore(settings_.max_bins);
    rows_.set_kinds(kinds);
    refreshes_ = {};
    forgotten_ = counted_ = 0;
    take_rows(last.matrix(), last.rewards);
}

void RefreshedArmTree::restore(const Matrix& contexts, std::span<const double> rewards,
                               std::size_t n_learned) {
    if (n_learned == contexts.rows) return learn_many(contexts, rewards);
    const std::size_t inside = std::min(contexts.rows, settings_.window);
    take_rows(part_of(contexts, 0, inside), rewards.first(inside));
    for (std::size_t i = inside; i < contexts.rows; ++i)
        rows_.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], 1.0);
    count_rows();
}

// Counts the rows that have come, and takes out those that count no longer.
void RefreshedArmTree::count_rows() {
    if (grows_beside() && !rows_.exact())
        rows_.move_offset();
    else
        rows_.renew();
    const std::size_t first = window().excess(n_rows());
    if (offset() != offset_) count_about_offset();
    for (; forgotten_ < std::min(first, counted_); ++forgotten_)
        tree_.uncount(rows_, static_cast<std::uint32_t>(forgotten_));
    forgotten_ = first;
    for (counted_ = std::max(counted_, first); counted_ < n_rows(); ++counted_)
        tree_.count(rows_, static_cast<std::uint32_t>(counted_));
}

// The rows before were counted about another offset.
void RefreshedArmTree::count_about_offset() {
    if (settings_.beside > 0) {
        tree_.lower_offset(offset_ - offset());  // to count them again would take long
    } else {
        tree_.forget_counts();
        forgotten_ = counted_ = window().excess(n_rows());
    }
    offset_ = offset();
}

}  // namespace banditree
