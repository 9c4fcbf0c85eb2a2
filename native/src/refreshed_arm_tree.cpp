#include "banditree/refreshed_arm_tree.hpp"

#include <algorithm>
#include <cmath>

#include "banditree/grow.hpp"
#include "banditree/live_arm_tree.hpp"
#include "banditree/schedule.hpp"

namespace banditree {

std::unique_ptr<ArmTree> ArmTree::make(const ArmTreeSettings& settings) {
    if (settings.refresh == 0) return std::make_unique<LiveArmTree>(settings);
    return std::make_unique<RefreshedArmTree>(settings);
}

Refreshes Refreshes::at(std::size_t n, double share) const {
    Refreshes due = *this;
    for (;;) {
        const double grown = std::ceil(static_cast<double>(due.grown_at) * (1 + share));
        const std::size_t next = std::max(due.grown_at + 1, static_cast<std::size_t>(grown));
        if (next > n) return due;
        due.grown_at = next;
        if (next_point(due.chosen_at) <= next) due.chosen_at = next;
    }
}

void RefreshedArmTree::learn(std::span<const double> context, double reward) {
    take(context, reward, refreshes_.at(n_rows() + 1, settings_.refresh));
    count_from(counted_);
}

void RefreshedArmTree::learn_many(const Matrix& contexts, std::span<const double> rewards) {
    const Refreshes due = refreshes_.at(n_rows() + contexts.rows, settings_.refresh);
    for (std::size_t i = 0; i < contexts.rows; ++i)
        take({contexts.data + i * contexts.columns, contexts.columns}, rewards[i], due);
    count_from(counted_);
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
        grow_anew();
    }
}

void RefreshedArmTree::grow_anew() {
    Growth growth = settings_.growth;
    growth.alpha = alpha();
    const Dataset exact = rows_.exact() ? rows_.snapshot() : Dataset();
    const Dataset& data = rows_.exact() ? exact : rows_.data();
    const Sample all = Sample::of(data, std::span<const double>());
    tree_ = grow(data, all, growth).tree.prune(growth.alpha);
    counted_ = 0;
}

template <class Value, class Visit>
void RefreshedArmTree::walk(Value value_of, Visit visit) const {
    for (std::size_t i = 0;;) {
        visit(i);
        const Node& node = tree_.nodes[i];
        if (node.is_leaf()) return;
        const bool left = tree_.goes_left_value(node, value_of(node.feature));
        i = left ? i + 1 : static_cast<std::size_t>(node.right);
    }
}

// Counts the rows from `first` on; all of them if those before were counted about another offset.
void RefreshedArmTree::count_from(std::size_t first) {
    rows_.renew();
    if (offset() != offset_) first = 0;
    if (first == 0) moments_.assign(tree_.nodes.size(), Moments());
    for (std::size_t row = first; row < n_rows(); ++row)
        walk([&](std::int32_t f) { return rows_.value(f, static_cast<std::uint32_t>(row)); },
             [&](std::size_t node) { moments_[node].add(1.0, rows_.data().y[row]); });
    counted_ = n_rows();
    offset_ = offset();
}

const Moments& RefreshedArmTree::leaf(const double* context) const {
    std::size_t leaf = 0;
    walk([&](std::int32_t f) { return context[f]; }, [&](std::size_t node) { leaf = node; });
    return moments_[leaf];
}

Tree RefreshedArmTree::pruned() const {
    Tree tree = tree_;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const Node now = leaf_node(moments_[i], offset());
        Node& node = tree.nodes[i];
        node.weight = now.weight, node.mean = now.mean, node.cost = now.cost, node.n = now.n;
    }
    return tree;
}

}  // namespace banditree
