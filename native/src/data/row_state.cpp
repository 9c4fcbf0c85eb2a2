// Rows as bytes: values in their narrowest types and the edges of bins. Codes are found again, so
// that they cannot disagree with the values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "banditree/data/raw_column.hpp"
#include "banditree/data/row_store.hpp"

namespace banditree {

namespace {

using Reader = ByteReader;

// Without branches, so that the compiler can take several cells at a time.
template <class Cell>
RawColumn::Range range_of(const Cells<Cell>& cells) {
    if constexpr (std::is_integral_v<Cell>) {
        constexpr Cell missing = std::numeric_limits<Cell>::min();
        Cell low = std::numeric_limits<Cell>::max(), high = missing;
        bool some_missing = false;
        for (const Cell cell : cells) {
            some_missing |= cell == missing;
            low = std::min(low, cell == missing ? low : cell);
            high = std::max(high, cell);
        }
        return {static_cast<double>(low), static_cast<double>(high), some_missing, true};
    } else {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        bool some_missing = false, whole = true;
        for (const double cell : cells) {
            some_missing |= cell != cell;
            low = cell < low ? cell : low;
            high = cell > high ? cell : high;
            whole &= cell != cell || cell == std::floor(cell);
        }
        return {low, high, some_missing, whole};
    }
}

// Whole numbers in a short range: each number of the range is encoded once, and then looked up.
template <class Cell>
Feature encode_by_lookup(const Cells<Cell>& cells, double lowest, double highest,
                         std::vector<double> edges) {
    const auto low = static_cast<std::int32_t>(lowest);
    std::vector<double> numbers{std::numeric_limits<double>::quiet_NaN()};
    for (double number = lowest; number <= highest; ++number) numbers.push_back(number);
    Feature feature = encode_column_on(numbers, std::move(edges));
    std::vector<std::uint32_t> code_of(numbers.size()), slots(cells.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) code_of[i] = feature.codes.at(i);
    std::transform(cells.begin(), cells.end(), slots.begin(), [low](Cell cell) {
        const bool missing = cell == std::numeric_limits<Cell>::min();
        return missing ? 0 : static_cast<std::uint32_t>(cell - low) + 1;
    });
    feature.codes.assign(slots, code_of, feature.n_codes);
    return feature;
}

}  // namespace

RawColumn::Range RawColumn::range() const {
    return std::visit([](const auto& cells) { return range_of(cells); }, cells_);
}

bool RawColumn::suits(Kind kind) const {
    const Range found = range();
    if (found.lowest > found.highest) return true;
    if (!std::isfinite(found.lowest) || !std::isfinite(found.highest)) return false;
    if (kind == Kind::number) return true;
    return found.whole && found.lowest >= 0 && found.highest < kMaxCategories;
}

Feature RawColumn::encode_on(std::vector<double> edges) const {
    const Range found = range();
    const bool short_range = found.highest - found.lowest < static_cast<double>(size());
    return std::visit(
        [&](const auto& cells) {
            using Cell = typename std::decay_t<decltype(cells)>::value_type;
            if constexpr (std::is_integral_v<Cell>)
                if (short_range)
                    return encode_by_lookup(cells, found.lowest, found.highest, std::move(edges));
            return encode_column_on(first(size()), std::move(edges));
        },
        cells_);
}

void RawColumn::write(ByteWriter& out) const {
    out.put(static_cast<std::uint8_t>(cells_.index()));
    std::visit([&](const auto& cells) { out.array(cells.span()); }, cells_);
}

RawColumn RawColumn::read(ByteReader& in) {
    RawColumn column;
    switch (in.between<std::uint8_t>(0, 3)) {
        case 0:
            column.cells_ = Cells<std::int8_t>(in.array<std::int8_t>());
            break;
        case 1:
            column.cells_ = Cells<std::int16_t>(in.array<std::int16_t>());
            break;
        case 2:
            column.cells_ = Cells<std::int32_t>(in.array<std::int32_t>());
            break;
        default:
            column.cells_ = Cells<double>(in.array<double>());
    }
    return column;
}

void write_kinds(ByteWriter& out, const std::vector<Kind>& kinds) {
    out.put<std::uint64_t>(kinds.size());
    for (const Kind kind : kinds) out.put<std::uint8_t>(kind == Kind::category);
}

std::vector<Kind> read_kinds(Reader& in) {
    std::vector<Kind> kinds(in.length(1));
    for (Kind& kind : kinds) kind = in.flag() ? Kind::category : Kind::number;
    return kinds;
}

void RowStore::write(ByteWriter& out) const {
    out.put<std::uint8_t>(exact());
    rewards_.write(out);
    out.array(data_.w);
    out.put<std::uint64_t>(renewed_at_);
    out.put<std::uint64_t>(kinds_.size());
    for (std::size_t f = 0; f < kinds_.size(); ++f) {
        out.put<std::uint8_t>(kinds_[f] == Kind::category);
        columns_[f].write(out);
        if (!exact() && kinds_[f] == Kind::number) out.array(data_.features[f].values);
    }
}

RowStore RowStore::read(ByteReader& in, std::uint32_t max_bins) {
    RowStore store(max_bins);
    Reader::require(in.flag() == store.exact());
    store.read_rewards(in);
    store.read_features(in);
    return store;
}

void RowStore::read_rewards(ByteReader& in) {
    rewards_ = RawColumn::read(in);
    const std::size_t n = rewards_.size();
    const RawColumn::Range range = rewards_.range();
    Reader::require(n <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    if (n > 0) {
        Reader::require(!range.some_missing && range.lowest >= -kLargest &&
                        range.highest <= kLargest);
        lowest_ = range.lowest, highest_ = range.highest;
        data_.offset = offset_of(lowest_, highest_);
    }
    retake_rewards();
    data_.w = in.array<double>();
    Reader::require(data_.w.empty() || data_.w.size() == n);
    for (const double weight : data_.w) Reader::require(weight > 0 && weight <= kLargest);
    renewed_at_ = static_cast<std::size_t>(in.between<std::uint64_t>(n > 0, n));
}

void RowStore::read_features(ByteReader& in) {
    const std::size_t n_features = in.length(2);
    for (std::size_t f = 0; f < n_features; ++f)
        read_column(in, in.flag() ? Kind::category : Kind::number);
    if (!exact() && n_rows() > 0) data_.flags.build(data_.features, renewed_at_, n_rows());
}

void RowStore::read_column(ByteReader& in, Kind kind) {
    RawColumn column = RawColumn::read(in);
    Reader::require(column.size() == n_rows());
    Reader::require(column.suits(kind));
    if (!exact() && kind == Kind::category)
        data_.features.push_back(encode_column(column.first(n_rows()), kind, max_bins_));
    if (!exact() && kind == Kind::number) {
        auto edges = in.array<double>();
        Reader::require(edges.size() < max_bins_);
        for (std::size_t i = 0; i < edges.size(); ++i)
            Reader::require(std::isfinite(edges[i]) && (i == 0 || edges[i - 1] < edges[i]));
        data_.features.push_back(column.encode_on(std::move(edges)));
    }
    kinds_.push_back(kind);
    columns_.push_back(std::move(column));
}

}  // namespace banditree
