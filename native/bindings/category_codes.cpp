#include "banditree/data/category_codes.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "category_codes.hpp"
#include "inputs.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

struct BoundCodes {
    CategoryCodes codes;
    std::size_t n_features;
};

using WritableArray = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Categories = std::vector<std::pair<std::size_t, CategoryCodes::Ids>>;

void construct(BoundCodes* self, std::size_t n_features, Categories categories) {
    for (const auto& category : categories)
        if (category.first >= n_features) throw std::invalid_argument("there is no such feature");
    new (self) BoundCodes{CategoryCodes(std::move(categories)), n_features};
}

// In place: making an array takes longer than all the rest.
bool encode_row(const BoundCodes& self, const WritableArray& row) {
    check_aligned(row.data());
    const std::span<double> values(row.data(), row.shape(0));
    check_length(values.size(), self.n_features, "context");
    check_finite(values);
    return self.codes.encode(values);
}

}  // namespace

void bind_category_codes(nb::module_& m) {
    nb::class_<BoundCodes>(m, "CategoryCodes")
        .def("__init__", &construct, "n_features"_a, "categories"_a)
        .def("encode", &encode_row, "row"_a.noconvert(),
             "Puts ids in the place of categories, NaN for unknown ones; true if there are none.");
}
