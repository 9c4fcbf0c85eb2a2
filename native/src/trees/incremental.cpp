#include "banditree/trees/incremental.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "banditree/data/tight.hpp"

namespace banditree {

namespace {

// A histogram pays once a node has this many times more rows than all features together have codes.
constexpr std::size_t kRowsPerCode = 2;

// Smaller subtrees are grown at once: going about them level by level would cost more.
constexpr std::size_t kGrownAtOnce = 128;

}  // namespace

void IncrementalTree::set_kinds(const std::vector<Kind>& kinds) {
    if (!rows_.set_kinds(kinds)) return;
    drop_histograms();  // they know nothing of the new features
}

// They are soon made again where they are needed.
void IncrementalTree::drop_histograms() {
    for (LiveNode& node : nodes_)
        if (node.watch) node.watch->histogram.reset();
}

void IncrementalTree::learn(std::span<const double> context, double reward, double weight) {
    if (weight == 0) return;
    const bool counted = counts_rows();
    rows_.append(context, reward, weight);
    if (counts_rows() != counted) drop_histograms();
    const bool renewed = rows_.renew();
    histogram_from_ = kRowsPerCode * rows_.n_codes();
    if (renewed || nodes_.empty())
        rebuild();
    else
        insert(static_cast<std::uint32_t>(rows_.n_rows()) - 1);
}

void IncrementalTree::learn_many(const Matrix& contexts, std::span<const double> rewards,
                                 std::span<const double> weights) {
    const bool few = contexts.rows < n_rows() / 8;
    for (std::size_t i = 0; i < contexts.rows; ++i) {
        const double weight = weights.empty() ? 1.0 : weights[i];
        const std::span context(contexts.data + i * contexts.columns, contexts.columns);
        if (few)
            learn(context, rewards[i], weight);
        else if (weight > 0)
            rows_.append(context, rewards[i], weight);
    }
    if (few || n_rows() == 0) return;
    rows_.renew();
    histogram_from_ = kRowsPerCode * rows_.n_codes();
    rebuild();
}

void IncrementalTree::insert(std::uint32_t row) {
    std::int32_t at = 0;
    for (;;) {
        // Of a tree that is pruned most is cut off, so it waits for those who ask for a leaf.
        const bool waits = nodes_[at].pending && alpha() > 0;
        if (nodes_[at].pending && !waits) expand_here(at);
        LiveNode& node = nodes_[at];
        node.moments.add(rows_.data().weight(row), rows_.data().y[row]);
        node.kept = {};
        node.fate = Fate::unknown;
        if (node.watch && node.watch->histogram) tally(*node.watch->histogram, row);
        if (node.is_leaf()) {
            push_tight(node.rows, row);
            if (waits) return;
            node.uniform = node.uniform && rows_.alike(node.rows.front(), row);
            if (!node.uniform) regrow(at, std::move(node.rows));
            return;
        }
        if (!holds(node, row)) {
            auto rows = sorted_rows_below(node);
            rows.push_back(row);
            regrow(at, std::move(rows));
            return;
        }
        at = goes_left(node, row) ? node.left : node.right;
    }
}

void IncrementalTree::rebuild() {
    nodes_.clear();
    free_.clear();
    finder_.reset();
    nodes_.emplace_back();
    std::vector<std::uint32_t> rows(n_rows());
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(rows_.forgotten()));
    nodes_[0].moments = moments_of(rows);
    regrow(0, std::move(rows));
}

Moments IncrementalTree::moments_of(const std::vector<std::uint32_t>& rows) const {
    Moments moments;
    for (const auto row : rows) moments.add(rows_.data().weight(row), rows_.data().y[row]);
    return moments;
}

// Gives up the subtree at a node, whose rows these are, in order of arrival. A small one is grown
// anew at once; of a large one only what is needed, when it is needed, since the best split of a
// large node may change again before that.
void IncrementalTree::regrow(std::int32_t at, std::vector<std::uint32_t> rows) {
    release_below(at);
    LiveNode leaf;
    leaf.moments = nodes_[at].moments;
    leaf.depth = nodes_[at].depth;
    leaf.peak_w = nodes_[at].peak_w;
    leaf.peak_wyy = nodes_[at].peak_wyy;
    leaf.rows = std::move(rows);
    leaf.pending = may_split(leaf.moments, growth_, leaf.depth);
    leaf.watch = std::move(nodes_[at].watch);  // a histogram is of the rows, whatever their split
    if (leaf.watch && !leaf.watch->histogram) leaf.watch.reset();
    nodes_[at] = std::move(leaf);
    if (nodes_[at].pending && alpha() == 0 && nodes_[at].rows.size() <= kGrownAtOnce)
        expand(at, kUnlimited);
}

// Splits a pending node, and if it is small also the nodes below it.
void IncrementalTree::expand_here(std::int32_t at) {
    expand(at, nodes_[at].rows.size() > kGrownAtOnce ? 1 : kUnlimited);
}

void IncrementalTree::expand(std::int32_t top, std::uint32_t levels) {
    std::vector<std::pair<std::int32_t, std::uint32_t>> stack{{top, levels}};
    while (!stack.empty()) {
        const auto [at, left] = stack.back();
        stack.pop_back();
        if (!wants_histogram(nodes_[at])) {
            grow_at(at, left);
            continue;
        }
        split_by_histogram(at);
        if (nodes_[at].is_leaf()) continue;
        const std::uint32_t below = left == kUnlimited ? left : left - 1;
        for (const auto child : {nodes_[at].left, nodes_[at].right})
            if (nodes_[child].pending && levels_at(child, below) > 0)
                stack.emplace_back(child, below);
    }
}

