// What the bindings of the policies' engines share.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "banditree/data/arm_rows.hpp"
#include "banditree/engines/engine.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/state.hpp"
#include "inputs.hpp"
#include "rows.hpp"

// Number, sum and squared error of the rewards.
inline std::tuple<double, double, double> as_tuple(const banditree::Evidence& evidence) {
    return {evidence.n, evidence.total, evidence.squared_error};
}

template <class Engine>
std::uint32_t as_arm(const Engine& engine, std::int64_t arm) {
    if (arm < 0 || static_cast<std::size_t>(arm) >= engine.n_arms())
        throw std::invalid_argument("there is no arm " + std::to_string(arm));
    return static_cast<std::uint32_t>(arm);
}

template <class Engine>
banditree::ArmIndices as_arms(const Engine& engine, const IntArray& arms) {
    check_aligned(arms.data());
    const banditree::ArmIndices indices(arms.data(), arms.shape(0));
    for (const auto arm : indices) as_arm(engine, arm);
    return indices;
}

// The arms of a decision: at least one.
template <class Engine>
banditree::ArmIndices as_eligible(const Engine& engine, const IntArray& arms) {
    if (arms.shape(0) == 0) throw std::invalid_argument("no arm is eligible");
    return as_arms(engine, arms);
}

// A context to decide for. Categories never seen are no error there.
template <class Engine>
const double* as_context(const Engine& engine, const DoubleArray& context) {
    check_length(context.shape(0), engine.kinds().size(), "context");
    const auto values = as_span(context);
    check_finite(values);
    return values.data();
}

template <class Engine>
banditree::Matrix as_contexts(const Engine& engine, const DoubleMatrix& contexts) {
    const banditree::Matrix matrix = as_matrix(contexts);
    check_length(matrix.columns, engine.kinds().size(), "context");
    check_finite({matrix.data, matrix.rows * matrix.columns});
    return matrix;
}

template <class Engine>
void learn(Engine& engine, std::int64_t arm, const DoubleArray& context, double reward) {
    const auto row = as_span(context);
    check_contexts({row.data(), 1, row.size()}, engine.kinds());
    check_reward(reward);
    engine.learn(as_arm(engine, arm), row, reward);
}

template <class Engine>
void learn_many(Engine& engine, const IntArray& arms, const DoubleMatrix& contexts,
                const DoubleArray& rewards) {
    const banditree::Matrix matrix = as_matrix(contexts);
    check_contexts(matrix, engine.kinds());
    check_length(arms.shape(0), matrix.rows, "arms");
    check_length(rewards.shape(0), matrix.rows, "rewards");
    for (const double reward : as_span(rewards)) check_reward(reward);
    engine.learn_many(as_arms(engine, arms), matrix, as_span(rewards));
}

template <class Engine>
std::int64_t decide(Engine& engine, const DoubleArray& context, const IntArray& eligible,
                    banditree::Rng& rng) {
    return engine.decide(as_context(engine, context), as_eligible(engine, eligible), rng);
}

// decide_one(context, eligible, rng) for each context, while other threads run.
template <class Engine, class DecideOne>
auto decide_each(const Engine& engine, const DoubleMatrix& contexts, const IntArray& eligible,
                 banditree::Rng& rng, DecideOne decide_one) {
    const banditree::Matrix matrix = as_matrix(contexts);
    check_length(matrix.columns, engine.kinds().size(), "context");
    const auto arms = as_eligible(engine, eligible);
    std::vector<std::int64_t> chosen(matrix.rows);
    // A copy: generators of other threads may lie beside this one in memory, and processors would
    // take the line that they share from each other at every draw.
    banditree::Rng own = rng;
    {
        nanobind::gil_scoped_release others_may_run;
        check_finite({matrix.data, matrix.rows * matrix.columns});
        for (std::size_t i = 0; i < matrix.rows; ++i)
            chosen[i] = decide_one(matrix.data + i * matrix.columns, arms, own);
    }
    rng = own;
    return banditree::to_numpy(std::move(chosen));
}

template <class Engine>
auto decide_many(Engine& engine, const DoubleMatrix& contexts, const IntArray& eligible,
                 banditree::Rng& rng) {
    return decide_each(engine, contexts, eligible, rng,
                       [&](const double* context, const auto& arms, banditree::Rng& own) {
                           return engine.decide(context, arms, own);
                       });
}

