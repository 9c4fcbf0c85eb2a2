// An arm of TreeBootstrap: its rows, and what is kept of them between decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/row_store.hpp"
#include "banditree/state.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

// What an arm knows beside its rows. Alpha is that of rows whose made-up rewards may have moved
// since, so it cannot be found again from the rows.
struct Standing {
    std::uint32_t failures = 0;  // in a row, since the start
    bool settled = false;        // had its success, or was given up
    double alpha = 0;            // as it was chosen
};

struct ResampledArm {
    explicit ResampledArm(std::uint32_t max_bins) : max_bins(max_bins), store(max_bins) {}

    const RowStore& rows() const { return store; }
    std::size_t n_learned() const { return store.n_rows(); }  // its state says no more
    void set_kinds(const std::vector<Kind>& kinds);
    void write(ByteWriter& out) const;
    void read(ByteReader& in);

    std::uint32_t max_bins;
    RowStore store;
    Standing standing;
    std::size_t validated_at = 0;
    Dataset exact;  // all rows, if the store is exact and they are needed
    std::vector<Tree> kept;
    std::size_t kept_of = 0;  // so many first rows
};

}  // namespace banditree
