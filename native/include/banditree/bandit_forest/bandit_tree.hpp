// One tree of a BanditForest: a BanditStump at every node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/bandit_forest/bandit_stump.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

struct ForestSettings {
    std::uint32_t n_trees = 3;
    std::uint32_t depth = 2;  // variables on a complete path
    double delta = 0.05;
    double epsilon_low = 0.4;
    double epsilon_high = 0.8;
    double radius = 1;  // times the confidence radii of the paper
    std::uint64_t seed = 0;
    std::uint32_t warm_up = 500;  // observations that make the bits

    bool operator==(const ForestSettings&) const = default;
};

// A node that has selected its variable gets two children, which start without observations; its
// own tallies then stay as they are. What is drawn for a node, that is epsilon and the candidate
// variables, depends on the seed, the tree and the node's number only.
class BanditTree {
 public:
    BanditTree(const ForestSettings& settings, std::uint32_t number, std::size_t n_variables,
               std::size_t n_arms);

    void learn(std::uint32_t arm, double reward, const BitView& bits, const Contest& contest);
    void add_arm();
    void arms_changed(std::span<const std::uint8_t> active);

    // From the root to the leaf.
    std::vector<const BanditStump*> path(const BitView& bits) const;
    const BanditStump& leaf(const BitView& bits) const { return nodes_[leaf_index(bits)].stump; }

    void write(StateWriter& out) const;
    static BanditTree read(StateReader& in, const ForestSettings& settings, std::uint32_t number,
                           std::size_t n_variables, std::span<const std::uint8_t> active);

 private:
    static constexpr std::uint32_t kNone = 0;  // the root is nobody's child

    struct Node {
        BanditStump stump;
        std::uint32_t depth;
        std::uint32_t child = kNone;  // for value 0; the one for value 1 is next to it
    };

    BanditTree(const ForestSettings& settings, std::uint32_t number, std::size_t n_variables)
        : settings_(settings),
          stream_(Rng(settings.seed).child(number)),
          n_variables_(n_variables) {}

    std::size_t leaf_index(const BitView& bits) const;
    void grow(std::size_t leaf, const BitView& bits, std::size_t n_arms);
    void add_node(std::span<const std::uint32_t> variables, std::uint32_t depth,
                  std::size_t n_arms);

    ForestSettings settings_;
    Rng stream_;
    std::size_t n_variables_;
    std::vector<Node> nodes_;
};

}  // namespace banditree
