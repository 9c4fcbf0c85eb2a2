#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace banditree {

// The one way an array leaves the core: the vector moves into a capsule that the array owns, so
// the array lives as long as Python needs it and is nobody's view.
template <typename T, typename Shape>
auto owned_array(std::vector<T>&& values, std::initializer_list<std::size_t> lengths) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nanobind::capsule owner(
        owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    owned.release();
    return nanobind::ndarray<nanobind::numpy, T, Shape>(data, lengths, owner);
}

template <typename T>
auto to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return owned_array<T, nanobind::ndim<1>>(std::move(values), {size});
}

// In C order.
template <typename T>
auto to_numpy(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    return owned_array<T, nanobind::ndim<2>>(std::move(values), {rows, columns});
}

}  // namespace banditree