template <class Engine>
std::int64_t decide_greedily(const Engine& engine, const DoubleArray& context,
                             const IntArray& eligible, banditree::Rng& rng) {
    return engine.decide_greedily(as_context(engine, context), as_eligible(engine, eligible), rng);
}

template <class Engine>
auto decide_many_greedily(const Engine& engine, const DoubleMatrix& contexts,
                          const IntArray& eligible, banditree::Rng& rng) {
    return decide_each(engine, contexts, eligible, rng,
                       [&](const double* context, const auto& arms, banditree::Rng& own) {
                           return engine.decide_greedily(context, arms, own);
                       });
}

// Number, sum and squared error of the rewards in the leaf of each eligible arm, one row each.
template <class Engine>
auto evidence(const Engine& engine, const DoubleArray& context, const IntArray& eligible) {
    const double* row = as_context(engine, context);
    const banditree::ArmIndices arms = as_eligible(engine, eligible);
    std::vector<double> values(3 * arms.size());
    for (std::size_t i = 0; i < arms.size(); ++i) {
        const banditree::Evidence leaf = engine.evidence(static_cast<std::uint32_t>(arms[i]), row);
        values[i] = leaf.n;
        values[arms.size() + i] = leaf.total;
        values[2 * arms.size() + i] = leaf.squared_error;
    }
    return banditree::to_numpy(std::move(values), 3, arms.size());
}

// Of engines that can have a window.
template <class Engine>
void keep_last(Engine& engine, const IntArray& counts) {
    check_aligned(counts.data());
    check_length(counts.shape(0), engine.n_arms(), "counts");
    const std::span<const std::int64_t> each(counts.data(), counts.shape(0));
    if (std::any_of(each.begin(), each.end(), [](std::int64_t count) { return count < 0; }))
        throw std::invalid_argument("counts must not be negative");
    if (engine.window().size == 0) throw std::invalid_argument("the engine has no window");
    engine.keep_last(each);
}

// Of engines whose arms may keep the last rows only.
template <class Engine>
void restore(Engine& engine, std::int64_t arm, const DoubleMatrix& contexts,
             const DoubleArray& rewards, std::size_t n_learned) {
    const std::uint32_t id = as_arm(engine, arm);
    const banditree::Matrix matrix = as_matrix(contexts);
    check_contexts(matrix, engine.kinds());
    check_length(rewards.shape(0), matrix.rows, "rewards");
    for (const double reward : as_span(rewards)) check_reward(reward);
    if (engine.rows(id).n_rows() > 0 || !engine.window().allows(matrix.rows, n_learned))
        throw std::invalid_argument("the arm cannot be restored");
    engine.restore(id, matrix, as_span(rewards), n_learned);
}

// Whether each feature is a category.
template <class Believer>
auto categorical(const Believer& believer) {
    std::vector<std::uint8_t> flags;
    for (const banditree::Kind kind : believer.kinds())
        flags.push_back(kind == banditree::Kind::category);
    return banditree::to_numpy(std::move(flags));
}

template <class T>
auto bytes_of(const T& written) {
    banditree::ByteWriter out;
    written.write(out);
    return banditree::to_numpy(out.take());
}

using SpreadValues = std::tuple<double, double, double, double, double>;

template <class Engine>
SpreadValues spread(Engine& engine) {
    const banditree::Spread& spread = engine.spread();
    return {spread.n, spread.mean, spread.squared_error, spread.lowest, spread.highest};
}

template <class Engine>
void set_spread(Engine& engine, const SpreadValues& values) {
    const auto& [n, mean, squared_error, lowest, highest] = values;
    const banditree::Spread spread{n, mean, squared_error, lowest, highest};
    if (!spread.is_sound())
        throw std::invalid_argument(
            "a spread is five finite numbers: the number of rewards, their mean, squared error, "
            "smallest and largest, of which the first and third are not negative");
    engine.spread() = spread;
}

