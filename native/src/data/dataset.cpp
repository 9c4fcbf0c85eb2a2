#include "banditree/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "banditree/data/tight.hpp"

namespace banditree {

namespace {

constexpr std::uint32_t kMaxIntegerSpan = 1 << 16;

// A column's distinct values in ascending order and how often each occurs. Each row has a slot; the
// value in slot s, if any, has rank rank_of[s] (1-based), and slot 0 is for missing values.
struct Ranking {
    std::vector<double> values;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> slots;
    std::vector<std::uint32_t> rank_of;

    void add(double value, std::uint32_t count) {
        values.push_back(value);
        counts.push_back(count);
    }
};

constexpr std::int32_t kMissing = std::numeric_limits<std::int32_t>::min();

// A column of whole numbers in a short range, kMissing for missing ones; `fits` is false for any
// other column.
struct WholeColumn {
    std::vector<std::int32_t> cells;
    std::int32_t low = std::numeric_limits<std::int32_t>::max();
    std::int32_t high = kMissing;
    bool fits = true;

    // Written without branches so that the compiler can take several numbers at a time.
    explicit WholeColumn(std::span<const double> column) : cells(column.size()) {
        std::int32_t odd = 0;
        for (std::size_t i = 0; i < column.size(); ++i) {
            const double v = column[i];
            const bool near = v > -1e9 && v < 1e9;
            const auto cell = static_cast<std::int32_t>(near ? v : 0.0);
            odd |= static_cast<double>(cell) != v && v == v;
            cells[i] = v == v ? cell : kMissing;
            high = std::max(high, cells[i]);
            low = std::min(low, v == v ? cell : low);
        }
        fits = odd == 0 && static_cast<std::int64_t>(high) - low < kMaxIntegerSpan;
    }
};

// Whole numbers in a short range are by far the commonest column; counting them beats sorting
// tenfold.
Ranking rank_by_counting(const WholeColumn& column) {
    Ranking ranking;
    const std::size_t span = column.high < column.low ? 0 : column.high - column.low + 1;
    std::vector<std::uint32_t> counts(span + 1, 0);
    ranking.slots.resize(column.cells.size());
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
        const std::int32_t cell = column.cells[i];
        const std::uint32_t slot =
            cell == kMissing ? 0 : static_cast<std::uint32_t>(cell - column.low) + 1;
        ++counts[slot];
        ranking.slots[i] = slot;
    }
    ranking.rank_of.assign(counts.size(), 0);
    for (std::uint32_t slot = 1; slot < counts.size(); ++slot) {
        if (counts[slot] == 0) continue;
        ranking.add(column.low + static_cast<double>(slot - 1), counts[slot]);
        ranking.rank_of[slot] = static_cast<std::uint32_t>(ranking.values.size());
    }
    return ranking;
}

Ranking rank_by_sorting(std::span<const double> column) {
    std::vector<std::pair<double, std::uint32_t>> order;
    order.reserve(column.size());
    for (std::uint32_t i = 0; i < column.size(); ++i)
        if (column[i] == column[i]) order.emplace_back(column[i], i);
    std::sort(order.begin(), order.end());
    Ranking ranking;
    ranking.slots.assign(column.size(), 0);
    for (const auto& [value, row] : order) {
        if (ranking.values.empty() || ranking.values.back() < value) ranking.add(value, 0);
        ++ranking.counts.back();
        ranking.slots[row] = static_cast<std::uint32_t>(ranking.values.size());
    }
    ranking.rank_of.resize(ranking.values.size() + 1);
    std::iota(ranking.rank_of.begin(), ranking.rank_of.end(), 0u);
    return ranking;
}

Ranking rank(std::span<const double> column) {
    const WholeColumn whole(column);
    return whole.fits ? rank_by_counting(whole) : rank_by_sorting(column);
}

// A column of two values and none missing, as one-hot and yes/no columns are; nothing for any
// other. It stops at the first value that does not fit, block by block so that the compiler can
// take several values at a time.
std::optional<Feature> encode_two_valued(std::span<const double> column, bool binned) {
    constexpr std::size_t kBlock = 256;
    const auto other =
        std::find_if(column.begin(), column.end(), [&](double v) { return v != column.front(); });
    if (other == column.end()) return std::nullopt;
    const double low = std::min(column.front(), *other), high = std::max(column.front(), *other);
    std::vector<std::uint8_t> codes(column.size());
    for (std::size_t begin = 0; begin < column.size(); begin += kBlock) {
        const std::size_t end = std::min(column.size(), begin + kBlock);
        int odd = 0;
        for (std::size_t i = begin; i < end; ++i) {
            odd |= (column[i] != low) & (column[i] != high);
            codes[i] = static_cast<std::uint8_t>(1 + (column[i] == high));
        }
        if (odd) return std::nullopt;
    }
    Feature feature;
    feature.binned = binned;
    feature.n_codes = 2;
    feature.values = binned ? std::vector{midpoint_below(low, high)} : std::vector{low, high};
    feature.codes.adopt(codes);
    return feature;
}

Feature encode_categories(std::span<const double> column) {
    Feature feature;
    feature.kind = Kind::category;
    std::vector<std::uint32_t> codes(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
        codes[i] = feature.code_of(column[i]);
        feature.n_codes = std::max(feature.n_codes, codes[i]);
    }
    feature.codes.assign(codes, feature.n_codes);
    return feature;
}

// How many of the ascending edges are below a value. Without a branch that a processor would have
// to guess: half of the guesses would be wrong.
std::uint32_t edges_below(std::span<const double> edges, double value) {
    const double* first = edges.data();
    for (std::size_t n = edges.size(); n > 0;) {
        const std::size_t half = (n + 1) / 2;
        first += half * static_cast<std::size_t>(first[half - 1] < value);
        n -= half;
    }
    return static_cast<std::uint32_t>(first - edges.data());
}

// The bin (1-based) of each rank, given edges between the values.
std::vector<std::uint32_t> bins_of_ranks(std::span<const double> values,
                                         std::span<const double> edges) {
    std::vector<std::uint32_t> bins(values.size() + 1, 0);
    std::uint32_t bin = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        while (bin <= edges.size() && values[i] > edges[bin - 1]) ++bin;
        bins[i + 1] = bin;
    }
    return bins;
}

