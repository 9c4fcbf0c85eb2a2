#include "banditree/bandit_forest/bandit_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace banditree {

namespace {

// The authors let each node choose from a random four fifths of the variables, rounded down.
std::vector<std::uint32_t> draw_candidates(std::span<const std::uint32_t> variables, Rng& rng) {
    std::vector<std::uint32_t> drawn(variables.begin(), variables.end());
    if (drawn.empty()) return drawn;
    const std::size_t size = std::max<std::size_t>(1, drawn.size() * 4 / 5);
    for (std::size_t i = 0; i < size; ++i)
        std::swap(drawn[i], drawn[i + rng.integer(drawn.size() - i)]);
    drawn.resize(size);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

std::vector<std::uint32_t> all_variables(std::size_t n) {
    std::vector<std::uint32_t> variables(n);
    std::iota(variables.begin(), variables.end(), 0u);
    return variables;
}

}  // namespace

BanditTree::BanditTree(const ForestSettings& settings, std::uint32_t number,
                       std::size_t n_variables, std::size_t n_arms)
    : BanditTree(settings, number, n_variables) {
    add_node(all_variables(n_variables), 1, n_arms);
}

void BanditTree::add_node(std::span<const std::uint32_t> variables, std::uint32_t depth,
                          std::size_t n_arms) {
    Rng rng = stream_.child(nodes_.size());
    const double range = settings_.epsilon_high - settings_.epsilon_low;
    const double epsilon = settings_.epsilon_low + range * rng.uniform();
    const bool deepest = depth == settings_.depth || variables.empty();
    nodes_.push_back({{draw_candidates(variables, rng), epsilon, deepest, n_arms}, depth});
}

void BanditTree::learn(std::uint32_t arm, double reward, const BitView& bits,
                       const Contest& contest) {
    const std::size_t leaf = leaf_index(bits);
    BanditStump& stump = nodes_[leaf].stump;
    stump.learn(arm, reward, bits, contest);
    if (stump.splits() && !stump.deepest()) grow(leaf, bits, contest.active.size());
}

void BanditTree::grow(std::size_t leaf, const BitView& bits, std::size_t n_arms) {
    std::vector<std::uint32_t> variables = all_variables(n_variables_);
    for (const BanditStump* stump : path(bits)) std::erase(variables, stump->variable());
    const std::uint32_t depth = nodes_[leaf].depth + 1;
    nodes_[leaf].child = static_cast<std::uint32_t>(nodes_.size());
    for (int child = 0; child < 2; ++child) add_node(variables, depth, n_arms);
}

void BanditTree::add_arm() {
    for (Node& node : nodes_) node.stump.add_arm();
}

void BanditTree::arms_changed(std::span<const std::uint8_t> active) {
    for (Node& node : nodes_) node.stump.arms_changed(active);
}

std::size_t BanditTree::leaf_index(const BitView& bits) const {
    std::size_t node = 0;
    while (nodes_[node].child != kNone)
        node = nodes_[node].child + bits[nodes_[node].stump.variable()];
    return node;
}

std::vector<const BanditStump*> BanditTree::path(const BitView& bits) const {
    std::vector<const BanditStump*> stumps;
    std::size_t node = 0;
    while (nodes_[node].child != kNone) {
        stumps.push_back(&nodes_[node].stump);
        node = nodes_[node].child + bits[nodes_[node].stump.variable()];
    }
    stumps.push_back(&nodes_[node].stump);
    return stumps;
}

void BanditTree::write(StateWriter& out) const {
    out.whole(nodes_.size());
    for (const Node& node : nodes_) {
        out.whole(node.child);
        node.stump.write(out);
    }
}

BanditTree BanditTree::read(StateReader& in, const ForestSettings& settings, std::uint32_t number,
                            std::size_t n_variables, std::span<const std::uint8_t> active) {
    BanditTree tree(settings, number, n_variables);
    const std::size_t n_nodes = in.length();
    StateReader::require(n_nodes > 0);
    // Of each node, 0 until its parent has been read. Parents come before their children.
    std::vector<std::uint32_t> depths(n_nodes, 0);
    depths[0] = 1;
    for (std::size_t i = 0; i < n_nodes; ++i) {
        StateReader::require(depths[i] > 0);
        const std::uint32_t child = in.index(n_nodes);
        const bool no_variables = depths[i] > n_variables;
        const bool deepest = depths[i] == settings.depth || no_variables;
        BanditStump stump = BanditStump::read(in, n_variables, deepest, active);
        StateReader::require(no_variables == (stump.variable() == BanditStump::kNoVariable));
        if (child != kNone) {
            StateReader::require(stump.splits() && !deepest && child + 1 < n_nodes);
            // Not the root, not an earlier node, and nobody else's child: those have depths.
            for (const std::size_t c : {child, child + 1}) {
                StateReader::require(depths[c] == 0);
                depths[c] = depths[i] + 1;
            }
        }
        tree.nodes_.push_back({std::move(stump), depths[i], child});
    }
    return tree;
}

}  // namespace banditree
