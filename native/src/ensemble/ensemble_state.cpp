// The parts of the ensemble as bytes. Leaves and inputs are counted again, so that what is read can
// be used without a further check.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "banditree/ensemble/boosting.hpp"
#include "banditree/ensemble/forest.hpp"
#include "banditree/ensemble/linear.hpp"
#include "banditree/ensemble/shared_rows.hpp"
#include "banditree/ensemble/shared_tree.hpp"

namespace banditree {

namespace {

using Reader = ByteReader;

// So many finite numbers, none below the least.
std::vector<float> read_numbers(Reader& in, std::size_t n, float least) {
    std::vector<float> numbers = in.array<float>();
    Reader::require(numbers.size() == n);
    for (const float number : numbers) Reader::require(std::isfinite(number) && number >= least);
    return numbers;
}

constexpr float kAny = -std::numeric_limits<float>::max();

// One of each arm, and one of arms to come; none before the first fit.
std::vector<float> read_starts(Reader& in) {
    std::vector<float> starts = in.array<float>();
    for (const float start : starts) Reader::require(std::isfinite(start));
    Reader::require(starts.size() != 1);
    return starts;
}

}  // namespace

void SharedTree::write(ByteWriter& out) const {
    out.put<std::uint64_t>(nodes_.size());
    for (const Node& node : nodes_) {
        out.put(node.left_codes);
        out.put(node.feature);
        out.put(node.child);
    }
}

SharedTree SharedTree::read(ByteReader& in, std::size_t n_features) {
    SharedTree tree;
    const std::size_t n_nodes = in.length(16);
    Reader::require(n_nodes % 2 == 1);
    tree.nodes_.resize(n_nodes);
    std::size_t n_children = 0;
    std::vector<bool> is_child(n_nodes, false), is_taken(tree.n_leaves(), false);
    for (std::size_t i = 0; i < n_nodes; ++i) {
        Node& node = tree.nodes_[i];
        node.left_codes = in.get<std::uint64_t>();
        node.feature = in.get<std::uint32_t>();
        node.child = in.get<std::uint32_t>();
        if (node.child == 0) {
            Reader::require(node.left_codes < is_taken.size() && !is_taken[node.left_codes]);
            is_taken[node.left_codes] = true;
            continue;
        }
        Reader::require(node.feature < n_features && node.child > i && node.child + 1 < n_nodes);
        Reader::require(!is_child[node.child] && !is_child[node.child + 1]);
        is_child[node.child] = is_child[node.child + 1] = true;
        n_children += 2;
    }
    Reader::require(n_children + 1 == n_nodes);
    return tree;
}

void Boosting::write(ByteWriter& out) const {
    out.array(start_);
    out.put(least_);
    out.put<std::uint64_t>(stages_.size());
    for (const Stage& stage : stages_) {
        stage.tree.write(out);
        out.array(stage.value);
        out.array(stage.doubt);
        out.array(stage.contexts);
    }
}

Boosting Boosting::read(ByteReader& in, std::size_t n_features) {
    Boosting boosting;
    boosting.start_ = read_starts(in);
    boosting.least_ = in.between(0.0f, 10000.0f);
    boosting.stages_.resize(in.length(1));
    for (Stage& stage : boosting.stages_) {
        stage.tree = SharedTree::read(in, n_features);
        const std::size_t n_values = stage.tree.n_leaves() * boosting.start_.size();
        stage.value = read_numbers(in, n_values, kAny);
        stage.doubt = read_numbers(in, n_values, 0);
        stage.contexts = read_numbers(in, stage.tree.n_leaves(), 0);
    }
    return boosting;
}

void Forest::write(ByteWriter& out) const {
    out.put(seed_);
    out.array(base_);
    out.put<std::uint64_t>(bags_.size());
    for (const Bag& bag : bags_) {
        bag.tree.write(out);
        bag.leaves.write(out);
    }
}

Forest Forest::read(ByteReader& in, std::size_t n_features) {
    Forest forest;
    forest.seed_ = in.get<std::uint64_t>();
    forest.base_ = read_starts(in);
    const std::size_t n_bags = in.length(1);
    Reader::require(forest.is_fitted() == (n_bags > 0));
    for (std::size_t i = 0; i < n_bags; ++i) {
        SharedTree tree = SharedTree::read(in, n_features);
        const std::size_t n_leaves = tree.n_leaves();
        forest.bags_.push_back({std::move(tree), ForestLeaves::read(in, forest.base_, n_leaves)});
    }
    return forest;
}

void Linear::write(ByteWriter& out) const {
    out.put<std::uint32_t>(n_arms_);
    out.array(weights_);
    out.array(squares_);
    out.array(counts_);
}

Linear Linear::read(ByteReader& in, bool binary, const Coder& coder) {
    Linear linear(binary);
    linear.inputs_ = Inputs(coder);
    linear.n_arms_ = in.get<std::uint32_t>();
    const std::size_t n_weights = std::size_t{linear.inputs_.count} * linear.n_arms_;
    linear.weights_ = read_numbers(in, n_weights, kAny);
    linear.squares_ = read_numbers(in, n_weights, 0);
    linear.counts_ = in.array<double>();
    Reader::require(linear.counts_.size() == linear.n_arms_);
    for (const double count : linear.counts_) Reader::require(std::isfinite(count) && count >= 0);
    return linear;
}

void SharedRows::write(ByteWriter& out) const {
    out.put<std::uint64_t>(kinds_.size());
    for (std::size_t f = 0; f < kinds_.size(); ++f) {
        out.put<std::uint8_t>(kinds_[f] == Kind::category);
        columns_[f].write(out);
    }
    out.array(arms_.span());
    out.array(rewards_.span());
    out.array(numbers_.span());
    out.put(n_learned_);
}

SharedRows SharedRows::read(ByteReader& in, std::uint32_t n_arms) {
    SharedRows rows;
    rows.kinds_.resize(in.length(2));
    for (Kind& kind : rows.kinds_) {
        kind = in.flag() ? Kind::category : Kind::number;
        const RawColumn& column = rows.columns_.emplace_back(RawColumn::read(in));
        Reader::require(column.suits(kind));
    }
    rows.arms_ = Cells<std::uint32_t>(in.array<std::uint32_t>());
    rows.rewards_ = Cells<double>(in.array<double>());
    rows.numbers_ = Cells<std::uint64_t>(in.array<std::uint64_t>());
    rows.n_learned_ = in.get<std::uint64_t>();
    const std::size_t n = rows.size();
    Reader::require(rows.rewards_.size() == n && rows.numbers_.size() == n);
    for (const RawColumn& column : rows.columns_) Reader::require(column.size() == n);
    for (const std::uint32_t arm : rows.arms_) Reader::require(arm < n_arms);
    for (const double reward : rows.rewards_) Reader::require(std::abs(reward) <= kLargest);
    for (std::size_t i = 0; i < n; ++i) {
        Reader::require(rows.numbers_[i] < rows.n_learned_);
        Reader::require(i == 0 || rows.numbers_[i - 1] < rows.numbers_[i]);
    }
    return rows;
}

}  // namespace banditree
