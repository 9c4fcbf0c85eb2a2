#include "rng.hpp"

#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "banditree/random/rng.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using banditree::Rng;
using banditree::to_numpy;
using Words = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

Words words_of(const Rng& rng) { return std::tuple_cat(rng.state()); }

void restore(Rng& rng, const Words& words) {
    rng.set_state({std::get<0>(words), std::get<1>(words), std::get<2>(words), std::get<3>(words)});
}

// The interpreter lock is kept while drawing: another thread may use the same generator.
template <typename Draw>
auto draw_many(std::size_t size, Draw draw) {
    std::vector<decltype(draw())> values(size);
    for (auto& value : values) value = draw();
    return to_numpy(std::move(values));
}

auto integers(Rng& rng, std::int64_t n, std::size_t size) {
    if (n < 1)
        throw std::invalid_argument("integers: n must be at least 1, got " + std::to_string(n));
    return draw_many(size, [&] {
        return static_cast<std::int64_t>(rng.integer(static_cast<std::uint64_t>(n)));
    });
}

auto multinomial_weights(Rng& rng, std::size_t n) {
    std::vector<double> weights(n);
    rng.multinomial_weights(weights);
    return to_numpy(std::move(weights));
}

auto exponential_weights(Rng& rng, std::size_t n) {
    std::vector<double> weights(n);
    rng.exponential_weights(weights);
    return to_numpy(std::move(weights));
}

void bind_state(nb::class_<Rng>& generator) {
    generator
        .def_prop_rw("state", &words_of, &restore,
                     "The four 64-bit words that decide all further draws.")
        .def("child", &Rng::child, "stream"_a,
             "An independent generator for this stream number; leaves this one unchanged.")
        .def("__getstate__", &words_of)
        .def("__setstate__", [](Rng& rng, const Words& words) {
            new (&rng) Rng(0);
            restore(rng, words);
        });
}

void bind_distributions(nb::class_<Rng>& generator) {
    generator
        .def(
            "uniform",
            [](Rng& rng, std::size_t size) {
                return draw_many(size, [&] { return rng.uniform(); });
            },
            "size"_a, "Multiples of 2**-53 in [0, 1).")
        .def("integers", &integers, "n"_a, "size"_a, "Integers 0, ..., n - 1, each equally likely.")
        .def(
            "exponential",
            [](Rng& rng, std::size_t size) {
                return draw_many(size, [&] { return rng.exponential(); });
            },
            "size"_a, "Exponential draws of mean 1.")
        .def(
            "normal",
            [](Rng& rng, std::size_t size) {
                return draw_many(size, [&] { return rng.normal(); });
            },
            "size"_a, "Normal draws of mean 0 and variance 1.")
        .def(
            "gamma",
            [](Rng& rng, double shape, std::size_t size) {
                return draw_many(size, [&] { return rng.gamma(shape); });
            },
            "shape"_a, "size"_a, "Gamma draws of scale 1; shape is finite and above 0.")
        .def(
            "beta",
            [](Rng& rng, double a, double b, std::size_t size) {
                return draw_many(size, [&] { return rng.beta(a, b); });
            },
            "a"_a, "b"_a, "size"_a, "Beta draws; a and b are finite and above 0.")
        .def("multinomial_weights", &multinomial_weights, "n"_a,
             "How often each of n rows comes up in n draws with replacement.")
        .def("exponential_weights", &exponential_weights, "n"_a,
             "One exponential draw of mean 1 per row.");
}

}  // namespace

void bind_rng(nb::module_& module) {
    nb::class_<Rng> generator(module, "Generator",
                              "Random generator of the core, the same on every platform.");
    generator.def(nb::init<std::uint64_t>(), "seed"_a);
    bind_state(generator);
    bind_distributions(generator);
}
