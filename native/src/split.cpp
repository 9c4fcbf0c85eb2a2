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
        : total_(node.sums()),
          n_(node.n),
          min_leaf_(min_leaf),
          tolerance_(node.tolerance()),
          floor_(tolerance_) {}

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
std::uint32_t count_at(const Groups& groups, std::size_t i) {
    return groups.counts.empty() ? 0 : groups.counts[i];
}

std::vector<std::uint32_t> order_by_mean(const Groups& groups) {
    std::vector<std::uint32_t> order(groups.size);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return groups.sums[a].wy / groups.sums[a].w < groups.sums[b].wy / groups.sums[b].w;
    });
    return order;
}

// For categories "missing" is a group like any other, with code 0.
Groups with_missing(const Groups& groups) {
    Groups all;
    all.start(groups.size + 1);
    const auto add = [&](std::uint32_t code, const Sums& sums, std::uint32_t count) {
        all.add(code, sums);
        if (!groups.counts.empty()) all.counts.push_back(count);
    };
    if (groups.has_missing()) add(0, groups.missing, groups.missing_count);
    for (std::uint32_t i = 0; i < groups.size; ++i)
        add(groups.codes[i], groups.sums[i], count_at(groups, i));
    return all;
}

}  // namespace

void Groups::start(std::size_t capacity) {
    if (codes.size() < capacity) {
        codes.resize(capacity);
        sums.resize(capacity);
    }
    size = 0;
    counts.clear();
    missing = {};
    missing_count = 0;
}

FeatureScan scan_numbers(const Groups& groups, const Moments& node, std::uint32_t min_leaf) {
    Champion champion(node, groups.counts.empty() ? 0 : min_leaf);
    const bool missing = groups.has_missing();
    Sums left;
    std::uint32_t n_left = 0;
    for (std::size_t i = 0; i + 1 < groups.size; ++i) {
        left += groups.sums[i];
        n_left += count_at(groups, i);
        const auto describe = [&](bool missing_left) {
            return [&groups, i, missing_left](FeatureScan& scan) {
                scan.below = groups.codes[i];
                scan.above = groups.codes[i + 1];
                scan.missing_left = missing_left;
            };
        };
        if (missing)
            champion.consider(left + groups.missing, n_left + groups.missing_count, describe(true));
        champion.consider(left, n_left, describe(false));
    }
    if (missing && groups.size > 0) {
        champion.consider(node.sums() - groups.missing, node.n - groups.missing_count,
                          [&](FeatureScan& scan) {
                              scan.below = groups.codes[groups.size - 1];
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
template <class Code>
void SplitFinder<Sum>::tally_dense(const Code* codes, std::uint32_t n_codes,
                                   const NodeRows<Sum>& node) {
    Sum* by_code = by_code_.data();
    const std::size_t m = node.rows.size();
    for (std::size_t i = 0; i < m; ++i) by_code[codes[node.rows[i]]] += node.sums[i];
    for (std::uint32_t code = 1; code <= n_codes; ++code)
        if (occurs(by_code[code])) {
            groups_.add(code, as_sums(by_code[code]));
            by_code[code] = {};
        }
}

// Two-valued features are common, and summing them in memory would wait for each sum before the
// next.
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
void SplitFinder<Sum>::tally_sparse(const Code* codes, std::uint32_t n_codes,
                                    const NodeRows<Sum>& node) {
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
            const std::uint32_t word =
                i * 64 + static_cast<std::uint32_t>(std::countr_zero(occupied_[i]));
            for (; words[word] != 0; words[word] &= words[word] - 1) {
                const std::uint32_t code =
                    word * 64 + static_cast<std::uint32_t>(std::countr_zero(words[word]));
                groups_.add(code, as_sums(by_code[code]));
                by_code[code] = {};
            }
        }
    }
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::count(const Code* codes, const NodeRows<Sum>& node) {
    for (const auto row : node.rows) ++count_by_code_[codes[row]];
    for (std::uint32_t i = 0; i < groups_.size; ++i) {
        groups_.counts.push_back(count_by_code_[groups_.codes[i]]);
        count_by_code_[groups_.codes[i]] = 0;
    }
    groups_.missing_count = count_by_code_[0];
    count_by_code_[0] = 0;
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally(const Code* codes, std::uint32_t n_codes, const NodeRows<Sum>& node) {
    if (n_codes <= 2)
        tally_two(codes, node);
    else if (n_codes <= 2 * node.rows.size())
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
    groups_.start(column.n_codes);
    std::visit([&](const auto& codes) { tally(codes.data(), column.n_codes, node); },
               column.codes.cells());
    groups_.missing = as_sums(by_code_[0]);
    by_code_[0] = {};
    return groups_;
}

template <class Sum>
void SplitFinder<Sum>::sum_flags(const NodeRows<Sum>& node,
                                 const std::vector<std::uint32_t>& active) {
    const auto& blocks = data_.flags.blocks();
    wanted_.assign(blocks.size(), 0);
    for (const auto feature : active)
        if (const std::int32_t bit = data_.flags.bit_of(feature); bit != Flags::kNone)
            wanted_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    flag_sums_.assign(blocks.size() * 64, Sum{});
    mixed_.assign(blocks.size(), 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (wanted_[b] == 0) continue;
        const std::uint64_t* words = blocks[b].words.data();
        Sum* sums = flag_sums_.data() + b * 64;
        std::uint64_t any = 0, all = ~std::uint64_t{0};
        for (std::size_t i = 0; i < node.rows.size(); ++i) {
            const std::uint64_t word = words[node.rows[i]] & wanted_[b];
            any |= word;
            all &= word;
            for (std::uint64_t rest = word; rest != 0; rest &= rest - 1)
                sums[std::countr_zero(rest)] += node.sums[i];
        }
        mixed_[b] = any & ~all;
    }
}

// Groups the node's rows by a flag; false if it is the same for all.
template <class Sum>
bool SplitFinder<Sum>::group_flag(std::uint32_t feature, const Moments& moments) {
    const auto bit = static_cast<std::uint32_t>(data_.flags.bit_of(feature));
    if (!(mixed_[bit / 64] >> (bit % 64) & 1)) return false;
    const Sums set = as_sums(flag_sums_[bit]);
    const Sums unset = moments.sums() - set;
    const bool second = data_.flags.set_code(feature) == 2;
    groups_.start(2);
    groups_.add(1, second ? unset : set);
    groups_.add(2, second ? set : unset);
    return true;
}

template <class Sum>
Split SplitFinder<Sum>::best(const NodeRows<Sum>& node, const Moments& moments,
                             std::vector<std::uint32_t>& active) {
    // Flags are summed, not counted, so they are of no use where leaves must have more than one
    // row.
    const bool use_flags = growth_.min_leaf == 1;
    if (use_flags) sum_flags(node, active);
    Split best;
    std::size_t kept = 0;
    for (const std::uint32_t feature : active) {
        if (use_flags && data_.flags.bit_of(feature) != Flags::kNone) {
            if (!group_flag(feature, moments)) continue;
        } else if (!group(feature, node).varies()) {
            continue;
        }
        active[kept++] = feature;
        const FeatureScan found =
            scan(data_.features[feature].kind, groups_, moments, growth_.min_leaf);
        if (found.gain > best.gain + moments.tolerance())
            best = {found.gain, static_cast<std::int32_t>(feature), found};
    }
    active.resize(kept);
    return best;
}

template class SplitFinder<Sums>;
template class SplitFinder<Counts>;

}  // namespace banditree
