#include "banditree/trees/split.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace banditree {

template <class Sum>
SplitFinder<Sum>::SplitFinder(const Dataset& data, const Growth& growth, bool weighted,
                              bool bounded)
    : data_(data), growth_(growth), weighted_(weighted), bounded_(bounded) {
    table_size_ = data.flags.blocks().size() * 64;
    for (std::uint32_t f = 0; f < data.features.size(); ++f) {
        start_.push_back(table_size_);
        if (data.flags.bit_of(f) != Flags::kNone) continue;
        table_size_ += data.features[f].n_codes + 1;
        all_by_word_ &= judges(data.features[f]) && fits_word(data.features[f]);
    }
}

template <class Sum>
void SplitFinder<Sum>::collect(const Sum* by_code, std::uint32_t n_codes) {
    for (std::uint32_t code = 1; code <= n_codes; ++code)
        groups_.add_if(occurs(by_code[code]), code, as_sums(by_code[code]));
    groups_.missing = as_sums(by_code[0]);
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally_sparse(const Code* codes, std::uint32_t n_codes) {
    Sum* by_code = by_code_.data();
    std::uint64_t* words = occurs_.data();
    for (std::size_t i = 0; i < node_.rows.size(); ++i) {
        const std::uint32_t code = codes[node_.rows[i]];
        by_code[code] += node_.sums[i];
        words[code >> 6] |= std::uint64_t{1} << (code & 63);
        occupied_[code >> 12] |= std::uint64_t{1} << ((code >> 6) & 63);
    }
    words[0] &= ~std::uint64_t{1};  // missing is not a group
    for (std::uint32_t i = 0; i <= n_codes >> 12; ++i) {
        for (; occupied_[i] != 0; occupied_[i] &= occupied_[i] - 1) {
            const auto word = i * 64 + static_cast<std::uint32_t>(std::countr_zero(occupied_[i]));
            for (; words[word] != 0; words[word] &= words[word] - 1) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(words[word]));
                const std::uint32_t code = word * 64 + bit;
                groups_.add(code, as_sums(by_code[code]));
                by_code[code] = {};
            }
        }
    }
    groups_.missing = as_sums(by_code[0]);
    by_code[0] = {};
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::count(const Code* codes) {
    for (const auto row : node_.rows) ++count_by_code_[codes[row]];
    for (std::uint32_t i = 0; i < groups_.size; ++i) {
        groups_.counts.push_back(count_by_code_[groups_.codes[i]]);
        count_by_code_[groups_.codes[i]] = 0;
    }
    groups_.missing_count = count_by_code_[0];
    count_by_code_[0] = 0;
}

