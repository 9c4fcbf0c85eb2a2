// State as a flat list of doubles: what a class writes in order it reads back in the same order.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace banditree {

class StateWriter {
 public:
    void number(double value) { values_.push_back(value); }
    // Below 2^53, so that a double holds it.
    void whole(std::uint64_t value) { values_.push_back(static_cast<double>(value)); }
    void flag(bool value) { values_.push_back(value ? 1.0 : 0.0); }
    // All 64 bits, in two halves.
    void word(std::uint64_t value) {
        whole(value >> 32);
        whole(value & 0xffffffffu);
    }
    std::vector<double> take() { return std::move(values_); }

 private:
    std::vector<double> values_;
};

// Every call throws std::invalid_argument if the next values are not what is asked for.
class StateReader {
 public:
    explicit StateReader(std::span<const double> values) : values_(values) {}

    static void require(bool holds) {
        if (!holds) throw std::invalid_argument("this is not the state of a bandit forest");
    }

    double number() {
        require(next_ < values_.size());
        return values_[next_++];
    }
    double between(double low, double high) {
        const double value = number();
        require(value >= low && value <= high);
        return value;
    }
    std::uint64_t whole(std::uint64_t largest) {
        const double value = between(0, static_cast<double>(largest));
        require(value == std::floor(value));
        return static_cast<std::uint64_t>(value);
    }
    std::uint32_t index(std::size_t size) {
        require(size > 0);
        return static_cast<std::uint32_t>(whole(size - 1));
    }
    bool flag() { return whole(1) == 1; }
    std::uint64_t word() {
        const std::uint64_t high = whole(0xffffffffu);
        return high << 32 | whole(0xffffffffu);
    }
    // The number of items that follow, of at least one value each: never more than there are, so
    // that it is safe to allocate them.
    std::size_t length() {
        const std::size_t count = whole(values_.size());
        expect(count);
        return count;
    }
    // At least so many values are left.
    void expect(std::size_t count) const { require(count <= values_.size() - next_); }
    void finish() const { require(next_ == values_.size()); }

 private:
    std::span<const double> values_;
    std::size_t next_ = 0;
};

}  // namespace banditree
