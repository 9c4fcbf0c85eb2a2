// Trees as bytes. What is read may be forged: a walk must end in a leaf, and what a leaf counts
// must be possible.
#include <algorithm>
#include <cmath>
#include <limits>

#include "banditree/trees/counted_tree.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

namespace {

using Reader = ByteReader;

constexpr double kMost = std::numeric_limits<double>::max();

void write_node(ByteWriter& out, const Node& node) {
    for (const double number : {node.weight, node.mean, node.cost, node.gain, node.threshold})
        out.put(number);
    out.put(node.n);
    for (const std::int32_t index : {node.feature, node.right, node.sides}) out.put(index);
    out.put<std::uint8_t>(node.missing_left);
    out.put<std::uint8_t>(node.saw_missing);
}

Node read_node(Reader& in) {
    Node node;
    node.weight = in.between(0.0, kMost);
    node.mean = in.between(-kMost, kMost);
    node.cost = in.between(0.0, kMost);
    node.gain = in.between(0.0, kMost);
    node.threshold = in.between(-kMost, std::numeric_limits<double>::infinity());
    node.n = in.get<std::uint32_t>();
    node.feature = in.get<std::int32_t>();
    node.right = in.get<std::int32_t>();
    node.sides = in.get<std::int32_t>();
    node.missing_left = in.flag();
    node.saw_missing = in.flag();
    return node;
}

constexpr std::size_t kNodeBytes = 5 * sizeof(double) + 4 * sizeof(std::int32_t) + 2;

void check_split(const Node& node, const std::vector<Kind>& kinds, std::size_t n_sides) {
    if (node.is_leaf()) return Reader::require(node.sides == -1);
    Reader::require(static_cast<std::size_t>(node.feature) < kinds.size());
    const bool category = kinds[static_cast<std::size_t>(node.feature)] == Kind::category;
    Reader::require(category == (node.sides >= 0));
    Reader::require(!category || static_cast<std::size_t>(node.sides) < n_sides);
}

std::vector<std::uint32_t> read_codes(Reader& in) {
    auto codes = in.array<std::uint32_t>();
    Reader::require(std::adjacent_find(codes.begin(), codes.end(), std::greater_equal<>()) ==
                    codes.end());
    Reader::require(codes.empty() || codes.back() <= kMaxCategories);
    return codes;
}

void write_moments(ByteWriter& out, const Moments& moments) {
    for (const double sum : {moments.w, moments.wy, moments.wyy}) out.put(sum);
    out.put(moments.n);
}

// Sums that rows of the store can have, up to rounding.
Moments read_moments(Reader& in, const RowStore& rows) {
    Moments moments;
    moments.w = in.get<double>();
    const double low = rows.lowest_reward() - rows.data().offset;
    const double high = rows.highest_reward() - rows.data().offset;
    const double largest = std::max(std::abs(low), std::abs(high));
    const double rounding = rows.data().binary ? 0 : 1e-9 * moments.w * largest;
    moments.wy = in.between(moments.w * low - rounding, moments.w * high + rounding);
    moments.wyy = in.between(-rounding * largest, (moments.w * largest + rounding) * largest);
    moments.n = in.get<std::uint32_t>();
    Reader::require(moments.n <= rows.n_rows() && moments.w == moments.n);
    if (rows.data().binary)
        Reader::require(moments.wy == std::floor(moments.wy) && moments.wyy == moments.wy);
    return moments;
}

}  // namespace

bool is_depth_first(const std::vector<Node>& nodes) {
    std::vector<std::int32_t> rights;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].is_leaf()) {
            rights.push_back(nodes[i].right);
            continue;
        }
        if (rights.empty()) return i + 1 == nodes.size();
        if (rights.back() != static_cast<std::int32_t>(i) + 1) return false;
        rights.pop_back();
    }
    return false;
}

void Tree::write(ByteWriter& out) const {
    out.put<std::uint64_t>(sides.size());
    for (const Sides& codes : sides) {
        out.array(codes.left);
        out.array(codes.right);
    }
    out.put<std::uint64_t>(nodes.size());
    for (const Node& node : nodes) write_node(out, node);
}

Tree Tree::read(ByteReader& in, const std::vector<Kind>& kinds) {
    Tree tree;
    tree.sides.resize(in.length(2 * sizeof(std::uint64_t)));
    for (Sides& codes : tree.sides) {
        codes.left = read_codes(in);
        codes.right = read_codes(in);
    }
    tree.nodes.resize(in.length(kNodeBytes));
    for (Node& node : tree.nodes) {
        node = read_node(in);
        check_split(node, kinds, tree.sides.size());
    }
    Reader::require(is_depth_first(tree.nodes));
    return tree;
}

void CountedTree::write(ByteWriter& out) const {
    out.put<std::uint8_t>(is_planted());
    if (!is_planted()) return;
    tree_.write(out);
    for (const Moments& moments : moments_) write_moments(out, moments);
}

CountedTree CountedTree::read(ByteReader& in, const RowStore& rows) {
    CountedTree counted;
    if (!in.flag()) return counted;
    counted.plant(Tree::read(in, rows.kinds()));
    for (Moments& moments : counted.moments_) moments = read_moments(in, rows);
    const auto& nodes = counted.tree_.nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].is_leaf()) continue;
        const auto right = static_cast<std::size_t>(nodes[i].right);
        const std::uint64_t below =
            std::uint64_t{counted.moments_[i + 1].n} + counted.moments_[right].n;
        Reader::require(below == counted.moments_[i].n);
    }
    return counted;
}

}  // namespace banditree
