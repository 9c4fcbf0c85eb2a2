// Growing a vector by an eighth: columns of rows are most of the memory, and doubling would waste
// half.
#pragma once

#include <cstddef>
#include <vector>

namespace banditree {

inline std::size_t tight_capacity(std::size_t size) { return size + size / 8 + 8; }

template <class T>
void push_tight(std::vector<T>& cells, T value) {
    if (cells.size() == cells.capacity()) cells.reserve(tight_capacity(cells.size()));
    cells.push_back(value);
}

// Takes the first cells out, and gives their memory back.
template <class T>
void drop_first(std::vector<T>& cells, std::size_t n) {
    cells = std::vector<T>(cells.begin() + static_cast<std::ptrdiff_t>(n), cells.end());
}

}  // namespace banditree
