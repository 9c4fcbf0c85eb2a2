#include "banditree/ensemble/shared_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace banditree {

namespace {

// Gains that rounding may have made.
constexpr double kLeastGain = 1e-6;

}  // namespace

TreeGrower::TreeGrower(std::span<const std::vector<std::uint8_t>> codes, const Coder& coder,
                       std::uint32_t n_arms, const SharedGrowth& growth, Rng& rng)
    : codes_(codes), coder_(coder), n_arms_(n_arms), growth_(growth), rng_(rng), arms_(n_arms) {
    for (std::uint32_t f = 0; f < codes.size(); ++f)
        if (coder.n_codes(f) > 1) features_.push_back(f);
}

void LeafValues::leaf(std::uint32_t, const NodeValues& node) {
    value.insert(value.end(), node.value.begin(), node.value.end());
    hessian.resize(value.size(), 0.0f);
    float* row = hessian.data() + value.size() - node.value.size();
    for (std::size_t i = 0; i < node.present.size(); ++i) {
        row[node.present[i]] = node.hessian[i];
        row[node.value.size() - 1] += node.hessian[i];
    }
}

SharedTree TreeGrower::grow(std::vector<GradientRow>& rows, LeafSink& leaves) {
    tree_ = SharedTree();
    n_leaves_ = 0;
    grow_node(0, rows, 0, std::vector<float>(n_arms_ + 1, 0.0f), 0, leaves);
    return std::move(tree_);
}

void TreeGrower::grow_node(std::uint32_t node, std::span<GradientRow> rows, std::uint32_t depth,
                           const std::vector<float>& parent, std::uint32_t above,
                           LeafSink& leaves) {
    sum_arms(rows);
    const std::vector<float> values = shrunk(parent);
    Split split;
    if (rows.size() >= 2 * growth_.min_rows && depth < growth_.max_depth) split = best_split(rows);
    const NodeValues said{values, parent, present_, hessians_};
    if (split.gain <= 0) {
        tree_.nodes_[node] = {n_leaves_++, 0, 0};
        return leaves.leaf(above, said);
    }
    above = leaves.inner(above, said);
    const std::size_t n_left = partition(rows, split);
    const auto child = static_cast<std::uint32_t>(tree_.nodes_.size());
    tree_.nodes_[node] = {split.left_codes, split.feature, child};
    tree_.nodes_.resize(child + 2);
    grow_node(child, rows.first(n_left), depth + 1, values, above, leaves);
    grow_node(child + 1, rows.subspan(n_left), depth + 1, values, above, leaves);
}

// Rows of the left child first, in their order; returns how many these are.
std::size_t TreeGrower::partition(std::span<GradientRow> rows, const Split& split) {
    const std::uint8_t* codes = codes_[split.feature].data();
    right_.resize(std::max(right_.size(), rows.size()));
    std::size_t n_left = 0, n_right = 0;
    for (const GradientRow& row : rows) {
        const bool goes_left = split.left_codes >> codes[row.row] & 1;
        const GradientRow moved = row;
        rows[n_left] = right_[n_right] = moved;
        n_left += goes_left;
        n_right += !goes_left;
    }
    std::copy_n(right_.begin(), n_right, rows.begin() + static_cast<std::ptrdiff_t>(n_left));
    return n_left;
}

void TreeGrower::sum_arms(std::span<const GradientRow> rows) {
    for (const std::uint32_t arm : present_) arms_[arm] = {};
    present_.clear();
    double squares = 0, hessian = 0;
    for (const GradientRow& row : rows) {
        ArmSums& sums = arms_[row.arm];
        squares += row.gradient * row.gradient;
        hessian += row.hessian;
        if (sums.hessian == 0) present_.push_back(row.arm);
        sums.gradient += row.gradient;
        sums.hessian += row.hessian;
    }
    noise_ = hessian > 0 ? squares / hessian : 0;
    hessians_.clear();
    for (const std::uint32_t arm : present_)
        hessians_.push_back(static_cast<float>(arms_[arm].hessian));
}

std::vector<float> TreeGrower::shrunk(const std::vector<float>& parent) const {
    std::vector<float> values = parent;
    const auto mean = [&](double gradient, double hessian, float from) {
        const double shrinkage = growth_.shrinkage;
        return static_cast<float>((gradient + shrinkage * from) / (hessian + shrinkage));
    };
    double gradient = 0, hessian = 0;
    for (const std::uint32_t arm : present_) {
        values[arm] = mean(arms_[arm].gradient, arms_[arm].hessian, parent[arm]);
        gradient += arms_[arm].gradient;
        hessian += arms_[arm].hessian;
    }
    values[n_arms_] = mean(gradient, hessian, parent[n_arms_]);
    return values;
}

TreeGrower::Split TreeGrower::best_split(std::span<const GradientRow> rows) {
    Split best;
    best.gain = kLeastGain * static_cast<double>(present_.size());
    const double none = best.gain;
    const double wanted = growth_.feature_share * static_cast<double>(features_.size());
    double tried = 0;
    for (std::size_t i = 0; i < features_.size() && tried < wanted; ++i) {
        std::swap(features_[i], features_[i + rng_.integer(features_.size() - i)]);
        collect(features_[i], rows);
        if (items_.front().code == items_.back().code) continue;
        ++tried;
        list_codes();
        const double chance = coder_.is_category(features_[i]) ? rank_codes() : 0;
        scan(features_[i], rows.size(), chance, best);
    }
    return best.gain > none ? best : Split();
}

