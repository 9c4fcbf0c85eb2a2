#include "banditree/engines/tree_bootstrap.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "banditree/engines/leaf_price.hpp"
#include "engines.hpp"
#include "policies.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

using StandingValues = std::tuple<std::uint32_t, bool, double>;

void construct(TreeBootstrap* self, std::int64_t min_split, std::int64_t min_leaf,
               std::optional<std::int64_t> max_depth, std::optional<std::int64_t> max_bins,
               bool adjusted, std::int64_t folds, bool binary, bool exponential,
               const std::optional<std::string>& pruning, bool prior, std::uint32_t patience,
               std::optional<std::int64_t> window) {
    TreeBootstrap::Settings settings;
    settings.growth = as_growth(min_split, min_leaf, max_depth, adjusted);
    settings.max_bins = as_max_bins(max_bins);
    settings.n_folds = as_folds(folds);
    settings.binary = binary;
    if (exponential) settings.weights = TreeBootstrap::Weights::exponential;
    if (!pruning) settings.pruning = TreeBootstrap::Pruning::none;
    if (pruning == "cv_every_fit") settings.pruning = TreeBootstrap::Pruning::every_fit;
    if (!prior) settings.cold_start = TreeBootstrap::ColdStart::until_success;
    settings.patience = patience;
    settings.window = as_window(window);
    new (self) TreeBootstrap(settings);
}

// Decisions take long enough to let other threads run; the policy's lock keeps them off the engine.
std::int64_t decide_apart(TreeBootstrap& engine, const DoubleArray& context,
                          const IntArray& eligible, Rng& rng) {
    const double* row = as_context(engine, context);
    const ArmIndices arms = as_eligible(engine, eligible);
    nb::gil_scoped_release others_may_run;
    return engine.decide(row, arms, rng);
}

std::uint32_t as_arm_with_rows(const TreeBootstrap& engine, std::int64_t arm) {
    const std::uint32_t id = as_arm(engine, arm);
    if (engine.rows(id).n_rows() == 0)
        throw std::invalid_argument("the arm has learned nothing yet");
    return id;
}

auto draws(TreeBootstrap& engine, std::int64_t arm, const DoubleArray& context, std::size_t n,
           Rng& rng) {
    const std::uint32_t id = as_arm_with_rows(engine, arm);
    const double* row = as_context(engine, context);
    std::vector<double> values(n);
    {
        nb::gil_scoped_release others_may_run;
        for (double& value : values) value = engine.draw(id, row, rng);
    }
    return to_numpy(std::move(values));
}

auto kept_draws(TreeBootstrap& engine, std::int64_t arm, const DoubleArray& context,
                const Rng& stream) {
    const std::uint32_t id = as_arm_with_rows(engine, arm);
    const double* row = as_context(engine, context);
    std::vector<double> values;
    {
        nb::gil_scoped_release others_may_run;
        values = engine.kept_draws(id, row, stream);
    }
    return to_numpy(std::move(values));
}

double predict(TreeBootstrap& engine, std::int64_t arm, const DoubleArray& context) {
    return engine.predict(as_arm_with_rows(engine, arm), as_context(engine, context));
}

FrozenTrees freeze(TreeBootstrap& engine, const Rng& stream) {
    nb::gil_scoped_release others_may_run;
    return engine.freeze(stream);
}

std::vector<double> made_up(TreeBootstrap& engine, std::int64_t arm, const DoubleArray& context) {
    return engine.made_up(as_arm_with_rows(engine, arm), as_context(engine, context));
}

BoundTree tree(TreeBootstrap& engine, std::int64_t arm) {
    const std::uint32_t id = as_arm_with_rows(engine, arm);
    return {engine.pruned(id), Growth{}, engine.kinds().size(), nullptr};
}

auto held_out(TreeBootstrap& engine, std::int64_t arm, const DoubleArray& context) {
    const std::uint32_t id = as_arm(engine, arm);
    return as_tuple(engine.held_out(id, as_context(engine, context)));
}

StandingValues standing(TreeBootstrap& engine, std::int64_t arm) {
    const Standing& standing = engine.standing(as_arm(engine, arm));
    return {standing.failures, standing.settled, standing.alpha};
}

void restore(TreeBootstrap& engine, std::int64_t arm, const DoubleMatrix& contexts,
             const DoubleArray& rewards, const StandingValues& standing) {
    const std::uint32_t id = as_arm(engine, arm);
    const Matrix matrix = as_matrix(contexts);
    check_contexts(matrix, engine.kinds());
    check_length(rewards.shape(0), matrix.rows, "rewards");
    for (const double reward : as_span(rewards)) check_reward(reward);
    const auto [failures, settled, alpha] = standing;
    if (alpha < 0) throw std::invalid_argument("alpha must not be negative");
    if (engine.rows(id).n_rows() > 0) throw std::invalid_argument("the arm cannot be restored");
    engine.restore(id, matrix, as_span(rewards), {failures, settled, alpha});
}

void bind_parts(nb::class_<TreeBootstrap>& bound) {
    bound
        .def("draws", &draws, "arm"_a, "context"_a.noconvert(), "n"_a, "random"_a,
             "What the trees on n resamples of the arm's rows predict.")
        .def("kept_draws", &kept_draws, "arm"_a, "context"_a.noconvert(), "random"_a,
             "What the trees on resamples predict that are kept between calls.")
        .def("freeze", &freeze, "random"_a,
             "What decisions need, with the resamples that kept_draws(arm, ...) keeps if "
             "random.child(arm) is given.")
        .def("made_up", &made_up, "arm"_a, "context"_a.noconvert(),
             "The rewards that nobody observed in the leaf of the context.")
        .def("predict", &predict, "arm"_a, "context"_a.noconvert())
        .def("tree", &tree, "arm"_a)
        .def("held_out", &held_out, "arm"_a, "context"_a.noconvert())
        .def("standing", &standing, "arm"_a)
        .def("restore", &restore, "arm"_a, "contexts"_a.noconvert(), "rewards"_a.noconvert(),
             "standing"_a)
        .def(
            "is_cold",
            [](TreeBootstrap& engine, std::int64_t arm) {
                return engine.is_cold(as_arm(engine, arm));
            },
            "arm"_a)
        .def(
            "alpha",
            [](TreeBootstrap& engine, std::int64_t arm) {
                return engine.alpha(as_arm(engine, arm));
            },
            "arm"_a, "What the arm's trees are pruned at.");
}

}  // namespace

void bind_tree_bootstrap(nb::module_& m) {
    nb::class_<TreeBootstrap> bound(m, "TreeBootstrap");
    bound
        .def("__init__", &construct, "min_split"_a, "min_leaf"_a, "max_depth"_a.none(),
             "max_bins"_a.none(), "adjusted"_a, "folds"_a, "binary"_a, "exponential"_a,
             "pruning"_a.none(), "prior"_a, "patience"_a, "window"_a.none())
        .def("decide", &decide_apart, "context"_a.noconvert(), "eligible"_a.noconvert(), "random"_a)
        .def("decide_many", &decide_many<TreeBootstrap>, "contexts"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a);
    bind_engine(bound);
    bind_parts(bound);
    m.def(
        "folds_of",
        [](std::size_t n_rows, std::int64_t n_folds) {
            const auto folds = folds_of(n_rows, as_folds(n_folds));
            return to_numpy(std::vector<std::int64_t>(folds.begin(), folds.end()));
        },
        "n_rows"_a, "n_folds"_a, "The fold that each of an arm's rows is in.");
}