template <class Engine>
auto dump(const Engine& engine) {
    banditree::ByteWriter out;
    // Most of it is values, and to copy it again as it grows would take twice as long.
    std::size_t n_bytes = 1 << 20;
    for (std::uint32_t arm = 0; arm < engine.n_arms(); ++arm)
        n_bytes += engine.rows(arm).value_bytes();
    out.reserve(n_bytes + n_bytes / 2);
    engine.write(out);
    return banditree::to_numpy(out.take());
}

template <class Engine>
void load(Engine& engine, const ByteArray& state) {
    banditree::ByteReader in({state.data(), state.shape(0)});
    engine.read(in);
}

// What engines offer whose leaves say what is known of an arm.
template <class Engine>
void bind_leaves(nanobind::class_<Engine>& bound) {
    using namespace nanobind::literals;
    bound
        .def("decide_greedily", &decide_greedily<Engine>, "context"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def("decide_many_greedily", &decide_many_greedily<Engine>, "contexts"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def("evidence", &evidence<Engine>, "context"_a.noconvert(), "eligible"_a.noconvert());
}

// What every engine offers under the same name.
template <class Engine>
    requires banditree::Engine<Engine>
void bind_learning(nanobind::class_<Engine>& bound) {
    using namespace nanobind::literals;
    // Learning keeps other threads waiting, though it may grow trees: one that forks meanwhile
    // would leave its child with half an engine.
    bound.def("add_arm", &Engine::add_arm)
        .def(
            "set_categorical",
            [](Engine& engine, const ByteArray& flags) { engine.set_kinds(as_kinds(flags)); },
            "categorical"_a.noconvert())
        .def("learn", &learn<Engine>, "arm"_a, "context"_a.noconvert(), "reward"_a)
        .def("learn_many", &learn_many<Engine>, "arms"_a.noconvert(), "contexts"_a.noconvert(),
             "rewards"_a.noconvert())
        .def("keep_last", &keep_last<Engine>, "counts"_a.noconvert())
        .def("load", &load<Engine>, "state"_a.noconvert(), "Becomes the engine that was dumped.");
}

// What engines offer that work beside decisions.
template <class Engine>
void bind_tending(nanobind::class_<Engine>& bound) {
    bound
        .def("tend", &Engine::tend,
             "Takes over what has been grown beside, and begins what is due; returns whether "
             "anything is being grown.")
        .def(
            "wait",
            [](Engine& engine) {
                const auto waiting = engine.waiting();
                nanobind::gil_scoped_release others_may_run;
                waiting.wait();
            },
            "Waits for what is being grown.");
}

// What engines offer besides that keep the rows of each arm by themselves.
template <class Engine>
void bind_engine(nanobind::class_<Engine>& bound) {
    using namespace nanobind::literals;
    bind_learning(bound);
    bound.def_prop_ro("n_arms", &Engine::n_arms)
        .def(
            "n_rows",
            [](const Engine& engine, std::int64_t arm) {
                return engine.rows(as_arm(engine, arm)).n_rows();
            },
            "arm"_a)
        .def(
            "rows",
            [](const Engine& engine, std::int64_t arm) {
                return rows_of(engine.rows(as_arm(engine, arm)));
            },
            "arm"_a, "Contexts and rewards of the arm.")
        .def(
            "edges",
            [](const Engine& engine, std::int64_t arm) {
                return engine.rows(as_arm(engine, arm)).edges();
            },
            "arm"_a, "Of the bins of each number feature.")
        .def("dump", &dump<Engine>, "All that the engine holds, as bytes.")
        .def_prop_rw("spread", &spread<Engine>, &set_spread<Engine>,
                     "Number, mean, squared error, smallest and largest of all rewards.");
}

// What engines offer besides whose arms keep their trees.
template <class Engine>
void bind_tree_engine(nanobind::class_<Engine>& bound) {
    using namespace nanobind::literals;
    bind_engine(bound);
    bound
        .def("decide", &decide<Engine>, "context"_a.noconvert(), "eligible"_a.noconvert(),
             "random"_a)
        .def("decide_many", &decide_many<Engine>, "contexts"_a.noconvert(),
             "eligible"_a.noconvert(), "random"_a)
        .def("freeze", &Engine::freeze)
        .def("restore", &restore<Engine>, "arm"_a, "contexts"_a.noconvert(),
             "rewards"_a.noconvert(), "n_learned"_a);
    bind_tending(bound);
}