void IncrementalTree::grow_at(std::int32_t at, std::uint32_t levels) {
    const Site site{nodes_[at].depth, kWatchedFrom, levels};
    std::vector<std::uint32_t> rows = std::move(nodes_[at].rows);
    if (rows_.exact()) {
        const Dataset local = rows_.encode_exactly(rows);
        const Sample all = Sample::of(local, std::span<const double>());
        plant(at, grow_traced(local, all, growth_, site), local, &rows);
    } else {
        const Dataset& data = rows_.data();
        const Sample sample = Sample::of(data, std::move(rows));
        plant(at, grow_traced(data, sample, growth_, site), data, nullptr);
    }
}

void IncrementalTree::expand_all() {
    for (std::size_t at = 0; at < nodes_.size(); ++at)
        if (nodes_[at].pending) expand(static_cast<std::int32_t>(at), kUnlimited);
}

// Puts a grown subtree in the place of a node.
void IncrementalTree::plant(std::int32_t root, const Grown& grown, const Dataset& data,
                            const std::vector<std::uint32_t>* row_of) {
    const auto parents = grown.tree.parents();
    std::vector<std::int32_t> ids(grown.tree.nodes.size());
    const std::uint32_t root_depth = nodes_[root].depth;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = i == 0 ? root : allocate();
        LiveNode& live = nodes_[ids[i]];
        live = LiveNode();
        live.depth = i == 0 ? root_depth : nodes_[ids[parents[i]]].depth + 1;
        if (i > 0) {
            LiveNode& parent = nodes_[ids[parents[i]]];
            (static_cast<std::int32_t>(i) == parents[i] + 1 ? parent.left : parent.right) = ids[i];
        }
        fill(live, grown, i, data);
        if (!live.is_leaf()) continue;
        const Segment segment = grown.traces[i].segment;
        live.rows.reserve(segment.size());
        for (std::uint32_t j = segment.begin; j < segment.end; ++j)
            live.rows.push_back(row_of ? (*row_of)[grown.rows[j]] : grown.rows[j]);
        live.pending = grown.traces[i].cut;
        live.uniform = !live.pending && live.moments.cost() > 0 && all_alike(live.rows);
    }
}

void IncrementalTree::fill(LiveNode& live, const Grown& grown, std::size_t i,
                           const Dataset& data) const {
    const Node& node = grown.tree.nodes[i];
    const Trace& trace = grown.traces[i];
    live.moments = grown.moments[i];
    live.feature = node.feature;
    if (node.is_leaf()) return;
    live.credit = trace.credit;
    if (!trace.bounds.empty()) {
        live.watch = std::make_unique<Watch>();
        live.watch->bounds = trace.bounds;
        live.watch->category_bounds = trace.category_bounds;
    }
    if (node.sides >= 0) {
        const Sides& sides = grown.tree.sides[node.sides];
        live.side_of.assign(data.features[node.feature].n_codes + 1, kUnseen);
        for (const auto code : sides.left) live.side_of[code] = kLeft;
        for (const auto code : sides.right) live.side_of[code] = kRight;
        return;
    }
    const auto key_of = [&](std::uint32_t code) {
        if (code == kNoCode) return std::numeric_limits<double>::infinity();
        return rows_.exact() ? data.features[node.feature].values[code - 1]
                             : static_cast<double>(code);
    };
    live.below = key_of(trace.below);
    live.above = key_of(trace.above);
    live.missing_left = node.missing_left;
    live.saw_missing = trace.saw_missing;
}

bool IncrementalTree::all_alike(const std::vector<std::uint32_t>& rows) const {
    return std::all_of(rows.begin(), rows.end(),
                       [&](auto row) { return rows_.alike(rows.front(), row); });
}

std::int32_t IncrementalTree::allocate() {
    if (free_.empty()) {
        nodes_.emplace_back();
        return static_cast<std::int32_t>(nodes_.size()) - 1;
    }
    const std::int32_t id = free_.back();
    free_.pop_back();
    return id;
}

void IncrementalTree::release_below(std::int32_t node) {
    std::vector<std::int32_t> stack{nodes_[node].left, nodes_[node].right};
    while (!stack.empty()) {
        const std::int32_t id = stack.back();
        stack.pop_back();
        if (id < 0) continue;
        stack.push_back(nodes_[id].left);
        stack.push_back(nodes_[id].right);
        nodes_[id] = LiveNode();
        free_.push_back(id);
    }
    nodes_[node].left = nodes_[node].right = -1;
}

std::vector<std::uint32_t> IncrementalTree::rows_below(const LiveNode& top) const {
    std::vector<std::uint32_t> rows;
    rows.reserve(top.moments.n);
    std::vector<const LiveNode*> stack{&top};
    while (!stack.empty()) {
        const LiveNode* node = stack.back();
        stack.pop_back();
        if (node->is_leaf()) {
            rows.insert(rows.end(), node->rows.begin(), node->rows.end());
            continue;
        }
        stack.push_back(&nodes_[node->right]);
        stack.push_back(&nodes_[node->left]);
    }
    return rows;
}

// In order of arrival.
std::vector<std::uint32_t> IncrementalTree::sorted_rows_below(const LiveNode& top) const {
    auto rows = rows_below(top);
    std::sort(rows.begin(), rows.end());
    return rows;
}

}  // namespace banditree
