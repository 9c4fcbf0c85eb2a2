// Comparing trees node for node.
#pragma once

#include <cmath>

#include "banditree/trees/tree.hpp"

namespace banditree {

inline bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

inline bool same_split(const Tree& a, const Node& x, const Tree& b, const Node& y) {
    if (x.feature != y.feature || x.right != y.right) return false;
    if (x.is_leaf()) return true;
    if (x.missing_left != y.missing_left || x.saw_missing != y.saw_missing ||
        (x.sides < 0) != (y.sides < 0))
        return false;
    if (x.sides < 0) return x.threshold == y.threshold;
    return a.sides[x.sides].left == b.sides[y.sides].left &&
           a.sides[x.sides].right == b.sides[y.sides].right;
}

// The same splits, weights and means; the rows may be counted otherwise.
inline bool same_splits(const Tree& a, const Tree& b) {
    if (a.nodes.size() != b.nodes.size()) return false;
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        const Node &x = a.nodes[i], &y = b.nodes[i];
        if (!same_split(a, x, b, y)) return false;
        if (!close(x.mean, y.mean) || !close(x.weight, y.weight)) return false;
    }
    return true;
}

inline bool same_tree(const Tree& a, const Tree& b) {
    if (!same_splits(a, b)) return false;
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        const Node &x = a.nodes[i], &y = b.nodes[i];
        if (x.n != y.n || !(std::abs(x.cost - y.cost) <= 1e-7 * (1 + y.cost))) return false;
    }
    return true;
}

}  // namespace banditree
