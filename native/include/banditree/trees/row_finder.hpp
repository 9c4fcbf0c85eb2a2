#pragma once

#include <cstdint>
#include <vector>

#include "banditree/data/row_store.hpp"
#include "banditree/trees/split.hpp"

namespace banditree {

// Searches nodes by their rows: by counts while rewards and weights allow it, by sums otherwise.
class RowFinder {
 public:
    RowFinder(const RowStore& rows, const Growth& growth)
        : store_(rows), by_counts_(rows.data(), growth), by_sums_(rows.data(), growth) {}

    // As SplitFinder; the rows must stay where they are.
    void enter(const std::vector<std::uint32_t>& rows, const Moments& moments,
               const std::vector<std::uint32_t>& wanted) {
        const Dataset& data = store_.data();
        counting_ = data.binary && data.w.empty();
        if (counting_) {
            counts_.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i)
                counts_[i] = Counts::of(1, data.y[rows[i]]);
            by_counts_.enter({rows, counts_}, moments, wanted);
        } else {
            sums_.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) sums_[i] = store_.sums(rows[i]);
            by_sums_.enter({rows, sums_}, moments, wanted);
        }
    }
    const Groups& group(std::uint32_t feature) {
        return counting_ ? by_counts_.group(feature) : by_sums_.group(feature);
    }

 private:
    const RowStore& store_;
    SplitFinder<Counts> by_counts_;
    SplitFinder<Sums> by_sums_;
    bool counting_ = false;
    std::vector<Counts> counts_;
    std::vector<Sums> sums_;
};

}  // namespace banditree
