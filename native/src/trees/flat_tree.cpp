#include "banditree/trees/flat_tree.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace banditree {

namespace {

// Of a node's word: what it is, beside its feature.
enum Mark : std::uint32_t { kLeaf = 1, kCategory = 2, kMissingLeft = 4, kSawMissing = 8 };
constexpr int kMarks = 4;  // bits

bool is_ascending(const std::vector<std::uint32_t>& codes) {
    return std::adjacent_find(codes.begin(), codes.end(), std::greater_equal<>()) == codes.end();
}

}  // namespace

FlatTree::FlatTree(const Tree& tree) : sides_(tree.sides) {
    for (const banditree::Node& given : tree.nodes) {
        Node node;
        node.is_leaf = given.is_leaf();
        if (!given.is_leaf()) {
            if (static_cast<std::uint32_t>(given.feature) >= kMostFeatures)
                throw std::invalid_argument("there are too many features");
            node.feature = static_cast<std::uint32_t>(given.feature) % kMostFeatures;
            node.is_category = given.sides >= 0;
            node.threshold = given.sides >= 0 ? given.sides : given.threshold;
            node.missing_left = given.missing_left;
            node.saw_missing = given.saw_missing;
        }
        nodes_.push_back(node);
    }
    number_leaves_and_children();
}

// Throws std::invalid_argument if the nodes are not one tree, depth first.
void FlatTree::number_leaves_and_children() {
    std::vector<std::size_t> waiting;  // for their right child
    std::uint32_t leaves = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].is_leaf) {
            waiting.push_back(i);
            continue;
        }
        nodes_[i].next = leaves++;
        if (i + 1 == nodes_.size()) break;
        ByteReader::require(!waiting.empty());
        nodes_[waiting.back()].next = static_cast<std::uint32_t>(i + 1);
        waiting.pop_back();
    }
    ByteReader::require(waiting.empty() && leaves > 0);
}

Tree FlatTree::unfolded() const {
    Tree tree;
    tree.sides = sides_;
    for (const Node& node : nodes_) {
        banditree::Node& unfolded = tree.nodes.emplace_back();
        if (node.is_leaf) continue;
        unfolded.feature = node.feature;
        unfolded.right = static_cast<std::int32_t>(node.next);
        unfolded.missing_left = node.missing_left;
        unfolded.saw_missing = node.saw_missing;
        if (node.is_category)
            unfolded.sides = static_cast<std::int32_t>(node.threshold);
        else
            unfolded.threshold = node.threshold;
    }
    return tree;
}

void FlatTree::write(ByteWriter& writer) const {
    std::vector<std::uint32_t> words;
    std::vector<double> thresholds;
    for (const Node& node : nodes_) {
        const std::uint32_t marks =
            (node.is_leaf ? kLeaf : 0u) | (node.is_category ? kCategory : 0u) |
            (node.missing_left ? kMissingLeft : 0u) | (node.saw_missing ? kSawMissing : 0u);
        words.push_back(static_cast<std::uint32_t>(node.feature) << kMarks | marks);
        if (!node.is_leaf && !node.is_category) thresholds.push_back(node.threshold);
    }
    writer.array(words);
    writer.array(thresholds);
    // In the order of their nodes.
    for (const Node& node : nodes_) {
        if (node.is_leaf || !node.is_category) continue;
        const Sides& sides = sides_[static_cast<std::size_t>(node.threshold)];
        writer.array(sides.left);
        writer.array(sides.right);
    }
}

FlatTree FlatTree::read(ByteReader& reader, const std::vector<Kind>& kinds) {
    const auto words = reader.array<std::uint32_t>();
    const auto thresholds = reader.array<double>();
    FlatTree tree;
    tree.nodes_.resize(words.size());
    std::size_t n_thresholds = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        Node& node = tree.nodes_[i];
        const std::uint32_t feature = words[i] >> kMarks;
        node.is_leaf = (words[i] & kLeaf) != 0;
        ByteReader::require(!node.is_leaf || words[i] == kLeaf);
        if (node.is_leaf) continue;
        ByteReader::require(feature < kinds.size());
        node.feature = feature % kMostFeatures;
        node.is_category = (words[i] & kCategory) != 0;
        node.missing_left = (words[i] & kMissingLeft) != 0;
        node.saw_missing = (words[i] & kSawMissing) != 0;
        ByteReader::require(node.is_category == (kinds[feature] == Kind::category));
        if (node.is_category) {
            node.threshold = static_cast<double>(tree.sides_.size());
            Sides& sides = tree.sides_.emplace_back();
            sides.left = reader.array<std::uint32_t>();
            sides.right = reader.array<std::uint32_t>();
            ByteReader::require(is_ascending(sides.left) && is_ascending(sides.right));
        } else {
            ByteReader::require(n_thresholds < thresholds.size());
            node.threshold = thresholds[n_thresholds++];
            ByteReader::require(node.threshold > -std::numeric_limits<double>::infinity());
        }
    }
    ByteReader::require(n_thresholds == thresholds.size());
    tree.number_leaves_and_children();
    return tree;
}

}  // namespace banditree
