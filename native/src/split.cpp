#include "banditree/split.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace banditree {

namespace {

// Keeps the first split of the largest gain, and the gain of the best of the others.
class Champion {
public:
    Champion(const Moments& node, std::uint32_t min_leaf)
        : total_(node.sums()), n_(node.n), min_leaf_(min_leaf), tolerance_(node.tolerance()), floor_(tolerance_) {}

    template <class Describe>
    void consider(const Sums& left, std::uint32_t n_left, Describe describe) {
        const double gain = split_gain(total_, left);
        if (gain > floor_ && n_left >= min_leaf_ && n_ - n_left >= min_leaf_) {
            best_.runner_up = std::max(best_.runner_up, best_.gain);
            best_.gain = gain;
            floor_ = gain + tolerance_;
            describe(best_);
        } else {
            best_.runner_up = std::max(best_.runner_up, gain);
        }
    }
    const FeatureScan& best() const { return best_; }

private:
    Sums total_;
    std::uint32_t n_;
    std::uint32_t min_leaf_;
    double tolerance_;
    double floor_;
    FeatureScan best_;
};

// With min_leaf 1 every group is large enough and nobody counts: 1 row here, the rest there.
std::uint32_t count_at(const Groups& groups, std::size_t i) { return groups.counts.empty() ? 0 : groups.counts[i]; }

std::vector<std::uint32_t> order_by_mean(const Groups& groups) {
    std::vector<std::uint32_t> order(groups.codes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return groups.sums[a].wy / groups.sums[a].w < groups.sums[b].wy / groups.sums[b].w;
    });
    return order;
}

// For categories "missing" is a group like any other, with code 0.
Groups with_missing(const Groups& groups) {
    Groups all = groups;
    if (!groups.has_missing()) return all;
    all.codes.insert(all.codes.begin(), 0);
    all.sums.insert(all.sums.begin(), groups.missing);
    if (!groups.counts.empty()) all.counts.insert(all.counts.begin(), groups.missing_count);
    return all;
}

}  // namespace

void Groups::clear() {
    codes.clear();
    sums.clear();
    counts.clear();
    missing = {};
    missing_count = 0;
}

FeatureScan scan_numbers(const Groups& groups, const Moments& node, std::uint32_t min_leaf) {
    Champion champion(node, groups.counts.empty() ? 0 : min_leaf);
    const bool missing = groups.has_missing();
    Sums left;
    std::uint32_t n_left = 0;
    for (std::size_t i = 0; i + 1 < groups.codes.size(); ++i) {
        left += groups.sums[i];
        n_left += count_at(groups, i);
        const auto describe = [&](bool missing_left) {
            return [&groups, i, missing_left](FeatureScan& scan) {
                scan.below = groups.codes[i];
                scan.above = groups.codes[i + 1];
                scan.missing_left = missing_left;
            };
        };
        if (missing) champion.consider(left + groups.missing, n_left + groups.missing_count, describe(true));
        champion.consider(left, n_left, describe(false));
    }
    if (missing && !groups.codes.empty()) {
        champion.consider(node.sums() - groups.missing, node.n - groups.missing_count, [&](FeatureScan& scan) {
            scan.below = groups.codes.back();
            scan.above = kNoCode;
            scan.missing_left = false;
        });
    }
    return champion.best();
}

FeatureScan scan_categories(const Groups& present, const Moments& node, std::uint32_t min_leaf) {
    const Groups groups = with_missing(present);
    Champion champion(node, groups.counts.empty() ? 0 : min_leaf);
    Sums left;
    std::uint32_t n_left = 0;
    const auto order = order_by_mean(groups);
    for (std::uint32_t i = 0; i + 1 < order.size(); ++i) {
        left += groups.sums[order[i]];
        n_left += count_at(groups, order[i]);
        champion.consider(left, n_left, [i](FeatureScan& scan) { scan.n_left = i + 1; });
    }
    return champion.best();
}

Sides sides_of(const Groups& present, std::uint32_t n_left) {
    const Groups groups = with_missing(present);
    Sides sides;
    const auto order = order_by_mean(groups);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        (i < n_left ? sides.left : sides.right).push_back(groups.codes[order[i]]);
    std::sort(sides.left.begin(), sides.left.end());
    std::sort(sides.right.begin(), sides.right.end());
    return sides;
}

