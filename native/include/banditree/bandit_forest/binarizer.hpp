// Contexts as bits: a number has one bit per equal-frequency fifth, a category one per value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/bandit_forest/flat_state.hpp"
#include "banditree/data/dataset.hpp"

namespace banditree {

// Of a number: 1 if low < value <= high. Of a category: 1 if value == low == high.
struct Bit {
    std::uint32_t feature = 0;
    double low = 0;
    double high = 0;

    bool is_category() const { return low == high; }
    bool holds(double value) const {
        return is_category() ? value == low : value > low && value <= high;
    }
};

// The bits of every feature, fixed from a sample of contexts. A value that is missing, or a
// category that the sample lacks, sets none of its feature's bits. Bits that tell nothing are left
// out: a feature that never varies has none, and one that takes two forms has one, because its
// second bit would be the complement of the first and stay tied with it for ever.
class Binarizer {
 public:
    static constexpr std::uint32_t kIntervals = 5;

    Binarizer() = default;
    Binarizer(const Matrix& sample, std::span<const Kind> kinds);

    std::span<const Bit> bits() const { return bits_; }
    bool uses(std::uint32_t feature) const;

    void write(StateWriter& out) const;
    static Binarizer read(StateReader& in, std::span<const Kind> kinds);

 private:
    void add_feature(std::vector<Bit> bits, bool sometimes_missing);
    std::vector<Bit> bits_;
};

// A context seen as bits. Bits are looked up only when asked for: a decision needs those on its
// paths only.
class BitView {
 public:
    BitView(std::span<const Bit> bits, std::span<const double> context)
        : bits_(bits), context_(context) {}

    // 0 for a bit that does not exist.
    bool operator[](std::uint32_t bit) const {
        return bit < bits_.size() && bits_[bit].holds(context_[bits_[bit].feature]);
    }

 private:
    std::span<const Bit> bits_;
    std::span<const double> context_;
};

}  // namespace banditree
