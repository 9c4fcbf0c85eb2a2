#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "banditree/random/elementary.hpp"

namespace banditree {

// SplitMix64 (Steele, Lea and Flood 2014): turns one 64-bit seed into the words of a larger state.
class SplitMix64 {
 public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

    // A bijection of 64-bit words in which every input bit affects every output bit.
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

 private:
    std::uint64_t state_;
};

// Random generator of the library: xoshiro256++ 1.0 (Blackman and Vigna 2019) and the
// distributions drawn from it. Equal seeds and equal calls give equal bits on every platform.
//
// The four words of state() are everything: no draw is kept back for the next call. Parameters
// outside a distribution's range throw std::invalid_argument before anything is drawn.
class Rng {
 public:
    using State = std::array<std::uint64_t, 4>;

    explicit Rng(std::uint64_t seed);

    State state() const { return state_; }

    // Throws std::invalid_argument if all words are 0, the one state that xoshiro never leaves.
    void set_state(const State& state);

    // An independent generator for each stream number. It depends on the present state and the
    // number only, and leaves this generator as it was.
    Rng child(std::uint64_t stream) const;

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // A multiple of 2^-53 in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Uniform on 0, ..., n - 1, without bias. Throws if n is 0.
    std::uint64_t integer(std::uint64_t n) {
        return n - 1 < 0xffffffffu ? small_integer(static_cast<std::uint32_t>(n))
                                   : large_integer(n);
    }

    // Mean 1. Never 0: the smallest draw is 2^-53, the largest 36.7.
    double exponential() { return -portable_log(open_uniform()); }

    // Mean 0, variance 1.
    double normal();

    // Mean shape, scale 1, for any finite shape > 0. Never 0: a draw below the smallest normal
    // double (2.2e-308; usual for shapes under 0.001) is returned as that number.
    double gamma(double shape);

    // Finite a, b > 0. In [0, 1]; 0 and 1 themselves come up only where the law puts its mass
    // nearer to them than a double can tell, that is for tiny or very unequal shapes.
    double beta(double a, double b);

    // Bootstrap counts: as many draws with replacement as there are rows; sums to out.size().
    void multinomial_weights(std::span<double> out);
    void multinomial_weights(std::span<std::uint32_t> out);

    // Independent exponential draws, one per row (the Bayesian bootstrap before normalising).
    void exponential_weights(std::span<double> out);

 private:
    // An odd multiple of 2^-53 in (0, 1): safe to take the logarithm of, and to divide by.
    double open_uniform() { return static_cast<double>((next() >> 12) * 2 + 1) * 0x1p-53; }

    // Lemire 2019, in 32 bits so that the product fits the widest standard integer. The division
    // runs for a share n / 2^32 of the draws only.
    std::uint32_t small_integer(std::uint32_t n) {
        std::uint64_t product = (next() >> 32) * n;
        if (static_cast<std::uint32_t>(product) < n) {
            const std::uint32_t biased = (0u - n) % n;
            while (static_cast<std::uint32_t>(product) < biased) product = (next() >> 32) * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

    std::uint64_t large_integer(std::uint64_t n);
    double gamma_from_one(double shape);
    double log_gamma(double shape);

    State state_;
};

}  // namespace banditree