template <class Sum>
template <class Code>
void SplitFinder<Sum>::tally(const Code* codes, std::uint32_t n_codes) {
    if (n_codes > 2 && n_codes > 2 * node_.rows.size()) {
        tally_sparse(codes, n_codes);
    } else {
        add_up(node_, codes, n_codes, by_code_.data());
        collect(by_code_.data(), n_codes);
        std::fill_n(by_code_.begin(), n_codes + 1, Sum{});
    }
    if (growth_.min_leaf > 1) count(codes);
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
void SplitFinder<Sum>::enter(const NodeRows<Sum>& node, const Moments& moments,
                             const std::vector<std::uint32_t>& wanted) {
    node_ = node;
    table_ = nullptr;
    moments_ = moments;
    want(wanted);
    own_flag_sums_.assign(wanted_.size() * 64, Sum{});
    sum_flags(own_flag_sums_.data());
    flag_sums_ = own_flag_sums_.data();
}

template <class Sum>
void SplitFinder<Sum>::want(const std::vector<std::uint32_t>& features) {
    wanted_.assign(data_.flags.blocks().size(), 0);
    any_.assign(wanted_.size(), 0);
    all_.assign(wanted_.size(), ~std::uint64_t{0});
    // Flags are summed, not counted, so they are of no use where leaves must have several rows.
    if (growth_.min_leaf > 1) return;
    for (const auto feature : features)
        if (const std::int32_t bit = data_.flags.bit_of(feature); bit != Flags::kNone)
            wanted_[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

template <class Sum>
void SplitFinder<Sum>::sum_flags(Sum* sums) {
    const auto& blocks = data_.flags.blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b, sums += 64) {
        if (wanted_[b] == 0) continue;
        const std::uint64_t* words = blocks[b].words.data();
        for (std::size_t i = 0; i < node_.rows.size(); ++i) {
            const std::uint64_t word = words[node_.rows[i]] & wanted_[b];
            any_[b] |= word;
            all_[b] &= word;
            for (std::uint64_t rest = word; rest != 0; rest &= rest - 1)
                sums[std::countr_zero(rest)] += node_.sums[i];
        }
    }
}

// Takes the sums of the flags from the table.
template <class Sum>
void SplitFinder<Sum>::see_flags() {
    flag_sums_ = table_;
    for (std::size_t b = 0; b < wanted_.size(); ++b) {
        for (std::uint64_t rest = wanted_[b]; rest != 0; rest &= rest - 1) {
            const int bit = std::countr_zero(rest);
            const double w = as_sums(flag_sums_[b * 64 + bit]).w;
            any_[b] |= std::uint64_t{w > 0} << bit;
            all_[b] &= ~(std::uint64_t{w < moments_.w} << bit);
        }
    }
}

template <class Sum>
bool SplitFinder<Sum>::is_summed(std::int32_t bit) const {
    return bit != Flags::kNone && (wanted_[bit / 64] >> (bit % 64) & 1);
}

template <class Sum>
void SplitFinder<Sum>::group_flag(std::uint32_t feature, std::uint32_t bit) {
    const Sums set = as_sums(flag_sums_[bit]);
    const Sums unset = moments_.sums() - set;
    const bool some = any_[bit / 64] >> (bit % 64) & 1;
    const bool all = all_[bit / 64] >> (bit % 64) & 1;
    const bool second = data_.flags.set_code(feature) == 2;
    groups_.start(2);
    if (second ? !all : some) groups_.add(1, second ? unset : set);
    if (second ? some : !all) groups_.add(2, second ? set : unset);
}

template <class Sum>
const Groups& SplitFinder<Sum>::group(std::uint32_t feature) {
    const std::int32_t bit = data_.flags.bit_of(feature);
    if (is_summed(bit)) {
        group_flag(feature, static_cast<std::uint32_t>(bit));
        return groups_;
    }
    const Feature& column = data_.features[feature];
    groups_.start(column.n_codes);
    if (table_ != nullptr) {
        collect(table_ + start_[feature], column.n_codes);
        return groups_;
    }
    make_room(column.n_codes);
    std::visit([&](const auto& codes) { tally(codes.data(), column.n_codes); },
               column.codes.cells());
    return groups_;
}

// Groups the rows by the codes of a feature if it may beat the best split so far. Most features do
// not, and to see that is far cheaper than to work out their splits.
template <class Sum>
Judgement SplitFinder<Sum>::judge(std::uint32_t feature) {
    if constexpr (std::is_same_v<Sum, Counts>) {
        const Feature& column = data_.features[feature];
        const std::int32_t bit = data_.flags.bit_of(feature);
        if (judges(column)) {
            if (is_summed(bit)) return judge_flag(feature, static_cast<std::uint32_t>(bit));
            if (table_ != nullptr || fits_word(column)) return judge_cuts(feature);
        }
    }
    return group(feature).varies() ? Judgement::open : Judgement::constant;
}

template <class Sum>
Judgement SplitFinder<Sum>::judge_flag(std::uint32_t feature, std::uint32_t bit) {
    const std::uint64_t mixed = any_[bit / 64] & ~all_[bit / 64];
    if ((mixed >> (bit % 64) & 1) == 0) return Judgement::constant;
    if (shortfall(bar_, moments_.sums(), as_sums(flag_sums_[bit])) >= 0) return Judgement::hopeless;
    group_flag(feature, bit);
    return Judgement::open;
}

template <class Sum>
Judgement SplitFinder<Sum>::judge_cuts(std::uint32_t feature)
    requires std::same_as<Sum, Counts>
{
    const Feature& column = data_.features[feature];
    if (table_ != nullptr)
        cuts_.take(table_ + start_[feature], column.n_codes);
    else
        take_cuts(column);
    if (!cuts_.vary()) return Judgement::constant;
    if (!cuts_.may_exceed(bar_, moments_.sums())) return Judgement::hopeless;
    cuts_.describe(groups_);
    return Judgement::open;
}

template <class Sum>
void SplitFinder<Sum>::take_cuts(const Feature& column)
    requires std::same_as<Sum, Counts>
{
    make_room(CountedCuts::kWordCodes);
    const auto take = [&](const auto& codes) {
        if (node_.rows.size() < 2 * column.n_codes) {
            cuts_.take_out(by_code_.data(), add_up_by_word(node_, codes.data(), by_code_.data()));
        } else {
            add_up(node_, codes.data(), column.n_codes, by_code_.data());
            cuts_.take(by_code_.data(), column.n_codes);
            std::fill_n(by_code_.begin(), column.n_codes + 1, Sum{});
        }
    };
    std::visit(take, column.codes.cells());
}

template <class Sum>
Split SplitFinder<Sum>::best(const NodeRows<Sum>& node, const Moments& moments,
                             std::vector<std::uint32_t>& active) {
    enter(node, moments, active);
    return search(moments, active);
}

template <class Sum>
Split SplitFinder<Sum>::best(const Table& table, const NodeRows<Sum>& node, const Moments& moments,
                             std::vector<std::uint32_t>& active) {
    node_ = node;
    table_ = table.data();
    moments_ = moments;
    want(active);
    see_flags();
    return search(moments, active);
}

template <class Sum>
Split SplitFinder<Sum>::search(const Moments& moments, std::vector<std::uint32_t>& active) {
    best_ = {};
    bar_ = moments.tolerance() / 2;
    scans_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t feature : active) {
        const Judgement judgement = judge(feature);
        if (judgement == Judgement::constant) continue;
        active[kept++] = feature;
        if (judgement == Judgement::hopeless) continue;
        const FeatureScan found =
            scan(data_.features[feature].kind, groups_, moments, growth_.min_leaf);
        if (bounded_) scans_.emplace_back(feature, found);
        if (found.gain <= best_.gain + moments.tolerance()) continue;
        const double gain = found.gain * credit(feature, found, moments);
        if (gain <= best_.gain + moments.tolerance()) continue;
        best_ = {gain, static_cast<std::int32_t>(feature), found};
        bar_ = best_.gain + moments.tolerance() / 2;
        if (leaves_nothing(best_)) break;
    }
    active.resize(kept);
    return best_;
}

// Whether a split explains all, so that no other can be better, and neither side can be split.
template <class Sum>
bool SplitFinder<Sum>::leaves_nothing(const Split& split) const {
    return std::is_same_v<Sum, Counts> && !bounded_ &&
           split.gain >= moments_.raw_cost() - moments_.tolerance() / 2;
}

template <class Sum>
double SplitFinder<Sum>::credit(std::uint32_t feature, const FeatureScan& found,
                                const Moments& moments) const {
    if (!growth_.adjusts_categories || data_.features[feature].kind == Kind::number) return 1;
    // Rows are counted, not their weights: copies of a row would vouch for their own category.
    if (weighted_ && found.n_categories > 2) return credit_of_rows(data_, feature, node_.rows);
    return credit_of(found, moments.n, moments.raw_cost());
}

template <class Sum>
void SplitFinder<Sum>::tabulate(const NodeRows<Sum>& node,
                                const std::vector<std::uint32_t>& features, Table& table) {
    node_ = node;
    want(features);
    table.assign(table_size_, Sum{});
    sum_flags(table.data());
    for (const auto f : features) {
        if (data_.flags.bit_of(f) != Flags::kNone) continue;
        const Feature& column = data_.features[f];
        std::visit(
            [&](const auto& codes) {
                add_up(node_, codes.data(), column.n_codes, table.data() + start_[f]);
            },
            column.codes.cells());
    }
}

template <class Sum>
std::uint32_t SplitFinder<Sum>::tabled_from() const {
    if (all_by_word_) return kWordRows;
    // Below the mean number of codes, going through those would cost more than through the rows.
    return static_cast<std::uint32_t>(table_size_ / std::max<std::size_t>(start_.size(), 1));
}

template <class Sum>
void SplitFinder<Sum>::subtract(Table& table, const Table& part,
                                const std::vector<std::uint32_t>& features) const {
    const auto take_away = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) table[i] -= part[i];
    };
    take_away(0, data_.flags.blocks().size() * 64);
    for (const auto f : features)
        if (data_.flags.bit_of(f) == Flags::kNone)
            take_away(start_[f], start_[f] + data_.features[f].n_codes + 1);
}

template <class Sum>
std::vector<float> SplitFinder<Sum>::bounds() const {
    // Constant features gain nothing.
    std::vector<float> bounds(data_.features.size(), bound_of({}, false, moments_.raw_cost()));
    for (const auto& [feature, scan] : scans_) {
        const bool own = static_cast<std::int32_t>(feature) == best_.feature;
        bounds[feature] = bound_of(scan, own && data_.features[feature].kind == Kind::number,
                                   moments_.raw_cost());
    }
    return bounds;
}

template <class Sum>
std::vector<CategoryBound> SplitFinder<Sum>::category_bounds() const {
    std::vector<CategoryBound> bounds;
    if (!growth_.adjusts_categories) return bounds;
    // Constant features gain nothing.
    bounds.resize(data_.features.size(), {0, 0, moments_.raw_cost(), 0, {}});
    for (const auto& [feature, scan] : scans_) bounds[feature] = category_bound(scan, moments_, {});
    return bounds;
}

template class SplitFinder<Sums>;
template class SplitFinder<Counts>;

}  // namespace banditree
