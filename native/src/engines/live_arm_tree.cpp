#include "banditree/engines/live_arm_tree.hpp"

#include <algorithm>

#include "banditree/data/schedule.hpp"

namespace banditree {

void LiveArmTree::learn(std::span<const double> context, double reward) {
    tree_.learn(context, reward, 1.0);
    validate();
    tree_.settle();
}

void LiveArmTree::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    if (contexts.rows == 0) return;
    // Alpha is chosen on the rows up to the last point only, so these come first.
    const std::size_t total = n_rows() + contexts.rows;
    const std::size_t point = std::max(last_point(price_.chosen_at, total), n_rows());
    const std::size_t first = point - n_rows();
    const Matrix head{contexts.data, first, contexts.columns};
    const Matrix tail{contexts.data + first * contexts.columns, contexts.rows - first,
                      contexts.columns};
    tree_.learn_many(head, rewards.first(first), {});
    validate();
    tree_.learn_many(tail, rewards.subspan(first), {});
    validate();
    tree_.settle();
}

void LiveArmTree::validate() {
    if (last_point(price_.chosen_at, n_rows()) == price_.chosen_at) {
        tree_.raise_alpha(price_.alpha(n_rows()));
        return;
    }
    price_ = LeafPrice::chosen(chosen_alpha(), n_rows());
    tree_.set_alpha(price_.alpha(n_rows()));
}

}  // namespace banditree
