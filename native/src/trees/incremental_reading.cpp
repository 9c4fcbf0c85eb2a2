// Reading the incremental tree.
#include "banditree/trees/incremental.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace banditree {

double IncrementalTree::threshold(const LiveNode& node) const {
    if (node.above == std::numeric_limits<double>::infinity())
        return std::numeric_limits<double>::infinity();
    if (rows_.exact()) return midpoint_below(node.below, node.above);
    return rows_.data().features[node.feature].values[static_cast<std::size_t>(node.below) - 1];
}

bool IncrementalTree::follows_missing_left(const LiveNode& node) const {
    const bool category = rows_.kinds()[node.feature] == Kind::category;
    if (category && node.side_of[0] != kUnseen) return node.side_of[0] == kLeft;
    if (!category && node.saw_missing) return node.missing_left;
    return left_weighs_more(nodes_[node.left].moments.w, nodes_[node.right].moments.w);
}

bool IncrementalTree::context_goes_left(const LiveNode& node, double value) const {
    if (std::isnan(value)) return follows_missing_left(node);
    if (rows_.kinds()[node.feature] == Kind::number) return value <= threshold(node);
    const bool known = value >= 0 && value + 1 < static_cast<double>(node.side_of.size());
    const std::uint8_t side =
        known ? node.side_of[static_cast<std::size_t>(value) + 1] : std::uint8_t{kUnseen};
    return side == kUnseen ? follows_missing_left(node) : side == kLeft;
}

double IncrementalTree::predict(const double* context) {
    std::int32_t at = 0;
    for (;;) {
        if (nodes_[at].pending) expand_here(at);
        const LiveNode& node = nodes_[at];
        if (node.is_leaf()) return rows_.data().offset + node.moments.mean();
        at = context_goes_left(node, context[node.feature]) ? node.left : node.right;
    }
}

double IncrementalTree::gain(const LiveNode& node) const {
    return split_gain(node.moments.sums(), nodes_[node.left].moments.sums()) * node.credit;
}

void IncrementalTree::set_alpha(double alpha) {
    growth_.alpha = alpha;
    if (n_rows() > 0) rebuild();
}

void IncrementalTree::raise_alpha(double alpha) {
    if (alpha == growth_.alpha) return;
    growth_.alpha = alpha;
    for (LiveNode& node : nodes_) {
        node.kept = {};
        node.fate = Fate::unknown;
    }
}

// A node of known fate has only such nodes below it that can be reached: rows undo all fates on
// their way, from the root.
void IncrementalTree::settle() {
    std::vector<std::int32_t> stack{0};
    while (!stack.empty()) {
        const std::int32_t at = stack.back();
        stack.pop_back();
        if (nodes_[at].fate != Fate::unknown) continue;
        const bool split = survives(at);
        LiveNode& node = nodes_[at];
        node.fate = split ? Fate::split : Fate::leaf;
        if (!split) continue;
        if (node.side_of.empty()) node.cut = threshold(node);
        stack.push_back(node.right);
        stack.push_back(node.left);
    }
}

const Moments& IncrementalTree::pruned_leaf(const double* context) const {
    std::int32_t at = 0;
    while (nodes_[at].fate == Fate::split) {
        const LiveNode& node = nodes_[at];
        const double value = context[node.feature];
        const bool number = node.side_of.empty();
        // A missing value is not below any threshold, so it is looked at more closely.
        const bool left = (number && value <= node.cut) ||
                          ((!number || std::isnan(value)) && context_goes_left(node, value));
        at = left ? node.left : node.right;
    }
    return nodes_[at].moments;
}

// Whether a node whose ancestors all do is still split after pruning.
bool IncrementalTree::survives(std::int32_t at) {
    if (nodes_[at].moments.cost() <= alpha()) return false;
    if (nodes_[at].pending) expand_here(at);
    if (nodes_[at].is_leaf()) return false;
    // A split that gains more than alpha survives whatever becomes of the splits below it.
    if (gain(nodes_[at]) > alpha() * (1 + kAlphaTolerance)) return true;
    find_kept(at);
    return nodes_[at].kept.leaves > 1;
}

// How many levels of splits at a node can matter, if there can be no more for those above it.
std::uint32_t IncrementalTree::levels_at(std::int32_t at, std::uint32_t at_most) const {
    return std::min(at_most, levels_of(nodes_[at].moments.cost(), alpha()));
}

