#include "banditree/trees/counted_tree.hpp"

#include "banditree/trees/grow.hpp"

namespace banditree {

template <class Value, class Visit>
void CountedTree::walk(Value value_of, Visit visit) const {
    for (std::size_t i = 0;;) {
        visit(i);
        const Node& node = tree_.nodes[i];
        if (node.is_leaf()) return;
        const bool left = tree_.goes_left_value(node, value_of(node.feature));
        i = left ? i + 1 : static_cast<std::size_t>(node.right);
    }
}

void CountedTree::count(const RowStore& rows, std::uint32_t row) {
    const double weight = rows.data().weight(row), y = rows.data().y[row];
    walk([&](std::int32_t feature) { return rows.value(feature, row); },
         [&](std::size_t node) { moments_[node].add(weight, y); });
}

void CountedTree::uncount(const RowStore& rows, std::uint32_t row) {
    const double weight = rows.data().weight(row), y = rows.data().y[row];
    walk([&](std::int32_t feature) { return rows.value(feature, row); },
         [&](std::size_t node) { moments_[node].remove(weight, y); });
}

void CountedTree::lower_offset(double by) {
    for (Moments& moments : moments_) {
        moments.wyy += by * (2 * moments.wy + by * moments.w);
        moments.wy += by * moments.w;
    }
}

const Moments& CountedTree::leaf(const double* context) const {
    std::size_t leaf = 0;
    walk([&](std::int32_t feature) { return context[feature]; },
         [&](std::size_t node) { leaf = node; });
    return moments_[leaf];
}

std::vector<Moments> CountedTree::leaves() const {
    std::vector<Moments> leaves;
    for (std::size_t i = 0; i < moments_.size(); ++i)
        if (tree_.nodes[i].is_leaf()) leaves.push_back(moments_[i]);
    return leaves;
}

Tree CountedTree::current(double offset) const {
    Tree tree = tree_;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        Node& node = tree.nodes[i];
        const double mean = node.mean;
        const Node now = leaf_node(moments_[i], offset);
        node.weight = now.weight, node.mean = now.mean, node.cost = now.cost, node.n = now.n;
        if (node.n == 0) node.mean = mean, node.cost = 0;  // all its rows are forgotten
    }
    return tree;
}

}  // namespace banditree
