#include "banditree/ensemble/coder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace banditree {

namespace {

// Numbers further from the mean are taken to be so many standard deviations away.
constexpr double kFarthest = 5;

// Of rarer categories, no arm can have enough rows to tell it from the others.
constexpr std::uint32_t kCommon = 5;

std::vector<std::uint32_t> counts_of(std::span<const double> ids) {
    std::vector<std::uint32_t> counts;
    for (const double id : ids) {
        if (std::isnan(id)) continue;
        const auto index = static_cast<std::size_t>(id);
        if (index >= counts.size()) counts.resize(index + 1, 0);
        ++counts[index];
    }
    return counts;
}

}  // namespace

std::uint8_t Coder::CodedFeature::code(double value) const {
    if (value != value) return kMissing;
    if (is_category) {
        const auto id = static_cast<std::size_t>(value);
        return id < code_of.size() ? code_of[id] : kRare;
    }
    const auto edge = std::lower_bound(edges.begin(), edges.end(), value);
    return static_cast<std::uint8_t>(edge - edges.begin() + 1);
}

float Coder::CodedFeature::scaled(double value) const {
    if (is_category || value != value) return 0;
    return static_cast<float>(std::clamp((value - mean) / deviation, -kFarthest, kFarthest));
}

Coder::Coder(std::span<const RawColumn> columns, const std::vector<Kind>& kinds) {
    for (std::size_t f = 0; f < columns.size(); ++f) {
        // Features without a value so far change nothing, whatever they will turn out to be.
        if (columns[f].empty_of_values()) continue;
        const std::vector<double> values = columns[f].first(columns[f].size());
        features_.resize(f);
        features_.push_back(kinds[f] == Kind::category ? coded_category(values)
                                                       : coded_number(values));
    }
}

Coder::CodedFeature Coder::coded_number(std::span<const double> values) {
    CodedFeature feature;
    feature.edges = encode_column(values, Kind::number, kCodes - 1).values;
    feature.n_codes = static_cast<std::uint32_t>(feature.edges.size()) + 2;
    double n = 0, squares = 0;
    for (const double any : values) {
        if (any != any) continue;
        // Of larger numbers, sums of squares would be no numbers.
        const double value = std::clamp(any, -kLargest, kLargest);
        const double step = value - feature.mean;
        feature.mean += step / ++n;
        squares += step * (value - feature.mean);
    }
    // Squares of tiny differences may be 0.
    const double variance = squares / std::max(n, 1.0);
    if (variance > 0) feature.deviation = std::sqrt(variance);
    return feature;
}

Coder::CodedFeature Coder::coded_category(std::span<const double> values) {
    CodedFeature feature;
    feature.is_category = true;
    feature.n_codes = kCodes;
    const std::vector<std::uint32_t> counts = counts_of(values);
    std::vector<std::uint32_t> common;
    for (std::uint32_t id = 0; id < counts.size(); ++id)
        if (counts[id] >= kCommon) common.push_back(id);
    std::stable_sort(common.begin(), common.end(),
                     [&](auto a, auto b) { return counts[a] > counts[b]; });
    common.resize(std::min<std::size_t>(common.size(), kRare - 1));
    feature.code_of.assign(counts.size(), kRare);
    for (std::size_t i = 0; i < common.size(); ++i)
        feature.code_of[common[i]] = static_cast<std::uint8_t>(i + 1);
    feature.shares.assign(kCodes, 0);
    for (const double value : values) feature.shares[feature.code(value)] += 1;
    for (double& share : feature.shares) share /= static_cast<double>(values.size());
    return feature;
}

void Coder::encode(const double* context, std::uint8_t* codes, float* scaled) const {
    for (std::size_t f = 0; f < features_.size(); ++f) {
        codes[f] = features_[f].code(context[f]);
        scaled[f] = features_[f].scaled(context[f]);
    }
}

std::vector<std::uint8_t> Coder::codes_of(std::uint32_t feature, const RawColumn& column) const {
    std::vector<std::uint8_t> codes(column.size());
    const std::vector<double> values = column.first(column.size());
    std::transform(values.begin(), values.end(), codes.begin(),
                   [&](double value) { return features_[feature].code(value); });
    return codes;
}

std::vector<float> Coder::scaled_of(std::uint32_t feature, const RawColumn& column) const {
    std::vector<float> scaled(column.size());
    const std::vector<double> values = column.first(column.size());
    std::transform(values.begin(), values.end(), scaled.begin(),
                   [&](double value) { return features_[feature].scaled(value); });
    return scaled;
}

std::int64_t Coder::category_of(std::uint32_t feature, std::uint8_t code) const {
    const std::vector<std::uint8_t>& code_of = features_[feature].code_of;
    if (code == kMissing || code == kRare) return -1;
    return std::find(code_of.begin(), code_of.end(), code) - code_of.begin();
}

void Coder::write(ByteWriter& out) const {
    out.put<std::uint64_t>(features_.size());
    for (const CodedFeature& feature : features_) {
        out.put<std::uint8_t>(feature.is_category);
        out.array(feature.edges);
        out.array(feature.code_of);
        out.array(feature.shares);
        out.put(feature.mean);
        out.put(feature.deviation);
    }
}

Coder Coder::read(ByteReader& in) {
    Coder coder;
    coder.features_.resize(in.length(1));
    for (CodedFeature& feature : coder.features_) {
        feature.is_category = in.flag();
        feature.edges = in.array<double>();
        feature.code_of = in.array<std::uint8_t>();
        feature.shares = in.array<double>();
        feature.mean = in.between(-kLargest, kLargest);
        feature.deviation = in.get<double>();
        ByteReader::require(feature.deviation > 0 && std::isfinite(feature.deviation));
        ByteReader::require(feature.edges.size() <= kCodes - 2);
        ByteReader::require(feature.shares.size() == (feature.is_category ? kCodes : 0));
        for (const double share : feature.shares) ByteReader::require(share >= 0 && share <= 1);
        ByteReader::require(std::is_sorted(feature.edges.begin(), feature.edges.end()));
        for (const double edge : feature.edges) ByteReader::require(std::isfinite(edge));
        for (const std::uint8_t code : feature.code_of) ByteReader::require(code < kCodes);
        feature.n_codes =
            feature.is_category ? kCodes : static_cast<std::uint32_t>(feature.edges.size()) + 2;
    }
    return coder;
}

}  // namespace banditree