// Works out what pruning leaves below a node, of which all that can survive must be grown for that.
void IncrementalTree::find_kept(std::int32_t top) {
    struct Visit {
        std::int32_t at;
        std::uint32_t levels;
    };
    std::vector<Visit> stack{{top, levels_at(top, kUnlimited)}};
    while (!stack.empty()) {
        const auto [at, levels] = stack.back();
        if (nodes_[at].kept.knows(levels)) {
            stack.pop_back();
            continue;
        }
        if (nodes_[at].pending && levels > 0) expand(at, levels);
        LiveNode& node = nodes_[at];
        if (node.is_leaf() || levels == 0) {
            node.kept = {1, levels, 0};
            continue;
        }
        const Visit left{node.left, levels_at(node.left, levels - 1)};
        const Visit right{node.right, levels_at(node.right, levels - 1)};
        const bool ready =
            nodes_[left.at].kept.knows(left.levels) && nodes_[right.at].kept.knows(right.levels);
        if (ready) {
            node.kept = kept_of(node, levels);
        } else {
            stack.push_back(left);
            stack.push_back(right);
        }
    }
}

IncrementalTree::Kept IncrementalTree::kept_of(const LiveNode& node, std::uint32_t levels) const {
    const Kept& left = nodes_[node.left].kept;
    const Kept& right = nodes_[node.right].kept;
    const Kept kept{left.leaves + right.leaves, levels, gain(node) + left.gain + right.gain};
    const double link = kept.gain / (kept.leaves - 1);
    return link <= alpha() * (1 + kAlphaTolerance) ? Kept{1, levels, 0} : kept;
}

Tree IncrementalTree::as_tree() {
    expand_all();
    return copy_of([](const LiveNode& node) { return !node.is_leaf(); });
}

Tree IncrementalTree::pruned() const {
    return copy_of([](const LiveNode& node) { return node.fate == Fate::split; });
}

std::vector<Moments> IncrementalTree::pruned_leaves() const {
    std::vector<Moments> leaves;
    std::vector<std::int32_t> stack{0};
    while (!stack.empty()) {
        const LiveNode& node = nodes_[stack.back()];
        stack.pop_back();
        if (node.fate == Fate::split) {
            stack.push_back(node.right);
            stack.push_back(node.left);
        } else {
            leaves.push_back(node.moments);
        }
    }
    return leaves;
}

template <class IsSplit>
Tree IncrementalTree::copy_of(IsSplit is_split) const {
    Tree tree;
    struct Pending {
        std::int32_t id;
        std::int32_t parent;  // of a right child; -1 otherwise
    };
    std::vector<Pending> stack{{0, -1}};
    while (!stack.empty()) {
        const auto [id, parent] = stack.back();
        stack.pop_back();
        const LiveNode& live = nodes_[id];
        const auto index = static_cast<std::int32_t>(tree.nodes.size());
        if (parent >= 0) tree.nodes[parent].right = index;
        tree.nodes.push_back(leaf_node(live.moments, rows_.data().offset));
        if (!is_split(live)) continue;
        describe_split(live, tree);
        stack.push_back({live.right, index});
        stack.push_back({live.left, -1});
    }
    return tree;
}

// Makes a split of the last node of a tree.
void IncrementalTree::describe_split(const LiveNode& live, Tree& tree) const {
    Node& node = tree.nodes.back();
    node.feature = live.feature;
    node.gain = gain(live);
    node.missing_left = follows_missing_left(live);
    node.saw_missing = live.saw_missing;
    if (rows_.kinds()[live.feature] == Kind::number) {
        node.threshold = threshold(live);
        return;
    }
    node.saw_missing = live.side_of[0] != kUnseen;
    Sides sides;
    for (std::uint32_t code = 0; code < live.side_of.size(); ++code) {
        if (live.side_of[code] == kLeft) sides.left.push_back(code);
        if (live.side_of[code] == kRight) sides.right.push_back(code);
    }
    node.sides = static_cast<std::int32_t>(tree.sides.size());
    tree.sides.push_back(std::move(sides));
}

std::size_t IncrementalTree::bytes() const {
    std::size_t total = rows_.bytes() + nodes_.size() * sizeof(LiveNode);
    for (const LiveNode& node : nodes_) {
        total += node.side_of.capacity() + node.rows.capacity() * sizeof(std::uint32_t);
        if (!node.watch) continue;
        total += sizeof(Watch) + node.watch->bounds.capacity() * sizeof(float);
        total += node.watch->category_bounds.capacity() * sizeof(CategoryBound);
        if (!node.watch->histogram) continue;
        for (const auto& sums : node.watch->histogram->sums)
            total += sums.capacity() * sizeof(Sums);
        for (const auto& counts : node.watch->histogram->counts)
            total += counts.capacity() * sizeof(std::uint32_t);
    }
    return total;
}

}  // namespace banditree
