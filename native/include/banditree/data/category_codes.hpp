// Ids of categories that are sent as numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace banditree {

// Turns rows of plain numbers into rows for the core: of the features that are categories, the id
// of each number.
class CategoryCodes {
 public:
    using Ids = std::unordered_map<double, double>;

    // Feature and ids of each category.
    explicit CategoryCodes(std::vector<std::pair<std::size_t, Ids>> categories)
        : categories_(std::move(categories)) {}

    // Replaces numbers by ids, those without one by NaN; false if there were such.
    bool encode(std::span<double> row) const {
        bool all_known = true;
        for (const auto& [feature, ids] : categories_) {
            double& value = row[feature];
            if (std::isnan(value)) continue;
            const auto found = ids.find(value);
            all_known &= found != ids.end();
            value = found != ids.end() ? found->second : std::numeric_limits<double>::quiet_NaN();
        }
        return all_known;
    }

 private:
    std::vector<std::pair<std::size_t, Ids>> categories_;
};

}  // namespace banditree
