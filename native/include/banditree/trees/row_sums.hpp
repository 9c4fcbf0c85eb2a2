// The rows of a node, and what they sum up to by the codes of a feature.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "banditree/data/sums.hpp"

namespace banditree {

// The rows of a node beside their weights and weighted rewards (Sums or Counts), in the order of
// their arrival.
template <class Sum>
struct NodeRows {
    std::span<const std::uint32_t> rows;
    std::span<const Sum> sums;
};

// Up to so many codes are few (see add_up_few).
inline constexpr std::uint32_t kFewCodes = 32;

// Where there are few codes the same one comes again soon, and its sum would have to wait for the
// one before: so four rows at a time are summed apart. Of counts only, whose order does not matter.
template <class Code>
void add_up_few(const NodeRows<Counts>& node, const Code* codes, std::uint32_t n_codes,
                Counts* by_code) {
    Counts lanes[4][kFewCodes + 1] = {};
    const std::size_t m = node.rows.size();
    const auto add = [&](std::size_t lane, std::size_t i) {
        lanes[lane][codes[node.rows[i]]] += node.sums[i];
    };
    std::size_t i = 0;
    for (; i + 4 <= m; i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) add(lane, i + lane);
    for (; i < m; ++i) add(0, i);
    for (std::uint32_t code = 0; code <= n_codes; ++code)
        for (const auto& lane : lanes) by_code[code] += lane[code];
}

// Two-valued features are common, and summing them in memory would wait for each sum before the
// next.
template <class Sum, class Code>
void add_up_two(const NodeRows<Sum>& node, const Code* codes, std::uint32_t n_codes, Sum* by_code) {
    Sum sums[3];
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const Code code = codes[node.rows[i]];
        const Sum sum = node.sums[i];
        sums[0] += code == 0 ? sum : Sum{};
        sums[1] += code == 1 ? sum : Sum{};
        sums[2] += code == 2 ? sum : Sum{};
    }
    std::copy_n(sums, n_codes + 1, by_code);
}

// Adds the rows to the sums of their codes, 0 to n_codes, which are 0.
template <class Sum, class Code>
void add_up(const NodeRows<Sum>& node, const Code* codes, std::uint32_t n_codes, Sum* by_code) {
    const std::size_t m = node.rows.size();
    if (n_codes <= 2) return add_up_two(node, codes, n_codes, by_code);
    if constexpr (std::is_same_v<Sum, Counts>)
        if (n_codes <= kFewCodes && m > kFewCodes) return add_up_few(node, codes, n_codes, by_code);
    for (std::size_t i = 0; i < m; ++i) by_code[codes[node.rows[i]]] += node.sums[i];
}

// The same of up to 64 codes; returns which of them occur, that of code 1 being bit 0. Code 0 has
// no bit of its own: it sets that of code 64.
template <class Sum, class Code>
std::uint64_t add_up_by_word(const NodeRows<Sum>& node, const Code* codes, Sum* by_code) {
    std::uint64_t occurring = 0;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::uint32_t code = codes[node.rows[i]];
        by_code[code] += node.sums[i];
        occurring |= std::uint64_t{1} << ((code - 1) & 63);
    }
    return occurring;
}

}  // namespace banditree
