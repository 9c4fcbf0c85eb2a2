// Growing a vector by an eighth: columns of rows are most of the memory, and doubling would waste
// half.
#pragma once

#include <cstddef>
#include <vector>

namespace banditree {

template <class T>
void push_tight(std::vector<T>& cells, T value) {
    if (cells.size() == cells.capacity()) cells.reserve(cells.size() + cells.size() / 8 + 8);
    cells.push_back(value);
}

}  // namespace banditree
