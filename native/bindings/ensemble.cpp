#include "banditree/ensemble/ensemble.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "engines.hpp"
#include "policies.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

const EnsembleBeliefs& beliefs_of(const EnsembleBeliefs& beliefs) { return beliefs; }
const EnsembleBeliefs& beliefs_of(const Ensemble& engine) { return engine.beliefs(); }

template <class Believer>
std::int64_t decide_one(const Believer& believer, const DoubleArray& context,
                        const IntArray& eligible, Rng& rng) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    return beliefs.decide(as_context(beliefs, context), as_eligible(beliefs, eligible), rng);
}

template <class Believer>
auto decide_for_each(const Believer& believer, const DoubleMatrix& contexts,
                     const IntArray& eligible, Rng& rng) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    return decide_each(beliefs, contexts, eligible, rng,
                       [&](const double* context, const auto& arms, Rng& own) {
                           return beliefs.decide(context, arms, own);
                       });
}

template <class Believer>
auto propensities(const Believer& believer, const DoubleArray& context, const IntArray& eligible) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    return to_numpy(
        beliefs.propensities(as_context(beliefs, context), as_eligible(beliefs, eligible)));
}

// Mean and number of rows of each arm, one row each.
template <class Believer>
auto expectations(const Believer& believer, const DoubleArray& context, const IntArray& eligible) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    const auto expected =
        beliefs.expectations(as_context(beliefs, context), as_eligible(beliefs, eligible));
    std::vector<double> values(2 * expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        values[i] = expected[i].mean;
        values[expected.size() + i] = expected[i].n;
    }
    return to_numpy(std::move(values), 2, expected.size());
}

// What is expected of an arm on average over contexts, and what each feature adds to that.
template <class Believer>
auto attribution(const Believer& believer, const DoubleArray& context, std::int64_t arm) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    Attribution parts = beliefs.attribution(as_context(beliefs, context), as_arm(beliefs, arm));
    return std::make_tuple(parts.base, to_numpy(std::move(parts.of_feature)));
}

template <class Believer>
double n_learned(const Believer& believer, std::int64_t arm) {
    const EnsembleBeliefs& beliefs = beliefs_of(believer);
    return beliefs.n_learned(as_arm(beliefs, arm));
}

template <class Believer>
void bind_beliefs(nb::class_<Believer>& bound) {
    bound
        .def("decide", &decide_one<Believer>, "context"_a.noconvert(), "eligible"_a.noconvert(),
             "random"_a)
        .def("decide_many", &decide_for_each<Believer>, "contexts"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def("propensities", &propensities<Believer>, "context"_a.noconvert(),
             "eligible"_a.noconvert())
        .def("expectations", &expectations<Believer>, "context"_a.noconvert(),
             "eligible"_a.noconvert(), "Mean of each arm, and of how many rows it is the mean.")
        .def("attribution", &attribution<Believer>, "context"_a.noconvert(), "arm"_a)
        .def("n_learned", &n_learned<Believer>, "arm"_a)
        .def_prop_ro("n_arms", &Believer::n_arms)
        .def_prop_ro(
            "variance", [](const Believer& believer) { return beliefs_of(believer).variance(); },
            "Of a reward around what was expected of it.")
        .def("categorical", &categorical<Believer>);
}

void construct(Ensemble* self, bool binary, double refresh, std::optional<std::int64_t> window,
               std::int64_t most_rows, std::optional<std::int64_t> beside, std::uint64_t seed) {
    if (most_rows < 1) throw std::invalid_argument("a fit must read a row at least");
    EnsembleSettings settings;
    settings.binary = binary;
    settings.refresh = as_share(refresh, "refresh");
    settings.window = as_window(window);
    settings.most_rows = static_cast<std::size_t>(most_rows);
    settings.beside = as_beside(beside, refresh);
    settings.seed = seed;
    new (self) Ensemble(settings);
}

// Contexts, arms and rewards that are kept.
auto rows(const Ensemble& engine) {
    const SharedRows& kept = engine.rows();
    const std::size_t m = kept.columns().size();
    std::vector<double> contexts(kept.size() * m);
    for (std::size_t f = 0; f < m; ++f)
        for (std::size_t i = 0; i < kept.size(); ++i) contexts[i * m + f] = kept.columns()[f].at(i);
    std::vector<std::int64_t> arms(kept.arms().begin(), kept.arms().end());
    std::vector<double> rewards(kept.rewards().begin(), kept.rewards().end());
    return std::make_tuple(to_numpy(std::move(contexts), kept.size(), m), to_numpy(std::move(arms)),
                           to_numpy(std::move(rewards)));
}

EnsembleBeliefs from_bytes(const ByteArray& bytes) {
    ByteReader in({bytes.data(), bytes.shape(0)});
    EnsembleBeliefs beliefs = EnsembleBeliefs::read(in);
    in.finish();
    return beliefs;
}

}  // namespace

void bind_ensemble(nb::module_& m) {
    nb::class_<EnsembleBeliefs> frozen(m, "EnsembleBeliefs",
                                       "What decisions of an ensemble need. Threads may share it.");
    frozen.def("dump", &bytes_of<EnsembleBeliefs>, "All of it as bytes.")
        .def_static("restore", &from_bytes, "state"_a.noconvert());
    bind_beliefs(frozen);
    nb::class_<Ensemble> bound(m, "Ensemble");
    bound
        .def("__init__", &construct, "binary"_a, "refresh"_a, "window"_a.none(), "most_rows"_a,
             "beside"_a.none(), "seed"_a)
        .def("freeze", &Ensemble::beliefs, nb::rv_policy::copy)
        .def("rows", &rows, "Contexts, arms and rewards that are kept.")
        .def("dump", &bytes_of<Ensemble>, "All that the engine holds, as bytes.");
    bind_beliefs(bound);
    bind_learning(bound);
    bind_tending(bound);
}
