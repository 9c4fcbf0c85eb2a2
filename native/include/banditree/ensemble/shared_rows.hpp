// The observations of all arms, in the order in which they came. Copies share them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/cells.hpp"
#include "banditree/data/raw_column.hpp"
#include "banditree/ensemble/coded_rows.hpp"

namespace banditree {

class SharedRows {
 public:
    void set_kinds(const std::vector<Kind>& kinds);
    void append(std::uint32_t arm, const double* context, double reward);
    // Keeps so many rows of each arm only, the last ones.
    void keep_last(std::span<const std::int64_t> most);
    // Those of the first so many observations, as they were then.
    SharedRows first(std::uint64_t n_learned) const;
    // The first row of those that came after so many observations.
    std::size_t first_since(std::uint64_t n_learned) const;
    // How many rows each arm may keep, so that there are no more than `most` of all arms.
    std::size_t fair_share(std::size_t most, std::uint32_t n_arms) const;
    std::vector<double> context(std::size_t row) const;
    CodedRows coded(const Coder& coder, std::uint32_t n_arms) const;

    std::size_t size() const { return arms_.size(); }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const std::vector<RawColumn>& columns() const { return columns_; }
    std::span<const std::uint32_t> arms() const { return arms_.span(); }
    std::span<const double> rewards() const { return rewards_.span(); }
    std::span<const std::uint64_t> numbers() const { return numbers_.span(); }
    std::uint64_t n_learned() const { return n_learned_; }

    void write(ByteWriter& out) const;
    static SharedRows read(ByteReader& in, std::uint32_t n_arms);

 private:
    std::vector<Kind> kinds_;
    std::vector<RawColumn> columns_;
    Cells<std::uint32_t> arms_;
    Cells<double> rewards_;
    Cells<std::uint64_t> numbers_;
    std::uint64_t n_learned_ = 0;
};

}  // namespace banditree
