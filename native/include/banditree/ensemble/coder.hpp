// Contexts as the members of the ensemble see them: a byte a feature for trees, numbers on a common
// scale for linear models.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/raw_column.hpp"
#include "banditree/state.hpp"

namespace banditree {

class Coder {
 public:
    // A set of codes is one word. Code 0 is a missing value; then come the bins of a number in
    // ascending order, or the commonest categories, and last all other categories.
    static constexpr std::uint32_t kCodes = 64;
    static constexpr std::uint8_t kMissing = 0;
    static constexpr std::uint8_t kRare = kCodes - 1;

    Coder() = default;
    // Bins of about equal count, common categories and scales of some rows.
    Coder(std::span<const RawColumn> columns, const std::vector<Kind>& kinds);

    // One byte and one number per feature up to the last that had a value.
    void encode(const double* context, std::uint8_t* codes, float* scaled) const;
    std::vector<std::uint8_t> codes_of(std::uint32_t feature, const RawColumn& column) const;
    std::vector<float> scaled_of(std::uint32_t feature, const RawColumn& column) const;

    std::size_t n_features() const { return features_.size(); }
    bool is_category(std::uint32_t feature) const { return features_[feature].is_category; }
    std::uint8_t code_of(std::uint32_t feature, double value) const {
        return features_[feature].code(value);
    }
    // How many codes may occur: 1 of a feature without a value.
    std::uint32_t n_codes(std::uint32_t feature) const { return features_[feature].n_codes; }
    // The id of the category that has a code of its own; -1 for missing and rare ones.
    std::int64_t category_of(std::uint32_t feature, std::uint8_t code) const;
    // Of contexts that have a code of a category.
    double share(std::uint32_t feature, std::uint8_t code) const {
        return features_[feature].shares[code];
    }
    double mean(std::uint32_t feature) const { return features_[feature].mean; }
    double deviation(std::uint32_t feature) const { return features_[feature].deviation; }

    void write(ByteWriter& out) const;
    static Coder read(ByteReader& in);

 private:
    struct CodedFeature {
        bool is_category = false;
        std::uint32_t n_codes = 1;
        std::vector<double> edges;          // of a number's bins
        std::vector<std::uint8_t> code_of;  // of a category's id
        std::vector<double> shares;         // of contexts with each code of a category
        double mean = 0;
        double deviation = 1;

        std::uint8_t code(double value) const;
        float scaled(double value) const;
    };
    static CodedFeature coded_number(std::span<const double> values);
    static CodedFeature coded_category(std::span<const double> values);

    std::vector<CodedFeature> features_;
};

}  // namespace banditree
