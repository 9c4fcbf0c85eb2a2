#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

using namespace banditree;

namespace {

std::uint32_t positive(std::int64_t value, std::int64_t least, const char* name) {
    if (value < least || value > std::numeric_limits<std::int32_t>::max())
        throw std::invalid_argument(std::string(name) + " must be at least " +
                                    std::to_string(least) + ", got " + std::to_string(value));
    return static_cast<std::uint32_t>(value);
}

}  // namespace

void check_aligned(const void* data) {
    static_assert(alignof(double) == alignof(std::int64_t));
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(double) != 0)
        throw std::invalid_argument("an array is not aligned");
}

Matrix as_matrix(const DoubleMatrix& matrix) {
    check_aligned(matrix.data());
    return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

std::span<const double> as_span(const DoubleArray& array) {
    check_aligned(array.data());
    return {array.data(), array.shape(0)};
}

std::vector<Kind> as_kinds(const ByteArray& categorical) {
    std::vector<Kind> kinds;
    for (std::size_t i = 0; i < categorical.shape(0); ++i)
        kinds.push_back(categorical.data()[i] ? Kind::category : Kind::number);
    return kinds;
}

Growth as_growth(std::int64_t min_split, std::int64_t min_leaf,
                 std::optional<std::int64_t> max_depth, bool adjusted) {
    Growth growth;
    growth.min_split = positive(min_split, 2, "min_split");
    growth.min_leaf = positive(min_leaf, 1, "min_leaf");
    if (max_depth) growth.max_depth = positive(*max_depth, 0, "max_depth");
    growth.adjusts_categories = adjusted;
    return growth;
}

std::uint32_t as_max_bins(std::optional<std::int64_t> max_bins) {
    return max_bins ? positive(*max_bins, 2, "max_bins") : 0;
}

std::uint32_t as_folds(std::int64_t folds) { return positive(folds, 2, "folds"); }

void check_contexts(const Matrix& matrix, const std::vector<Kind>& kinds) {
    check_length(matrix.columns, kinds.size(), "context");
    check_finite({matrix.data, matrix.rows * matrix.columns});
    for (std::size_t f = 0; f < kinds.size(); ++f) {
        if (kinds[f] == Kind::number) continue;
        for (std::size_t i = 0; i < matrix.rows; ++i) {
            const double value = matrix.at(i, f);
            if (!std::isnan(value) &&
                !(value >= 0 && value < kMaxCategories && value == std::floor(value)))
                throw std::invalid_argument("feature " + std::to_string(f) +
                                            " is not a category id");
        }
    }
}

// Without a branch in the loop, so that the compiler can take several values at a time.
void check_finite(std::span<const double> values) {
    int infinite = 0;
    for (const double value : values)
        infinite |= std::abs(value) > std::numeric_limits<double>::max();
    if (infinite) throw std::invalid_argument("a feature is infinite");
}

void check_reward(double reward) {
    if (!(std::abs(reward) <= kLargest))
        throw std::invalid_argument("rewards must be finite and at most 1e30");
}

void check_weight(double weight) {
    if (!(weight == 0 || (weight >= 1 / kLargest && weight <= kLargest)))
        throw std::invalid_argument("weights must be 0 or between 1e-30 and 1e30");
}

std::size_t as_window(std::optional<std::int64_t> window) {
    if (window && *window < 1) throw std::invalid_argument("window must be at least 1");
    return static_cast<std::size_t>(window.value_or(0));
}

banditree::Posterior as_posterior(bool binary, double successes, double failures) {
    if (!(successes > 0) || !(failures > 0))
        throw std::invalid_argument("the prior must be positive");
    return {binary, successes, failures};
}

std::size_t as_beside(std::optional<std::int64_t> beside, double refresh) {
    if (beside && *beside < 1) throw std::invalid_argument("beside must be at least 1");
    if (beside && refresh == 0)
        throw std::invalid_argument("trees of every row cannot be grown beside");
    return static_cast<std::size_t>(beside.value_or(0));
}

double as_share(double share, const char* what) {
    if (!(share >= 0 && share <= 1))
        throw std::invalid_argument(std::string(what) + " must be between 0 and 1");
    return share;
}

void check_length(std::size_t actual, std::size_t expected, const char* what) {
    if (actual != expected)
        throw std::invalid_argument(std::string(what) + " has length " + std::to_string(actual) +
                                    ", expected " + std::to_string(expected));
}