// Eight columns of the matrix, one after the other: as many as one line of the cache holds of a
// row.
constexpr std::size_t kColumnsAtATime = 8;

void copy_columns(const Matrix& matrix, std::span<const std::uint32_t> rows, std::size_t first,
                  std::vector<double>& columns) {
    const std::size_t n = rows.size();
    const std::size_t count = std::min(kColumnsAtATime, matrix.columns - first);
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = matrix.data + rows[i] * matrix.columns + first;
        for (std::size_t f = 0; f < count; ++f) columns[f * n + i] = row[f];
    }
}

}  // namespace

std::uint32_t Feature::code_of(double value) const {
    if (std::isnan(value)) return 0;
    if (kind == Kind::category) return static_cast<std::uint32_t>(value) + 1;
    return edges_below(values, value) + 1;
}

std::uint32_t Feature::push(double value) {
    const std::uint32_t code = code_of(value);
    n_codes = std::max(n_codes, code);
    codes.push(code);
    return code;
}

double Feature::value_of(std::uint32_t code) const {
    if (code == 0) return std::numeric_limits<double>::quiet_NaN();
    if (kind == Kind::category) return code - 1;
    if (code <= values.size()) return values[code - 1];
    return values.empty() ? 0 : std::nextafter(values.back(), std::numeric_limits<double>::max());
}

double Feature::threshold(std::uint32_t below, std::uint32_t above) const {
    if (above > n_codes) return std::numeric_limits<double>::infinity();
    return binned ? values[below - 1] : midpoint_below(values[below - 1], values[above - 1]);
}

