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

SharedTree TreeGrower::grow(std::vector<GradientRow>& rows, LeafValues& leaves) {
    tree_ = SharedTree();
    leaves = {};
    grow_node(0, rows, 0, std::vector<float>(n_arms_ + 1, 0.0f), leaves);
    return std::move(tree_);
}

void TreeGrower::grow_node(std::uint32_t node, std::span<GradientRow> rows, std::uint32_t depth,
                           const std::vector<float>& parent, LeafValues& leaves) {
    sum_arms(rows);
    const std::vector<float> values = shrunk(parent);
    Split split;
    if (rows.size() >= 2 * growth_.min_rows && depth < growth_.max_depth) split = best_split(rows);
    if (split.gain <= 0) return make_leaf(node, values, leaves);
    const std::vector<std::uint8_t>& codes = codes_[split.feature];
    const auto middle = std::stable_partition(
        rows.begin(), rows.end(),
        [&](const GradientRow& row) { return split.left_codes >> codes[row.row] & 1; });
    const auto n_left = static_cast<std::size_t>(middle - rows.begin());
    const auto child = static_cast<std::uint32_t>(tree_.nodes_.size());
    tree_.nodes_[node] = {split.left_codes, split.feature, child};
    tree_.nodes_.resize(child + 2);
    grow_node(child, rows.first(n_left), depth + 1, values, leaves);
    grow_node(child + 1, rows.subspan(n_left), depth + 1, values, leaves);
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

void TreeGrower::make_leaf(std::uint32_t node, const std::vector<float>& values,
                           LeafValues& leaves) {
    const std::size_t width = n_arms_ + 1;
    const std::size_t number = leaves.value.size() / width;
    tree_.nodes_[node] = {number, 0, 0};
    leaves.value.insert(leaves.value.end(), values.begin(), values.end());
    leaves.hessian.resize(leaves.value.size(), 0.0f);
    float* hessian = leaves.hessian.data() + number * width;
    for (const std::uint32_t arm : present_) {
        hessian[arm] = static_cast<float>(arms_[arm].hessian);
        hessian[n_arms_] += hessian[arm];
    }
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
        const double chance = rank_codes(coder_.is_category(features_[i]));
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
        const std::uint32_t code = codes[row.row];
        Item& cell = cells_[std::size_t{code} * n_arms_ + row.arm];
        cell.code = code;
        cell.arm = row.arm;
        ++cell.n;
        cell.gradient += row.gradient;
        cell.hessian += row.hessian;
    }
    items_.clear();
    for (const Item& cell : cells_)
        if (cell.n > 0) items_.push_back(cell);
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

// Codes in the order in which cuts are tried: those of a number as they are, those of a category by
// their rewards. Returns what the best cut of such an order gains by chance: of the squared
// deviations of means that mean nothing, it takes 2/pi.
double TreeGrower::rank_codes(bool is_category) {
    std::array<double, Coder::kCodes> gradient{}, hessian{};
    n_ranks_ = 0;
    for (const Item& item : items_) {
        if (n_ranks_ == 0 || codes_at_[n_ranks_ - 1] != item.code)
            codes_at_[n_ranks_++] = item.code;
        gradient[item.code] += item.gradient;
        hessian[item.code] += item.hessian;
    }
    if (!is_category) return 0;
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
    for (const std::uint32_t arm : present_) arms_[arm].left_gradient = arms_[arm].left_hessian = 0;
    double gain = 0;
    std::size_t left_rows = 0;
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i + 1 < items_.size(); ++i) {
        const Item& item = items_[i];
        ArmSums& arm = arms_[item.arm];
        gain -= term(arm.left_gradient, arm.left_hessian) +
                term(arm.gradient - arm.left_gradient, arm.hessian - arm.left_hessian);
        arm.left_gradient += item.gradient;
        arm.left_hessian += item.hessian;
        gain += term(arm.left_gradient, arm.left_hessian) +
                term(arm.gradient - arm.left_gradient, arm.hessian - arm.left_hessian);
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
