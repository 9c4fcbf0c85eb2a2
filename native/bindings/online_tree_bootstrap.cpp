#include "banditree/engines/online_tree_bootstrap.hpp"

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

void construct(OnlineTreeBootstrap* self, std::int64_t replicas, std::uint64_t seed,
               std::int64_t min_split, std::int64_t min_leaf, std::optional<std::int64_t> max_depth,
               std::optional<std::int64_t> max_bins, bool adjusted, std::int64_t folds,
               double refresh, std::optional<std::int64_t> window,
               std::optional<std::int64_t> beside, bool binary, double successes, double failures) {
    if (replicas < 1 || replicas > 1'000'000)
        throw std::invalid_argument("replicas must be between 1 and 1,000,000");
    OnlineTreeBootstrap::Settings settings;
    static_cast<ArmTreeSettings&>(settings) = {as_growth(min_split, min_leaf, max_depth, adjusted),
                                               as_max_bins(max_bins),
                                               as_folds(folds),
                                               as_share(refresh, "refresh"),
                                               as_window(window),
                                               as_beside(beside, refresh)};
    settings.n_replicas = static_cast<std::uint32_t>(replicas);
    settings.seed = seed;
    settings.posterior = as_posterior(binary, successes, failures);
    new (self) OnlineTreeBootstrap(settings);
}

// What each replica of an arm expects.
auto predictions(OnlineTreeBootstrap& engine, std::int64_t arm, const DoubleArray& context) {
    const std::uint32_t id = as_arm(engine, arm);
    const double* row = as_context(engine, context);
    std::vector<double> values(engine.n_replicas());
    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = engine.predict(id, i, row);
    return to_numpy(std::move(values));
}

BoundTree tree(OnlineTreeBootstrap& engine, std::int64_t arm, std::int64_t replica) {
    const std::uint32_t id = as_arm(engine, arm);
    if (replica < 0 || replica >= engine.n_replicas())
        throw std::invalid_argument("there is no replica " + std::to_string(replica));
    const auto number = static_cast<std::uint32_t>(replica);
    if (engine.n_rows(id, number) == 0)
        throw std::invalid_argument("the replica has learned nothing yet");
    return {engine.tree(id, number), Growth{}, engine.kinds().size(), nullptr};
}

// Whether each replica of the arm takes in its row of this number.
auto members(OnlineTreeBootstrap& engine, std::int64_t arm, std::size_t row) {
    const auto members = engine.members(as_arm(engine, arm), row);
    return to_numpy(std::vector<std::uint8_t>(members.begin(), members.end()));
}

}  // namespace

void bind_online_tree_bootstrap(nb::module_& m) {
    nb::class_<OnlineTreeBootstrap> bound(m, "OnlineTreeBootstrap");
    bound
        .def("__init__", &construct, "replicas"_a, "seed"_a, "min_split"_a, "min_leaf"_a,
             "max_depth"_a.none(), "max_bins"_a.none(), "adjusted"_a, "folds"_a, "refresh"_a,
             "window"_a.none(), "beside"_a.none(), "binary"_a, "successes"_a, "failures"_a)
        .def("predictions", &predictions, "arm"_a, "context"_a.noconvert())
        .def("tree", &tree, "arm"_a, "replica"_a)
        .def(
            "is_cold",
            [](const OnlineTreeBootstrap& engine, std::int64_t arm) {
                return engine.is_cold(as_arm(engine, arm));
            },
            "arm"_a)
        .def("members", &members, "arm"_a, "row"_a);
    bind_tree_engine(bound);
}
