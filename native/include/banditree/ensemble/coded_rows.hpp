// Observations of all arms, as the members of the ensemble learn from them.
#pragma once

#include <cstdint>
#include <vector>

#include "banditree/ensemble/coder.hpp"

namespace banditree {

struct CodedRows {
    std::uint32_t n_arms = 0;
    std::vector<std::vector<std::uint8_t>> codes;  // of each feature
    std::vector<std::uint8_t> codes_by_row;        // the same, one row after the other
    std::vector<float> scaled_by_row;
    std::vector<std::uint32_t> arms;
    std::vector<float> rewards;
    std::vector<std::uint64_t> numbers;  // each observation of the policy has its own

    std::size_t size() const { return arms.size(); }
    const std::uint8_t* row_codes(std::size_t row) const {
        return codes_by_row.data() + row * codes.size();
    }
    const float* row_scaled(std::size_t row) const {
        return scaled_by_row.data() + row * codes.size();
    }
};

}  // namespace banditree
