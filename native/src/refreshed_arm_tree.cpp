#include "banditree/refreshed_arm_tree.hpp"

#include "banditree/live_arm_tree.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

std::unique_ptr<ArmTree> ArmTree::make(const ArmTreeSettings& settings) {
    if (settings.refresh == 0) return std::make_unique<LiveArmTree>(settings);
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
    take(context, reward, refreshes_.at(n_rows() + 1, settings_.refresh));
    count_rows();
}

void RefreshedArmTree::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    const Refreshes due = refreshes_.at(n_rows() + contexts.rows, settings_.refresh);
    for (std::size_t i = 0; i < contexts.rows; ++i)
        take({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], due);
    count_rows();
}

// Appends a row. Alpha and the tree are found only where they are last due: what comes before
// would be forgotten.
void RefreshedArmTree::take(std::span<const double> context, double reward, const Refreshes& due) {
    rows_.append(context, reward, 1.0);
    const std::size_t n = n_rows();
    if (n == due.chosen_at) {
        rows_.renew();
        refreshes_.chosen_at = n;
        price_ = LeafPrice::chosen(chosen_alpha(), n);
    }
    if (n == due.grown_at) {
        rows_.renew();
        refreshes_.grown_at = n;
        tree_.plant(grow_pruned(rows_, {}, settings_.growth, alpha()));
        counted_ = 0;
    }
}

// Counts the rows that have come; all of them if those before were counted about another offset.
void RefreshedArmTree::count_rows() {
    rows_.renew();
    if (offset() != offset_) {
        tree_.forget_counts();
        counted_ = 0;
    }
    for (; counted_ < n_rows(); ++counted_)
        tree_.count(rows_, static_cast<std::uint32_t>(counted_));
    offset_ = offset();
}

}  // namespace banditree
