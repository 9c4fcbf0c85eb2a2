// Taking the oldest row out of the incremental tree.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "banditree/trees/incremental.hpp"

namespace banditree {

namespace {

// Sums that round are added up anew once this many times less is left of them: what rounding has
// left of the rows that are gone must stay far below the tolerance of ties.
constexpr double kMostLost = 4;

}  // namespace

void IncrementalTree::forget() {
    if (n_rows() == 0) throw std::invalid_argument("there is no row to forget");
    const auto row = static_cast<std::uint32_t>(rows_.forgotten());
    if (!rows_.forget())
        remove(row);
    else if (n_rows() > 0)
        rebuild();
    else
        nodes_.clear();
}

void IncrementalTree::restore(const Matrix& contexts, std::span<const double> rewards,
                              std::span<const double> weights, std::size_t renewed_at,
                              std::size_t forgotten) {
    if (rows_.n_rows() > 0) throw std::invalid_argument("the tree has rows already");
    RowStore rows = rows_;
    for (std::size_t i = 0; i < contexts.rows; ++i)
        if (weights[i] > 0)
            rows.append({contexts.data + i * contexts.columns, contexts.columns}, rewards[i],
                        weights[i]);
    rows.resume(renewed_at, forgotten);
    rows_ = std::move(rows);
    if (n_rows() > 0) rebuild();
}

// Takes the row out of all nodes on its way, and then looks from the root on whether their splits
// are still the best.
void IncrementalTree::remove(std::uint32_t row) {
    for (const std::int32_t at : take_out(row)) {
        LiveNode& node = nodes_[at];
        if (is_blurred(node)) {
            auto rows = sorted_rows_below(node);
            node.moments = moments_of(rows);
            node.peak_w = node.peak_wyy = 0;
            node.watch.reset();
            return regrow(at, std::move(rows));
        }
        if (node.is_leaf()) {
            node.pending = node.pending && may_split(node.moments, growth_, node.depth);
            if (!node.pending && !node.uniform) regrow(at, std::move(node.rows));
        } else if (!holds_without(node, row)) {
            return regrow(at, sorted_rows_below(node));
        }
    }
}

// Returns the nodes that had the row, from the root to the leaf.
std::vector<std::int32_t> IncrementalTree::take_out(std::uint32_t row) {
    std::vector<std::int32_t> path;
    for (std::int32_t at = 0;;) {
        path.push_back(at);
        LiveNode& node = nodes_[at];
        take_from(node, row);
        if (node.is_leaf()) {
            node.rows.erase(std::find(node.rows.begin(), node.rows.end(), row));
            return path;
        }
        at = goes_left(node, row) ? node.left : node.right;
    }
}

void IncrementalTree::take_from(LiveNode& node, std::uint32_t row) {
    const double weight = rows_.data().weight(row);
    node.peak_w = std::max(node.peak_w, node.moments.w);
    node.peak_wyy = std::max(node.peak_wyy, node.moments.wyy);
    node.moments.remove(weight, rows_.data().y[row]);
    node.kept = {};
    node.fate = Fate::unknown;
    if (!node.watch) return;
    // A side that loses a row of weight w costs less by at most w (y - mean of the others)^2.
    const double farthest = rows_.farthest(rows_.reward(row));
    node.watch->loss.cost += weight * farthest * farthest;
    ++node.watch->loss.rows;
    if (node.watch->histogram) untally(*node.watch->histogram, row);
}

void IncrementalTree::untally(Histogram& histogram, std::uint32_t row) const {
    const Sums sums = rows_.sums(row);
    for (std::size_t f = 0; f < rows_.kinds().size(); ++f) {
        const std::uint32_t code = rows_.data().features[f].codes.at(row);
        Sums& left = histogram.sums[f][code];
        left -= sums;
        const bool none = counts_rows() ? --histogram.counts[f][code] == 0 : left.w == 0;
        if (none) left = {};
    }
}

bool IncrementalTree::is_blurred(const LiveNode& node) const {
    if (rows_.data().binary && rows_.data().w.empty()) return false;
    return node.moments.w * kMostLost < node.peak_w || node.moments.wyy * kMostLost < node.peak_wyy;
}

// Whether the node's split is still the best now that the row has left it and its children.
bool IncrementalTree::holds_without(LiveNode& node, std::uint32_t row) {
    if (!may_split(node.moments, growth_, node.depth)) return false;
    const Moments& left = nodes_[node.left].moments;
    if (std::min(left.n, nodes_[node.right].moments.n) < growth_.min_leaf) return false;
    watch(node, kNoRow);
    std::optional<double> standing;
    if (keeps_sides(node, row)) standing = split_gain(node.moments.sums(), left.sums());
    return is_best(node, standing, kNoRow);
}

// Whether what the split knows of its sides is still true: not if the row may have been the last of
// its category, the last one missing, or the last one at the edge of the gap between the sides.
bool IncrementalTree::keeps_sides(const LiveNode& node, std::uint32_t row) const {
    const auto own = static_cast<std::uint32_t>(node.feature);
    const double key = rows_.key(own, row);
    const bool number = rows_.kinds()[own] == Kind::number;
    if (number && !rows_.is_missing(key) && (key < node.below || key > node.above)) return true;
    if (node.watch && node.watch->histogram)
        return occurs(node.watch->histogram->sums[own][static_cast<std::size_t>(key)]);
    return has_alike(node, own, row);
}

// Whether a row below the node has the same value of the feature as this one, which is gone.
bool IncrementalTree::has_alike(const LiveNode& top, std::uint32_t feature,
                                std::uint32_t row) const {
    const double key = rows_.key(feature, row);
    const bool missing = rows_.is_missing(key);
    const auto is_alike = [&](std::uint32_t other) {
        const double k = rows_.key(feature, other);
        return k == key || (missing && rows_.is_missing(k));
    };
    std::vector<const LiveNode*> stack{&nodes_[goes_left(top, row) ? top.left : top.right]};
    while (!stack.empty()) {
        const LiveNode* node = stack.back();
        stack.pop_back();
        if (node->is_leaf()) {
            if (std::any_of(node->rows.begin(), node->rows.end(), is_alike)) return true;
            continue;
        }
        stack.push_back(&nodes_[node->right]);
        stack.push_back(&nodes_[node->left]);
    }
    return false;
}

}  // namespace banditree
