#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "banditree/data/dataset.hpp"

namespace banditree {

void CodeColumn::widen_for(std::uint32_t code) {
    const auto copy_into = [&](auto wide) {
        std::visit(
            [&](const auto& narrow) {
                wide.reserve(tight_capacity(narrow.size()));
                for (const auto code : narrow) wide.push_back(code);
            },
            cells_);
        cells_ = std::move(wide);
    };
    if (cells_.index() == 0 && code > std::numeric_limits<std::uint8_t>::max())
        copy_into(Cells<std::uint16_t>());
    if (cells_.index() == 1 && code > std::numeric_limits<std::uint16_t>::max())
        copy_into(Cells<std::uint32_t>());
}

void CodeColumn::push(std::uint32_t code) {
    widen_for(code);
    std::visit(
        [code](auto& cells) {
            using Cell = typename std::decay_t<decltype(cells)>::value_type;
            cells.push_back(static_cast<Cell>(code));
        },
        cells_);
}

void CodeColumn::assign(std::span<const std::uint32_t> codes, std::uint32_t largest) {
    cells_ = Cells<std::uint8_t>();
    widen_for(largest);
    std::visit(
        [codes](auto& cells) {
            using Cell = typename std::decay_t<decltype(cells)>::value_type;
            cells.reserve(codes.size());
            for (const std::uint32_t code : codes) cells.push_back(static_cast<Cell>(code));
        },
        cells_);
}

void CodeColumn::assign(std::span<const std::uint32_t> slots,
                        std::span<const std::uint32_t> code_of, std::uint32_t largest) {
    cells_ = Cells<std::uint8_t>();
    widen_for(largest);
    std::visit(
        [&](auto& cells) {
            using Cell = typename std::decay_t<decltype(cells)>::value_type;
            cells.reserve(slots.size());
            for (const std::uint32_t slot : slots)
                cells.push_back(static_cast<Cell>(code_of[slot]));
        },
        cells_);
}

std::uint32_t CodeColumn::at(std::size_t row) const {
    return std::visit([row](const auto& cells) { return static_cast<std::uint32_t>(cells[row]); },
                      cells_);
}

std::size_t CodeColumn::count(std::uint32_t code, std::size_t n_first) const {
    return std::visit(
        [=](const auto& cells) {
            const auto end = cells.begin() + static_cast<std::ptrdiff_t>(n_first);
            return static_cast<std::size_t>(std::count(cells.begin(), end, code));
        },
        cells_);
}

void CodeColumn::set_bits(std::uint32_t code, std::uint32_t bit,
                          std::vector<std::uint64_t>& words) const {
    std::visit(
        [&](const auto& cells) {
            for (std::size_t i = 0; i < cells.size(); ++i)
                words[i] |= static_cast<std::uint64_t>(cells[i] == code) << bit;
        },
        cells_);
}

std::size_t CodeColumn::bytes() const {
    return std::visit([](const auto& cells) { return cells.capacity() * sizeof(cells[0]); },
                      cells_);
}

}  // namespace banditree
