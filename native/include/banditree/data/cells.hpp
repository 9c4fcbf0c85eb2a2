// The cells of a column: copies share them, so that what works on a copy beside whoever appends
// costs no copying.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "banditree/data/tight.hpp"

namespace banditree {

// Cells are appended, and never written again. A copy is of the cells that there are; what the
// original appends from then on lies behind them, and what the copy appends goes elsewhere.
template <class T>
class Cells {
 public:
    using value_type = T;

    Cells() = default;
    explicit Cells(std::span<const T> cells) { append(cells, cells.size()); }
    Cells(const Cells& other) : cells_(other.cells_), size_(other.size_), capacity_(other.size_) {}
    Cells(Cells&& other) noexcept
        : cells_(std::move(other.cells_)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Cells& operator=(Cells other) noexcept {
        std::swap(cells_, other.cells_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    void push_back(T cell) {
        if (size_ == capacity_) reserve(tight_capacity(size_));
        cells_.get()[size_++] = cell;
    }
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) *this = Cells(*this, 0, capacity);
    }
    void clear() { *this = Cells(); }
    void keep_first(std::size_t n) { size_ = capacity_ = std::min(n, size_); }
    // Takes the first cells out, and gives their memory back.
    void drop_first(std::size_t n) { *this = Cells(*this, n, size_ - n); }

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
    const T* data() const { return cells_.get(); }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    const T& back() const { return data()[size_ - 1]; }
    std::span<const T> span() const { return {data(), size_}; }

 private:
    // The cells of another one from one on, with room for more.
    Cells(const Cells& other, std::size_t first, std::size_t capacity) {
        append(other.span().subspan(first), capacity);
    }
    void append(std::span<const T> cells, std::size_t capacity) {
        if (capacity == 0) return;
        cells_ = std::make_shared_for_overwrite<T[]>(capacity);
        std::copy(cells.begin(), cells.end(), cells_.get());
        size_ = cells.size();
        capacity_ = capacity;
    }

    std::shared_ptr<T[]> cells_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;  // up to which this one, and no copy of it, may append
};

}  // namespace banditree
