#include "banditree/bandit_forest/binarizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace banditree {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How often each value occurs in a column, missing ones left out.
std::map<double, std::uint32_t> count_values(const Matrix& sample, std::size_t column) {
    std::map<double, std::uint32_t> counts;
    for (std::size_t row = 0; row < sample.rows; ++row)
        if (const double value = sample.at(row, column); !std::isnan(value)) ++counts[value];
    return counts;
}

std::vector<Bit> bits_of_number(std::uint32_t feature,
                                const std::map<double, std::uint32_t>& counts) {
    std::vector<double> values;
    std::vector<std::uint32_t> times;
    for (const auto& [value, count] : counts) values.push_back(value), times.push_back(count);
    std::vector<Bit> bits;
    if (values.empty()) return bits;
    double low = -kInfinity;
    for (const double edge : bin_edges(values, times, Binarizer::kIntervals)) {
        bits.push_back({feature, low, edge});
        low = edge;
    }
    bits.push_back({feature, low, kInfinity});
    return bits;
}

std::vector<Bit> bits_of_category(std::uint32_t feature,
                                  const std::map<double, std::uint32_t>& counts) {
    std::vector<Bit> bits;
    for (const auto& [id, count] : counts) bits.push_back({feature, id, id});
    return bits;
}

}  // namespace

Binarizer::Binarizer(const Matrix& sample, std::span<const Kind> kinds) {
    for (std::uint32_t feature = 0; feature < kinds.size(); ++feature) {
        const auto counts = count_values(sample, feature);
        std::size_t present = 0;
        for (const auto& [value, count] : counts) present += count;
        add_feature(kinds[feature] == Kind::category ? bits_of_category(feature, counts)
                                                     : bits_of_number(feature, counts),
                    present < sample.rows);
    }
}

void Binarizer::add_feature(std::vector<Bit> bits, bool sometimes_missing) {
    const std::size_t forms = bits.size() + (sometimes_missing ? 1 : 0);
    if (bits.empty() || forms < 2) return;
    if (forms == 2)
        bits_.push_back(bits.back());
    else
        bits_.insert(bits_.end(), bits.begin(), bits.end());
}

bool Binarizer::uses(std::uint32_t feature) const {
    return std::any_of(bits_.begin(), bits_.end(),
                       [feature](const Bit& bit) { return bit.feature == feature; });
}

void Binarizer::write(StateWriter& out) const {
    out.whole(bits_.size());
    for (const Bit& bit : bits_) {
        out.whole(bit.feature);
        out.number(bit.low);
        out.number(bit.high);
    }
}

Binarizer Binarizer::read(StateReader& in, std::span<const Kind> kinds) {
    Binarizer result;
    result.bits_.resize(in.length());
    for (Bit& bit : result.bits_) {
        bit.feature = in.index(kinds.size());
        bit.low = in.between(-kInfinity, kInfinity);
        bit.high = in.between(bit.low, kInfinity);
        StateReader::require(bit.is_category() == (kinds[bit.feature] == Kind::category));
    }
    return result;
}

}  // namespace banditree
