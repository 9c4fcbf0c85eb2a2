// How much each feature of a context moves a prediction.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "banditree/ensemble/shared_tree.hpp"

namespace banditree {

// What would be predicted on average over contexts, and what each feature adds to that: together,
// the prediction.
struct Attribution {
    double base = 0;
    std::vector<double> of_feature;

    explicit Attribution(std::size_t n_features) : of_feature(n_features, 0) {}
    double total() const { return std::accumulate(of_feature.begin(), of_feature.end(), base); }
    void add(const Attribution& other, double factor) {
        base += factor * other.base;
        for (std::size_t f = 0; f < other.of_feature.size(); ++f)
            of_feature[f] += factor * other.of_feature[f];
    }
    // The same of a rising function of the prediction: each feature keeps its share.
    template <class Function>
    Attribution of(Function function) const {
        constexpr double kSame = 1e-9;
        Attribution mapped = *this;
        const double from = base, to = total();
        mapped.base = function(from);
        const double slope =
            std::abs(to - from) > kSame ? (function(to) - mapped.base) / (to - from) : 0;
        for (double& part : mapped.of_feature) part *= slope;
        return mapped;
    }
};

// A column of a table that lies row by row.
inline std::vector<float> of_column(const std::vector<float>& table, std::size_t width,
                                    std::size_t column) {
    std::vector<float> values;
    for (std::size_t i = column; i < table.size(); i += width) values.push_back(table[i]);
    return values;
}

// Adds what a tree says on the way of a context, from node to node. A node says the mean of its
// leaves, each counted as often as contexts came to it.
void attribute(const SharedTree& tree, std::span<const float> leaf_values,
               std::span<const float> leaf_contexts, const std::uint8_t* codes, double factor,
               Attribution& attribution);

}  // namespace banditree
