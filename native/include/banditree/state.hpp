// State as bytes: what a class writes in order it reads back in the same order. Little-endian,
// field by field, the same on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace banditree {

static_assert(std::endian::native == std::endian::little, "state is written as it is in memory");

class ByteWriter {
 public:
    template <class T>
    void put(T value) {
        static_assert(std::is_arithmetic_v<T>);
        append(&value, sizeof value);
    }
    // Its length, then its items.
    template <class T>
    void array(std::span<const T> items) {
        static_assert(std::is_arithmetic_v<T>);
        put<std::uint64_t>(items.size());
        append(items.data(), items.size_bytes());
    }
    template <class T>
    void array(const std::vector<T>& items) {
        array(std::span<const T>(items));
    }
    void reserve(std::size_t n_bytes) { bytes_.reserve(n_bytes); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
    void append(const void* data, std::size_t n_bytes) {
        const auto* first = static_cast<const std::uint8_t*>(data);
        bytes_.insert(bytes_.end(), first, first + n_bytes);
    }

    std::vector<std::uint8_t> bytes_;
};

// Every call throws std::invalid_argument if the next bytes are not what is asked for.
class ByteReader {
 public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    static void require(bool holds) {
        if (!holds) throw std::invalid_argument("the state is damaged");
    }

    template <class T>
    T get() {
        static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
        T value;
        take(&value, sizeof value);
        return value;
    }
    bool flag() {
        const auto value = get<std::uint8_t>();
        require(value <= 1);
        return value == 1;
    }
    template <class T>
    T between(T low, T high) {
        const T value = get<T>();
        require(value >= low && value <= high);
        return value;
    }
    // Never longer than what is left, so that it is safe to allocate.
    template <class T>
    std::vector<T> array() {
        std::vector<T> items(length(sizeof(T)));
        take(items.data(), items.size() * sizeof(T));
        return items;
    }
    // The number of items that follow, of at least so many bytes each.
    std::size_t length(std::size_t bytes_each) {
        const auto count = get<std::uint64_t>();
        require(count <= bytes_.size() / bytes_each);
        return static_cast<std::size_t>(count);
    }
    void finish() const { require(bytes_.empty()); }

 private:
    void take(void* data, std::size_t n_bytes) {
        require(n_bytes <= bytes_.size());
        if (n_bytes > 0) std::memcpy(data, bytes_.data(), n_bytes);
        bytes_ = bytes_.subspan(n_bytes);
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace banditree
