#include "winning.hpp"

#include <nanobind/stl/vector.h>

#include <cstddef>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "banditree/laws/winning.hpp"
#include "inputs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using banditree::BetaLaw;
using banditree::StudentLaw;
using banditree::to_numpy;

auto beta_win_probabilities(const DoubleArray& a, const DoubleArray& b) {
    const std::span<const double> first = as_span(a);
    const std::span<const double> second = as_span(b);
    check_length(second.size(), first.size(), "b");
    std::vector<BetaLaw> laws;
    for (std::size_t arm = 0; arm < first.size(); ++arm) laws.push_back({first[arm], second[arm]});
    return to_numpy(banditree::win_probabilities(std::span<const BetaLaw>(laws)));
}

auto student_win_probabilities(const DoubleArray& location, const DoubleArray& scale,
                               const DoubleArray& freedom) {
    const std::span<const double> locations = as_span(location);
    const std::span<const double> scales = as_span(scale);
    const std::span<const double> freedoms = as_span(freedom);
    check_length(scales.size(), locations.size(), "scale");
    check_length(freedoms.size(), locations.size(), "freedom");
    std::vector<StudentLaw> laws;
    for (std::size_t arm = 0; arm < locations.size(); ++arm)
        laws.push_back({locations[arm], scales[arm], freedoms[arm]});
    return to_numpy(banditree::win_probabilities(std::span<const StudentLaw>(laws)));
}

auto win_shares(const std::vector<DoubleArray>& values) {
    std::vector<std::vector<double>> arms;
    for (const DoubleArray& array : values) {
        const std::span<const double> arm = as_span(array);
        arms.emplace_back(arm.begin(), arm.end());
    }
    return to_numpy(banditree::win_shares(arms));
}

}  // namespace

void bind_winning(nb::module_& module) {
    module.def("beta_win_probabilities", &beta_win_probabilities, "a"_a, "b"_a,
               "The probability that each Beta(a, b) draw is the largest.");
    module.def("student_win_probabilities", &student_win_probabilities, "location"_a, "scale"_a,
               "freedom"_a,
               "The probability that each location + scale * t draw is the largest, where t has "
               "Student's law with this freedom. Those of scale 0 that tie share evenly.");
    module.def("win_shares", &win_shares, "values"_a,
               "The share of all combinations of one value per arm in which the arm's value is the "
               "largest; ties share evenly.");
}
