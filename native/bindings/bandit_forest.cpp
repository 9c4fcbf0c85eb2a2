#include "bandit_forest.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "banditree/bandit_forest/bandit_forest.hpp"
#include "engines.hpp"
#include "inputs.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

void construct(BanditForest* self, std::uint32_t n_trees, std::uint32_t depth, double delta,
               double epsilon_low, double epsilon_high, double radius, std::uint64_t seed) {
    new (self) BanditForest({n_trees, depth, delta, epsilon_low, epsilon_high, radius, seed});
}

std::vector<std::uint32_t> eligible_arms(const BanditForest& forest, const IntArray& arms) {
    const ArmIndices indices = as_eligible(forest, arms);
    return {indices.begin(), indices.end()};
}

BanditForest::Context context_of(const BanditForest& forest, const DoubleArray& context) {
    return {as_context(forest, context), context.shape(0)};
}

void check_unit(double reward) {
    if (!(reward >= 0 && reward <= 1)) throw std::invalid_argument("rewards must be in [0, 1]");
}

void learn_all(BanditForest& forest, const IntArray& arms, const DoubleMatrix& contexts,
               const DoubleArray& rewards) {
    const Matrix matrix = as_matrix(contexts);
    check_contexts(matrix, forest.kinds());
    check_length(arms.shape(0), matrix.rows, "arms");
    check_length(rewards.shape(0), matrix.rows, "rewards");
    const ArmIndices indices = as_arms(forest, arms);
    const auto values = as_span(rewards);
    for (const double reward : values) check_unit(reward);
    for (std::size_t i = 0; i < matrix.rows; ++i)
        forest.learn(static_cast<std::uint32_t>(indices[i]),
                     {matrix.data + i * matrix.columns, matrix.columns}, values[i]);
}

std::int64_t decide_one(const BanditForest& forest, const DoubleArray& context,
                        const IntArray& eligible, Rng& rng) {
    return forest.decide(context_of(forest, context), eligible_arms(forest, eligible), rng);
}

auto decide_all(const BanditForest& forest, const DoubleMatrix& contexts, const IntArray& eligible,
                Rng& rng) {
    const Matrix matrix = as_contexts(forest, contexts);
    const auto arms = eligible_arms(forest, eligible);
    std::vector<std::int64_t> chosen(matrix.rows);
    for (std::size_t i = 0; i < matrix.rows; ++i)
        chosen[i] = forest.decide({matrix.data + i * matrix.columns, matrix.columns}, arms, rng);
    return to_numpy(std::move(chosen));
}

auto propensities(const BanditForest& forest, const DoubleArray& context,
                  const IntArray& eligible) {
    return to_numpy(
        forest.propensities(context_of(forest, context), eligible_arms(forest, eligible)));
}

auto expected_rewards(const BanditForest& forest, const DoubleArray& context) {
    return to_numpy(forest.expected_rewards(context_of(forest, context)));
}

using Step = std::tuple<std::uint32_t, double, double, bool>;      // feature, low, high, value
using View = std::tuple<std::vector<Step>, bool, double, double>;  // path, finished, count, sum

std::vector<View> explain(const BanditForest& forest, const DoubleArray& context,
                          std::int64_t arm) {
    std::vector<View> views;
    for (const auto& view : forest.explain(context_of(forest, context), as_arm(forest, arm))) {
        std::vector<Step> path;
        for (const auto& [bit, value] : view.path)
            path.emplace_back(bit.feature, bit.low, bit.high, value);
        views.emplace_back(std::move(path), view.finished, view.tally.count, view.tally.sum);
    }
    return views;
}

void bind_decisions(nb::class_<BanditForest>& bound) {
    bound.def("decide", &decide_one, "context"_a.noconvert(), "eligible"_a.noconvert(), "random"_a)
        .def("decide_many", &decide_all, "contexts"_a.noconvert(), "eligible"_a.noconvert(),
             "random"_a)
        .def("propensities", &propensities, "context"_a.noconvert(), "eligible"_a.noconvert(),
             "Of each eligible arm, in their order.")
        .def("expected_rewards", &expected_rewards, "context"_a.noconvert(), "Of every arm.")
        .def("explain", &explain, "context"_a.noconvert(), "arm"_a,
             "Of each tree: the path as (feature, low, high, value), whether the tree is finished "
             "there, and number and sum of the arm's rewards. Of a category, low and high are its "
             "id.");
}

}  // namespace

void bind_bandit_forest(nb::module_& module) {
    nb::class_<BanditForest> bound(module, "BanditForest");
    bound
        .def("__init__", &construct, "n_trees"_a, "depth"_a, "delta"_a, "epsilon_low"_a,
             "epsilon_high"_a, "radius"_a, "seed"_a)
        .def("add_arm", &BanditForest::add_arm)
        .def(
            "set_active",
            [](BanditForest& forest, std::int64_t arm, bool active) {
                forest.set_active(as_arm(forest, arm), active);
            },
            "arm"_a, "active"_a)
        .def(
            "set_categorical",
            [](BanditForest& forest, const ByteArray& flags) { forest.set_kinds(as_kinds(flags)); },
            "categorical"_a.noconvert())
        .def("learn", &learn<BanditForest>, "arm"_a, "context"_a.noconvert(), "reward"_a)
        .def("learn_many", &learn_all, "arms"_a.noconvert(), "contexts"_a.noconvert(),
             "rewards"_a.noconvert())
        .def("dump", [](const BanditForest& forest) { return to_numpy(forest.dump()); })
        .def(
            "restore",
            [](BanditForest& forest, const DoubleArray& state) { forest.restore(as_span(state)); },
            "state"_a.noconvert())
        .def_prop_ro("n_arms", &BanditForest::n_arms);
    bind_decisions(bound);
}
