// Growing an arm's tree beside: on a copy of its rows, while they are learned and decided on.
#include <utility>

#include "banditree/engines/refreshed_arm_tree.hpp"

namespace banditree {

bool RefreshedArmTree::is_due() const {
    if (!grows_beside()) return false;
    if (window().surplus(n_rows()) > 0) return true;
    if (!rows_.exact() && rows_.renewal_is_due()) return true;
    return due_at(n_rows()).grown_at > refreshes_.grown_at;
}

std::unique_ptr<ArmTree> RefreshedArmTree::cutting() const {
    auto copy = std::make_unique<RefreshedArmTree>(settings_);
    copy->rows_ = rows_;
    copy->refreshes_ = refreshes_;
    copy->price_ = price_;
    copy->tree_ = tree_;
    return copy;
}

void RefreshedArmTree::catch_up() {
    settings_.beside = 0;  // here, what is due is grown at once
    const RowStore all = rows_;
    dropped_ = window().surplus(all.n_rows());
    if (dropped_ > 0) {
        rows_ = all.first(settings_.window + dropped_);
        learn_window_only();
        const ArmRows rest = last_rows(all, all.n_rows() - settings_.window - dropped_);
        append_rows(rows_, rest.matrix(), rest.rewards);
    } else {
        const Refreshes due = due_at(all.n_rows());
        for (const std::size_t n : {due.chosen_at, due.grown_at}) {
            if (n <= refreshes_.grown_at) continue;
            rows_ = all.first(n);
            follow(due);
        }
        rows_ = all;
        tree_.forget_counts();
        forgotten_ = counted_ = 0;
    }
    count_rows();
}

std::size_t RefreshedArmTree::n_since(const ArmTree& grown) const {
    return n_rows() - static_cast<const RefreshedArmTree&>(grown).dropped_ - grown.n_rows();
}

void RefreshedArmTree::plant(ArmTree&& other) {
    auto& grown = static_cast<RefreshedArmTree&>(other);
    grown.rows_.set_kinds(rows_.kinds());
    dropped_ = grown.dropped_;
    if (dropped_ > 0) {
        const ArmRows since = last_rows(rows_, n_since(grown));
        append_rows(grown.rows_, since.matrix(), since.rewards);
        rows_ = std::move(grown.rows_);
    } else {
        rows_.adopt_bins(std::move(grown.rows_));
    }
    refreshes_ = grown.refreshes_;
    price_ = grown.price_;
    tree_ = std::move(grown.tree_);
    forgotten_ = grown.forgotten_;
    counted_ = grown.counted_;
    offset_ = grown.offset_;
    count_rows();
}

}  // namespace banditree