void Flags::build(const std::vector<Feature>& features, std::size_t n_first, std::size_t n_rows) {
    blocks_.clear();
    bit_of_.assign(features.size(), kNone);
    set_code_.assign(features.size(), 0);
    std::vector<std::vector<std::uint64_t>> words;
    std::int32_t n_bits = 0;
    for (std::uint32_t f = 0; f < features.size(); ++f) {
        const CodeColumn& codes = features[f].codes;
        if (features[f].n_codes < 2) continue;
        const std::size_t twos = codes.count(2, n_first);
        // A category may have come to further codes since.
        if (features[f].kind == Kind::category ? twos == 0 : features[f].n_codes != 2) continue;
        if (codes.count(1, n_first) + twos != n_first) continue;
        if (n_bits % 64 == 0) {
            blocks_.emplace_back();
            words.emplace_back(n_rows, 0);
        }
        Block& block = blocks_.back();
        set_code_[f] = 2 * twos <= n_first ? 2 : 1;
        codes.set_bits(set_code_[f], n_bits % 64, words.back());
        block.features.push_back(f);
        if (features[f].n_codes == 2 && codes.count(0, n_rows) == 0) bit_of_[f] = n_bits;
        ++n_bits;
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        blocks_[i].words = Cells<std::uint64_t>(words[i]);
}

void Flags::push(const std::vector<Feature>& features, std::span<const std::uint32_t> codes) {
    for (Block& block : blocks_) {
        std::uint64_t word = 0;
        for (std::size_t bit = 0; bit < block.features.size(); ++bit) {
            const std::uint32_t f = block.features[bit];
            if (codes[f] == 0 || features[f].n_codes != 2) bit_of_[f] = kNone;
            word |= static_cast<std::uint64_t>(codes[f] == set_code_[f]) << bit;
        }
        block.words.push_back(word);
    }
}

std::size_t Flags::bytes() const {
    std::size_t total = (bit_of_.capacity() + set_code_.capacity()) * sizeof(std::uint32_t);
    for (const Block& block : blocks_)
        total += block.words.capacity() * sizeof(std::uint64_t) +
                 block.features.capacity() * sizeof(std::uint32_t);
    return total;
}

void Dataset::push_reward(double reward) {
    y.push_back(reward - offset);
    binary &= y.back() == 0 || y.back() == 1;
}

std::size_t Dataset::bytes() const {
    std::size_t total = (y.capacity() + w.capacity()) * sizeof(double) + flags.bytes();
    for (const Feature& feature : features)
        total +=
            sizeof(Feature) + feature.codes.bytes() + feature.values.capacity() * sizeof(double);
    return total;
}

double offset_of(double smallest, double largest) { return std::clamp(0.0, smallest, largest); }

double midpoint_below(double low, double high) {
    const double middle = std::midpoint(low, high);
    return middle < high ? middle : low;
}

std::vector<double> bin_edges(std::span<const double> values, std::span<const std::uint32_t> counts,
                              std::uint32_t max_bins) {
    const std::uint64_t n = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const bool all = values.size() <= max_bins;
    std::vector<double> edges;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const std::uint64_t before = seen * max_bins / n;
        seen += counts[i];
        if (all || seen * max_bins / n > before)
            edges.push_back(midpoint_below(values[i], values[i + 1]));
    }
    return edges;
}

Feature encode_column(std::span<const double> column, Kind kind, std::uint32_t max_bins) {
    if (kind == Kind::category) return encode_categories(column);
    if (auto feature = encode_two_valued(column, max_bins > 0)) return *std::move(feature);
    Ranking ranking = rank(column);
    Feature feature;
    if (max_bins == 0) {
        feature.n_codes = static_cast<std::uint32_t>(ranking.values.size());
        feature.values = std::move(ranking.values);
    } else {
        feature.binned = true;
        feature.values = bin_edges(ranking.values, ranking.counts, max_bins);
        feature.n_codes = static_cast<std::uint32_t>(feature.values.size()) + 1;
        const auto bins = bins_of_ranks(ranking.values, feature.values);
        for (auto& rank : ranking.rank_of) rank = bins[rank];
    }
    feature.codes.assign(ranking.slots, ranking.rank_of, feature.n_codes);
    return feature;
}

Feature encode_column_on(std::span<const double> column, std::vector<double> edges) {
    Feature feature;
    feature.binned = true;
    feature.n_codes = static_cast<std::uint32_t>(edges.size()) + 1;
    feature.values = std::move(edges);
    std::vector<std::uint32_t> codes(column.size());
    std::transform(column.begin(), column.end(), codes.begin(),
                   [&](double v) { return feature.code_of(v); });
    feature.codes.assign(codes, feature.n_codes);
    return feature;
}

Dataset encode(const Matrix& matrix, std::span<const double> y, std::span<const double> w,
               const Encoding& encoding) {
    std::vector<std::uint32_t> rows;
    rows.reserve(matrix.rows);
    for (std::uint32_t i = 0; i < matrix.rows; ++i)
        if (w.empty() || w[i] > 0) rows.push_back(i);

    Dataset data;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto row : rows) low = std::min(low, y[row]), high = std::max(high, y[row]);
    if (!rows.empty()) data.offset = offset_of(low, high);
    data.y.reserve(rows.size());
    for (const auto row : rows) data.push_reward(y[row]);
    if (!w.empty())
        for (const auto row : rows) data.w.push_back(w[row]);

    std::vector<double> columns(rows.size() * kColumnsAtATime);
    for (std::size_t f = 0; f < matrix.columns; ++f) {
        if (f % kColumnsAtATime == 0) copy_columns(matrix, rows, f, columns);
        const std::span<const double> column(columns.data() + f % kColumnsAtATime * rows.size(),
                                             rows.size());
        if (!encoding.given_edges.empty() && encoding.kinds[f] == Kind::number)
            data.features.push_back(encode_column_on(column, encoding.given_edges[f]));
        else
            data.features.push_back(encode_column(column, encoding.kinds[f], encoding.max_bins));
    }
    data.flags.build(data.features, rows.size(), rows.size());
    return data;
}

}  // namespace banditree
