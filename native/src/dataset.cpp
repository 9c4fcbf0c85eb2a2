#include "banditree/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace banditree {

namespace {

constexpr std::uint32_t kMaxIntegerSpan = 1 << 16;

// A column's distinct values in ascending order, how often each occurs, and each row's rank (1-based, 0: missing).
struct Ranking {
    std::vector<double> values;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> ranks;
};

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    bool whole = true;
};

Range range_of(std::span<const double> column) {
    Range range;
    for (const double v : column) {
        if (std::isnan(v)) continue;
        range.low = std::min(range.low, v);
        range.high = std::max(range.high, v);
        range.whole &= std::nearbyint(v) == v;
    }
    return range;
}

// Whole numbers in a short range are by far the commonest column; counting them beats sorting tenfold.
Ranking rank_by_counting(std::span<const double> column, const Range& range) {
    const auto span = static_cast<std::uint32_t>(range.high - range.low) + 1;
    std::vector<std::uint32_t> rank_at(span, 0);
    for (const double v : column)
        if (!std::isnan(v)) ++rank_at[static_cast<std::uint32_t>(v - range.low)];
    Ranking ranking;
    for (std::uint32_t i = 0; i < span; ++i) {
        if (rank_at[i] == 0) continue;
        ranking.values.push_back(range.low + i);
        ranking.counts.push_back(rank_at[i]);
        rank_at[i] = static_cast<std::uint32_t>(ranking.values.size());
    }
    ranking.ranks.resize(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
        const double v = column[i];
        ranking.ranks[i] = std::isnan(v) ? 0 : rank_at[static_cast<std::uint32_t>(v - range.low)];
    }
    return ranking;
}

Ranking rank_by_sorting(std::span<const double> column) {
    std::vector<std::uint32_t> order;
    order.reserve(column.size());
    for (std::uint32_t i = 0; i < column.size(); ++i)
        if (!std::isnan(column[i])) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return column[a] < column[b]; });
    Ranking ranking;
    ranking.ranks.assign(column.size(), 0);
    for (const std::uint32_t row : order) {
        if (ranking.values.empty() || ranking.values.back() < column[row]) {
            ranking.values.push_back(column[row]);
            ranking.counts.push_back(0);
        }
        ++ranking.counts.back();
        ranking.ranks[row] = static_cast<std::uint32_t>(ranking.values.size());
    }
    return ranking;
}

Ranking rank(std::span<const double> column) {
    const Range range = range_of(column);
    if (range.whole && range.high - range.low < kMaxIntegerSpan) return rank_by_counting(column, range);
    return rank_by_sorting(column);
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

// The bin (1-based) of each rank, given edges between the values.
std::vector<std::uint32_t> bins_of_ranks(std::span<const double> values, std::span<const double> edges) {
    std::vector<std::uint32_t> bins(values.size() + 1, 0);
    std::uint32_t bin = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        while (bin <= edges.size() && values[i] > edges[bin - 1]) ++bin;
        bins[i + 1] = bin;
    }
    return bins;
}

// Row by row in C order to column by column, without the rows of no weight. Blocks keep both sides in cache.
std::vector<double> transpose(const Matrix& matrix, std::span<const std::uint32_t> rows) {
    constexpr std::size_t kBlock = 32;
    const std::size_t n = rows.size();
    std::vector<double> columns(n * matrix.columns);
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t end = std::min(n, begin + kBlock);
        for (std::size_t f = 0; f < matrix.columns; ++f)
            for (std::size_t i = begin; i < end; ++i) columns[f * n + i] = matrix.at(rows[i], f);
    }
    return columns;
}

}  // namespace

void CodeColumn::widen_for(std::uint32_t code) {
    const auto copy_into = [&](auto wide) {
        std::visit([&](const auto& narrow) { wide.assign(narrow.begin(), narrow.end()); }, cells_);
        cells_ = std::move(wide);
    };
    if (cells_.index() == 0 && code > std::numeric_limits<std::uint8_t>::max())
        copy_into(std::vector<std::uint16_t>());
    if (cells_.index() == 1 && code > std::numeric_limits<std::uint16_t>::max())
        copy_into(std::vector<std::uint32_t>());
}

void CodeColumn::reserve(std::size_t n) {
    std::visit([n](auto& cells) { cells.reserve(n); }, cells_);
}

void CodeColumn::push(std::uint32_t code) {
    widen_for(code);
    std::visit(
        [code](auto& cells) { cells.push_back(static_cast<typename std::decay_t<decltype(cells)>::value_type>(code)); },
        cells_);
}

void CodeColumn::assign(std::span<const std::uint32_t> codes, std::uint32_t largest) {
    cells_ = std::vector<std::uint8_t>();
    widen_for(largest);
    std::visit([codes](auto& cells) { cells.assign(codes.begin(), codes.end()); }, cells_);
}

std::uint32_t CodeColumn::at(std::size_t row) const {
    return std::visit([row](const auto& cells) { return static_cast<std::uint32_t>(cells[row]); }, cells_);
}

std::size_t CodeColumn::bytes() const {
    return std::visit([](const auto& cells) { return cells.capacity() * sizeof(cells[0]); }, cells_);
}

std::uint32_t Feature::code_of(double value) const {
    if (std::isnan(value)) return 0;
    if (kind == Kind::category) return static_cast<std::uint32_t>(value) + 1;
    return static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin()) + 1;
}

double Feature::threshold(std::uint32_t below, std::uint32_t above) const {
    if (above > n_codes) return std::numeric_limits<double>::infinity();
    return binned ? values[below - 1] : midpoint_below(values[below - 1], values[above - 1]);
}

void Dataset::push_reward(double reward) {
    y.push_back(reward - offset);
    binary &= y.back() == 0 || y.back() == 1;
}

std::size_t Dataset::bytes() const {
    std::size_t total = (y.capacity() + w.capacity()) * sizeof(double);
    for (const Feature& feature : features)
        total += sizeof(Feature) + feature.codes.bytes() + feature.values.capacity() * sizeof(double);
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
        if (all || seen * max_bins / n > before) edges.push_back(midpoint_below(values[i], values[i + 1]));
    }
    return edges;
}

Feature encode_column(std::span<const double> column, Kind kind, std::uint32_t max_bins) {
    if (kind == Kind::category) return encode_categories(column);
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
        for (auto& code : ranking.ranks) code = bins[code];
    }
    feature.codes.assign(ranking.ranks, feature.n_codes);
    return feature;
}

Feature encode_column_on(std::span<const double> column, std::vector<double> edges) {
    Feature feature;
    feature.binned = true;
    feature.n_codes = static_cast<std::uint32_t>(edges.size()) + 1;
    feature.values = std::move(edges);
    std::vector<std::uint32_t> codes(column.size());
    std::transform(column.begin(), column.end(), codes.begin(), [&](double v) { return feature.code_of(v); });
    feature.codes.assign(codes, feature.n_codes);
    return feature;
}

Dataset encode(const Matrix& matrix, std::span<const double> y, std::span<const double> w, const Encoding& encoding) {
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

    const auto columns = transpose(matrix, rows);
    for (std::size_t f = 0; f < matrix.columns; ++f) {
        const std::span<const double> column(columns.data() + f * rows.size(), rows.size());
        if (!encoding.given_edges.empty() && encoding.kinds[f] == Kind::number)
            data.features.push_back(encode_column_on(column, encoding.given_edges[f]));
        else
            data.features.push_back(encode_column(column, encoding.kinds[f], encoding.max_bins));
    }
    return data;
}

}  // namespace banditree
