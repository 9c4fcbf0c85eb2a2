#include "banditree/laws/reward_window.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "inputs.hpp"
#include "policies.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

std::optional<double> push(RewardWindow& window, double reward, std::int64_t most) {
    check_reward(reward);
    return window.push(reward, as_window(most));
}

std::tuple<double, double> range(const RewardWindow& window) {
    if (window.empty()) throw std::invalid_argument("there is no reward yet");
    return {window.lowest(), window.highest()};
}

}  // namespace

void bind_reward_window(nb::module_& m) {
    nb::class_<RewardWindow>(m, "RewardWindow", "The last rewards of an arm.")
        .def(nb::init<>())
        .def("push", &push, "reward"_a, "most"_a,
             "Take in a reward; return the one that falls out if there are more than `most` then.")
        .def("__len__", [](const RewardWindow& window) { return window.rewards().size(); })
        .def(
            "rewards",
            [](const RewardWindow& window) {
                return to_numpy(
                    std::vector<double>(window.rewards().begin(), window.rewards().end()));
            },
            "From the oldest on.")
        .def("range", &range, "The lowest and the highest.");
}