template <class Sum>
void SplitFinder<Sum>::collect(std::uint32_t code) {
    groups_.add(code, as_sums(by_code_[code]));
    by_code_[code] = {};
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally_dense(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node) {
    Sum* by_code = by_code_.data();
    const std::size_t m = node.rows.size();
    for (std::size_t i = 0; i < m; ++i) by_code[codes[node.rows[i]]] += node.sums[i];
    for (std::uint32_t code = 1; code <= n_codes; ++code)
        if (occurs(by_code[code])) collect(code);
}

// Two-valued features are common, and summing them in memory would wait for each sum before the next.
template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally_two(const Code* codes, const NodeRows<Sum>& node) {
    Sum sums[3];
    const std::size_t m = node.rows.size();
    for (std::size_t i = 0; i < m; ++i) {
        const Code code = codes[node.rows[i]];
        const Sum sum = node.sums[i];
        sums[0] += code == 0 ? sum : Sum{};
        sums[1] += code == 1 ? sum : Sum{};
        sums[2] += code == 2 ? sum : Sum{};
    }
    by_code_[0] = sums[0];
    for (const std::uint32_t code : {1u, 2u})
        if (occurs(sums[code])) groups_.add(code, as_sums(sums[code]));
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally_sparse(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node) {
    Sum* by_code = by_code_.data();
    std::uint64_t* words = occurs_.data();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::uint32_t code = codes[node.rows[i]];
        by_code[code] += node.sums[i];
        words[code >> 6] |= std::uint64_t{1} << (code & 63);
        occupied_[code >> 12] |= std::uint64_t{1} << ((code >> 6) & 63);
    }
    words[0] &= ~std::uint64_t{1};  // missing is not a group
    for (std::uint32_t i = 0; i <= n_codes >> 12; ++i) {
        for (; occupied_[i] != 0; occupied_[i] &= occupied_[i] - 1) {
            const std::uint32_t word = i * 64 + static_cast<std::uint32_t>(std::countr_zero(occupied_[i]));
            for (; words[word] != 0; words[word] &= words[word] - 1)
                collect(word * 64 + static_cast<std::uint32_t>(std::countr_zero(words[word])));
        }
    }
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::count(const Code* codes, const NodeRows<Sum>& node) {
    for (const auto row : node.rows) ++count_by_code_[codes[row]];
    for (const auto code : groups_.codes) {
        groups_.counts.push_back(count_by_code_[code]);
        count_by_code_[code] = 0;
    }
    groups_.missing_count = count_by_code_[0];
    count_by_code_[0] = 0;
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node) {
    if (n_codes <= 2)
        tally_two(codes, node);
    else if (n_codes <= 4 * node.rows.size())
        tally_dense(codes, n_codes, node);
    else
        tally_sparse(codes, n_codes, node);
    if (growth_.min_leaf > 1) count(codes, node);
}

template <class Sum>
void SplitFinder<Sum>::make_room(std::uint32_t n_codes) {
    if (by_code_.size() > n_codes) return;
    by_code_.resize(n_codes + 1);
    count_by_code_.resize(n_codes + 1);
    occurs_.resize((n_codes >> 6) + 1);
    occupied_.resize((n_codes >> 12) + 1);
}

template <class Sum>
const Groups& SplitFinder<Sum>::group(std::uint32_t feature, const NodeRows<Sum>& node) {
    const Feature& column = data_.features[feature];
    make_room(column.n_codes);
    groups_.clear();
    std::visit([&](const auto& codes) { tally(codes.data(), column.n_codes, node); }, column.codes.cells());
    groups_.missing = as_sums(by_code_[0]);
    by_code_[0] = {};
    return groups_;
}

template <class Sum>
Split SplitFinder<Sum>::best(const NodeRows<Sum>& node, const Moments& moments, std::vector<std::uint32_t>& active) {
    Split best;
    std::size_t kept = 0;
    for (const std::uint32_t feature : active) {
        const Groups& groups = group(feature, node);
        if (!groups.varies()) continue;
        active[kept++] = feature;
        const FeatureScan found = scan(data_.features[feature].kind, groups, moments, growth_.min_leaf);
        if (found.gain > best.gain + moments.tolerance())
            best = {found.gain, static_cast<std::int32_t>(feature), found};
    }
    active.resize(kept);
    return best;
}

template class SplitFinder<Sums>;
template class SplitFinder<Counts>;

}  // namespace banditree
