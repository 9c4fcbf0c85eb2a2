#include "banditree/engines/tree_heuristic.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "engines.hpp"
#include "policies.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

void construct(TreeHeuristic* self, std::int64_t min_split, std::int64_t min_leaf,
               std::optional<std::int64_t> max_depth, std::optional<std::int64_t> max_bins,
               bool adjusted, std::int64_t folds, double refresh,
               std::optional<std::int64_t> window, std::optional<std::int64_t> beside, bool binary,
               double successes, double failures) {
    const ArmTreeSettings settings{as_growth(min_split, min_leaf, max_depth, adjusted),
                                   as_max_bins(max_bins),
                                   as_folds(folds),
                                   as_share(refresh, "refresh"),
                                   as_window(window),
                                   as_beside(beside, refresh)};
    new (self) TreeHeuristic(settings, as_posterior(binary, successes, failures));
}

BoundTree tree(TreeHeuristic& engine, std::int64_t arm) {
    const ArmTree& kept = engine.arm(as_arm(engine, arm));
    if (kept.n_rows() == 0) throw std::invalid_argument("the arm has learned nothing yet");
    return {kept.pruned(), Growth{}, engine.kinds().size(), nullptr};
}

auto held_out(TreeHeuristic& engine, std::int64_t arm, const DoubleArray& context) {
    const std::uint32_t id = as_arm(engine, arm);
    return as_tuple(engine.arm(id).held_out(as_context(engine, context)));
}

}  // namespace

void bind_tree_heuristic(nb::module_& m) {
    nb::class_<TreeHeuristic> bound(m, "TreeHeuristic");
    bound
        .def("__init__", &construct, "min_split"_a, "min_leaf"_a, "max_depth"_a.none(),
             "max_bins"_a.none(), "adjusted"_a, "folds"_a, "refresh"_a, "window"_a.none(),
             "beside"_a.none(), "binary"_a, "successes"_a, "failures"_a)
        .def("tree", &tree, "arm"_a)
        .def("held_out", &held_out, "arm"_a, "context"_a.noconvert())
        .def(
            "alpha",
            [](TreeHeuristic& engine, std::int64_t arm) {
                return engine.arm(as_arm(engine, arm)).alpha();
            },
            "arm"_a, "What the arm's tree is pruned at.");
    bind_tree_engine(bound);
    bind_leaves(bound);
}
