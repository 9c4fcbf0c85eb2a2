// Weighted sums of rewards and what the tree derives from them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace banditree {

// Gains closer than this fraction of a node's second moment are a tie: wide enough to absorb
// rounding in any order of summation, far too narrow for two different splits of real data.
inline constexpr double kTieTolerance = 1e-12;

// Two complexities this close (relatively) are equal, so that pruning at an alpha taken from the
// path is exact.
inline constexpr double kAlphaTolerance = 1e-9;

// Weight and weighted reward of a set of rows: all that a split's gain needs.
struct Sums {
    double w = 0;
    double wy = 0;

    Sums& operator+=(const Sums& other) {
        w += other.w;
        wy += other.wy;
        return *this;
    }
    Sums& operator-=(const Sums& other) {
        w -= other.w;
        wy -= other.wy;
        return *this;
    }
};

inline Sums operator+(Sums a, const Sums& b) { return a += b; }
inline Sums operator-(Sums a, const Sums& b) { return a -= b; }

// The same for 0/1 rewards and whole weights, both halves in one word: half the memory, one
// addition, no rounding.
struct Counts {
    std::uint64_t bits = 0;

    static Counts of(double w, double wy) {
        return {static_cast<std::uint64_t>(w) << 32 | static_cast<std::uint64_t>(wy)};
    }
    Counts& operator+=(const Counts& other) {
        bits += other.bits;
        return *this;
    }
    Counts& operator-=(const Counts& other) {
        bits -= other.bits;
        return *this;
    }
};

// Half a word as a number: as the lower half of the double 2^52, which is then taken off. Unlike a
// cast, the compiler can do several at a time.
inline double as_number(std::uint64_t half) {
    return std::bit_cast<double>(half | 0x4330000000000000u) - 4503599627370496.0;
}

inline Sums as_sums(const Sums& sums) { return sums; }
inline Sums as_sums(const Counts& counts) {
    return {as_number(counts.bits >> 32), as_number(counts.bits & 0xffffffffu)};
}
inline bool occurs(const Sums& sums) { return sums.w > 0; }
inline bool occurs(const Counts& counts) { return counts.bits != 0; }

// By how much the squared error falls when `total` is split into `left` and the rest. With 0/1
// rewards and whole weights the numerator is exact, so equal splits have equal gains whatever the
// order of summation.
inline double split_gain(const Sums& total, const Sums& left) {
    const double right_w = total.w - left.w;
    const double d = left.wy * total.w - total.wy * left.w;
    const double gain = d * d / (left.w * right_w * total.w);
    return std::min(left.w, right_w) > 0 ? gain : 0;
}

// Negative if a split gains more than `bar`. This takes no division, which is slow, and rounds
// otherwise than split_gain; but by far less than the tolerance of ties.
inline double shortfall(double bar, const Sums& total, const Sums& left) {
    const double d = left.wy * total.w - total.wy * left.w;
    return bar * total.w * (left.w * (total.w - left.w)) - d * d;
}

// Whether the left side is the one that missing values follow where the node has met none: the one
// of greater weight, and the left one if rounding alone can have made the difference.
inline bool left_weighs_more(double left, double right) {
    return left >= right * (1 - kTieTolerance);
}

// The sums of a node, rewards taken about the data's offset (see Dataset).
struct Moments {
    double w = 0;
    double wy = 0;
    double wyy = 0;
    std::uint32_t n = 0;

    void add(double weight, double y) {
        const double weighted = weight * y;
        w += weight;
        wy += weighted;
        wyy += weighted * y;
        ++n;
    }
    void remove(double weight, double y) {
        const double weighted = weight * y;
        w -= weight;
        wy -= weighted;
        wyy -= weighted * y;
        // Nothing is left of nothing, not even by rounding.
        if (--n == 0) *this = Moments();
    }
    Sums sums() const { return {w, wy}; }
    double tolerance() const { return kTieTolerance * wyy; }
    double mean() const { return wy / w; }
    double raw_cost() const { return wyy - wy * wy / w; }
    double cost() const { return raw_cost() > tolerance() ? raw_cost() : 0; }
};

}  // namespace banditree
