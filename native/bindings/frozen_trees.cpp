#include "banditree/engines/frozen_trees.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "engines.hpp"
#include "policies.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

// Its tree has leaves.
std::uint32_t as_arm_with_leaves(const FrozenTrees& trees, std::int64_t arm) {
    const std::uint32_t id = as_arm(trees, arm);
    if (trees.arm(id).leaves.empty())
        throw std::invalid_argument("the arm has learned nothing yet");
    return id;
}

auto predictions(const FrozenTrees& trees, std::int64_t arm, const DoubleArray& context) {
    return to_numpy(trees.predictions(as_arm(trees, arm), as_context(trees, context)));
}

// The trees are those of the stream that they were frozen with.
auto kept_draws(const FrozenTrees& trees, std::int64_t arm, const DoubleArray& context,
                const Rng&) {
    return predictions(trees, arm, context);
}

double predict(const FrozenTrees& trees, std::int64_t arm, const DoubleArray& context) {
    return trees.predict(as_arm_with_leaves(trees, arm), as_context(trees, context));
}

std::vector<double> made_up(const FrozenTrees& trees, std::int64_t arm,
                            const DoubleArray& context) {
    return trees.made_up(as_arm_with_leaves(trees, arm), as_context(trees, context));
}

BoundTree tree(const FrozenTrees& trees, std::int64_t arm) {
    return {trees.tree(as_arm_with_leaves(trees, arm)), Growth{}, trees.kinds().size(), nullptr};
}

FrozenTrees from_bytes(const ByteArray& bytes) {
    ByteReader reader({bytes.data(), bytes.shape(0)});
    return FrozenTrees::read(reader);
}

void bind_parts(nb::class_<FrozenTrees>& bound) {
    bound.def("predictions", &predictions, "arm"_a, "context"_a.noconvert())
        .def("kept_draws", &kept_draws, "arm"_a, "context"_a.noconvert(), "random"_a)
        .def("predict", &predict, "arm"_a, "context"_a.noconvert())
        .def("made_up", &made_up, "arm"_a, "context"_a.noconvert())
        .def("tree", &tree, "arm"_a)
        .def(
            "is_cold",
            [](const FrozenTrees& trees, std::int64_t arm) {
                return trees.arm(as_arm(trees, arm)).cold;
            },
            "arm"_a)
        .def(
            "n_rows",
            [](const FrozenTrees& trees, std::int64_t arm) {
                return trees.arm(as_arm(trees, arm)).n_rows;
            },
            "arm"_a);
}

}  // namespace

void bind_frozen_trees(nb::module_& m) {
    nb::class_<FrozenTrees> bound(m, "FrozenTrees",
                                  "What decisions of a tree policy need. Threads may share it.");
    bound
        .def("decide", &decide<const FrozenTrees>, "context"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def("decide_many", &decide_many<const FrozenTrees>, "contexts"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def_prop_ro("n_arms", &FrozenTrees::n_arms)
        .def("categorical", &categorical<FrozenTrees>, "Whether each feature is a category.")
        .def_prop_ro("spread", &spread<const FrozenTrees>)
        .def("dump", &bytes_of<FrozenTrees>, "All of it as bytes.")
        .def_static("restore", &from_bytes, "state"_a.noconvert());
    bind_leaves(bound);
    bind_parts(bound);
}