void TreeGrower::collect(std::uint32_t feature, std::span<const GradientRow> rows) {
    const std::uint32_t n_codes = coder_.n_codes(feature);
    if (rows.size() > std::size_t{n_codes} * n_arms_)
        collect_by_counting(codes_[feature], n_codes, rows);
    else
        collect_by_sorting(codes_[feature], rows);
}

// Many rows: one item for each code and arm that occur.
void TreeGrower::collect_by_counting(const std::vector<std::uint8_t>& codes, std::uint32_t n_codes,
                                     std::span<const GradientRow> rows) {
    cells_.assign(std::size_t{n_codes} * n_arms_, {});
    for (const GradientRow& row : rows) {
        Cell& cell = cells_[std::size_t{codes[row.row]} * n_arms_ + row.arm];
        cell.gradient += row.gradient;
        cell.hessian += row.hessian;
        ++cell.n;
    }
    items_.clear();
    const Cell* cell = cells_.data();
    for (std::uint32_t code = 0; code < n_codes; ++code)
        for (std::uint32_t arm = 0; arm < n_arms_; ++arm, ++cell)
            if (cell->n > 0) items_.push_back({code, arm, cell->n, cell->gradient, cell->hessian});
}

// Few rows: one item a row, in the order of the codes.
void TreeGrower::collect_by_sorting(const std::vector<std::uint8_t>& codes,
                                    std::span<const GradientRow> rows) {
    std::array<std::uint32_t, Coder::kCodes + 1> next{};
    for (const GradientRow& row : rows) ++next[codes[row.row] + 1u];
    std::partial_sum(next.begin(), next.end(), next.begin());
    items_.resize(rows.size());
    for (const GradientRow& row : rows) {
        const std::uint32_t code = codes[row.row];
        items_[next[code]++] = {code, row.arm, 1, row.gradient, row.hessian};
    }
}

// Codes in the order in which cuts are tried.
void TreeGrower::list_codes() {
    n_ranks_ = 0;
    for (const Item& item : items_)
        if (n_ranks_ == 0 || codes_at_[n_ranks_ - 1] != item.code)
            codes_at_[n_ranks_++] = item.code;
}

// Those of a category, by their rewards. Returns what the best cut of such an order gains by
// chance: of the squared deviations of means that mean nothing, it takes 2/pi.
double TreeGrower::rank_codes() {
    std::array<double, Coder::kCodes> gradient{}, hessian{};
    for (const Item& item : items_) {
        gradient[item.code] += item.gradient;
        hessian[item.code] += item.hessian;
    }
    const auto mean = [&](std::uint32_t code) {
        return gradient[code] / (hessian[code] + growth_.penalty);
    };
    std::stable_sort(codes_at_.begin(), codes_at_.begin() + n_ranks_,
                     [&](auto a, auto b) { return mean(a) < mean(b); });
    std::array<std::uint32_t, Coder::kCodes> rank{};
    for (std::uint32_t i = 0; i < n_ranks_; ++i) rank[codes_at_[i]] = i;
    std::stable_sort(items_.begin(), items_.end(),
                     [&](const Item& a, const Item& b) { return rank[a.code] < rank[b.code]; });
    double means = -1;
    for (std::uint32_t i = 0; i < n_ranks_; ++i) {
        const double hessian_of = hessian[codes_at_[i]];
        means += hessian_of / (hessian_of + growth_.penalty);
    }
    return 2 / std::numbers::pi * noise_ * std::max(means, 0.0);
}

void TreeGrower::scan(std::uint32_t feature, std::size_t n_rows, double chance, Split& best) {
    for (const std::uint32_t id : present_) {
        ArmSums& arm = arms_[id];
        arm.left_gradient = arm.left_hessian = 0;
        arm.terms = term(0, 0) + term(arm.gradient, arm.hessian);
    }
    double gain = 0;
    std::size_t left_rows = 0;
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i + 1 < items_.size(); ++i) {
        const Item& item = items_[i];
        ArmSums& arm = arms_[item.arm];
        gain -= arm.terms;
        arm.left_gradient += item.gradient;
        arm.left_hessian += item.hessian;
        arm.terms = term(arm.left_gradient, arm.left_hessian) +
                    term(arm.gradient - arm.left_gradient, arm.hessian - arm.left_hessian);
        gain += arm.terms;
        left_rows += item.n;
        if (items_[i + 1].code == item.code) continue;
        ++rank;
        if (left_rows < growth_.min_rows || n_rows - left_rows < growth_.min_rows) continue;
        if (gain - chance > best.gain)
            best = {gain - chance, feature, left_set(feature, rank, left_rows, n_rows)};
    }
}

// The codes of the first ranks. Codes that the node has not seen go where most rows go; of a
// number, those between two ranks go with the nearer end.
std::uint64_t TreeGrower::left_set(std::uint32_t feature, std::uint32_t n_left,
                                   std::size_t left_rows, std::size_t n_rows) const {
    const auto bit = [](std::uint32_t code) { return std::uint64_t{1} << code; };
    const bool most_left = 2 * left_rows >= n_rows;
    std::uint64_t left = 0, seen = 0;
    for (std::uint32_t i = 0; i < n_ranks_; ++i) {
        seen |= bit(codes_at_[i]);
        if (i < n_left) left |= bit(codes_at_[i]);
    }
    if (coder_.is_category(feature)) return most_left ? left | ~seen : left;
    const std::uint32_t cut = (codes_at_[n_left - 1] + codes_at_[n_left]) / 2;
    left = (bit(cut) << 1) - 1;
    if ((seen & 1) == 0) left = most_left ? left | 1 : left & ~std::uint64_t{1};
    return left;
}

}  // namespace banditree
