#include "banditree/data/raw_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace banditree {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The smallest number of an integer type stands for a missing value.
template <class Cell>
double value_of(Cell cell) {
    if constexpr (std::is_integral_v<Cell>)
        if (cell == std::numeric_limits<Cell>::min()) return kNan;
    return cell;
}

template <class Cell>
Cell cell_of(double value) {
    if constexpr (std::is_integral_v<Cell>)
        if (std::isnan(value)) return std::numeric_limits<Cell>::min();
    return static_cast<Cell>(value);
}

template <class Cell>
bool fits(double value) {
    if constexpr (!std::is_integral_v<Cell>) return true;
    return std::isnan(value) ||
           (value > std::numeric_limits<Cell>::min() && value <= std::numeric_limits<Cell>::max() &&
            value == std::floor(value));
}

template <class Cells>
using CellOf = typename std::decay_t<Cells>::value_type;

}  // namespace

void RawColumn::widen() {
    const auto into = [&](auto wide) {
        using Wide = CellOf<decltype(wide)>;
        std::visit(
            [&](const auto& narrow) {
                wide.reserve(tight_capacity(narrow.size()));
                for (const auto cell : narrow) wide.push_back(cell_of<Wide>(value_of(cell)));
            },
            cells_);
        cells_ = std::move(wide);
    };
    if (cells_.index() == 0)
        into(Cells<std::int16_t>());
    else if (cells_.index() == 1)
        into(Cells<std::int32_t>());
    else
        into(Cells<double>());
}

void RawColumn::push(double value) {
    const auto fitting = [value](const auto& cells) {
        return fits<CellOf<decltype(cells)>>(value);
    };
    while (!std::visit(fitting, cells_)) widen();
    std::visit([value](auto& cells) { cells.push_back(cell_of<CellOf<decltype(cells)>>(value)); },
               cells_);
}

void RawColumn::drop_first(std::size_t n) {
    std::visit([n](auto& cells) { cells.drop_first(n); }, cells_);
}

void RawColumn::keep_first(std::size_t n) {
    std::visit([n](auto& cells) { cells.keep_first(n); }, cells_);
}

double RawColumn::at(std::size_t row) const {
    return std::visit([row](const auto& cells) { return value_of(cells[row]); }, cells_);
}

std::size_t RawColumn::size() const {
    return std::visit([](const auto& cells) { return cells.size(); }, cells_);
}

std::size_t RawColumn::bytes() const {
    return std::visit([](const auto& cells) { return cells.capacity() * sizeof(cells[0]); },
                      cells_);
}

bool RawColumn::empty_of_values() const {
    return std::visit(
        [](const auto& cells) {
            return std::all_of(cells.begin(), cells.end(),
                               [](auto cell) { return std::isnan(value_of(cell)); });
        },
        cells_);
}

std::vector<double> RawColumn::first(std::size_t n) const {
    std::vector<double> values(n);
    std::visit(
        [&](const auto& cells) {
            std::transform(cells.begin(), cells.begin() + n, values.begin(),
                           [](auto cell) { return value_of(cell); });
        },
        cells_);
    return values;
}

}  // namespace banditree
