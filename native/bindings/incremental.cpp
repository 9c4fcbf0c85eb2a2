#include "incremental.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <stdexcept>

#include "arrays.hpp"
#include "banditree/trees/incremental.hpp"
#include "inputs.hpp"
#include "rows.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

constexpr std::size_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void check_room(const IncrementalTree& tree, std::size_t more) {
    if (tree.n_rows() + more > kMaxRows)
        throw std::invalid_argument("a tree holds at most 2^31 - 1 rows");
}

void construct(IncrementalTree* self, std::int64_t min_split, std::int64_t min_leaf,
               std::optional<std::int64_t> max_depth, std::optional<std::int64_t> max_bins,
               bool adjusted) {
    new (self)
        IncrementalTree(as_growth(min_split, min_leaf, max_depth, adjusted), as_max_bins(max_bins));
}

void set_categorical(IncrementalTree& tree, const ByteArray& categorical) {
    tree.set_kinds(as_kinds(categorical));
}

void learn(IncrementalTree& tree, const DoubleArray& context, double reward, double weight) {
    check_room(tree, 1);
    check_contexts({as_span(context).data(), 1, context.shape(0)}, tree.rows().kinds());
    check_reward(reward);
    check_weight(weight);
    tree.learn(as_span(context), reward, weight);
}

void check_rows(const IncrementalTree& tree, const Matrix& contexts,
                std::span<const double> rewards, std::span<const double> weights) {
    check_room(tree, contexts.rows);
    check_contexts(contexts, tree.rows().kinds());
    check_length(rewards.size(), contexts.rows, "y");
    for (const double reward : rewards) check_reward(reward);
    for (const double weight : weights) check_weight(weight);
}

void learn_many(IncrementalTree& tree, const DoubleMatrix& contexts, const DoubleArray& rewards,
                const std::optional<DoubleArray>& weights) {
    const auto w = weights ? as_span(*weights) : std::span<const double>();
    if (weights) check_length(w.size(), contexts.shape(0), "weights");
    check_rows(tree, as_matrix(contexts), as_span(rewards), w);
    tree.learn_many(as_matrix(contexts), as_span(rewards), w);
}

void restore(IncrementalTree& tree, const DoubleMatrix& contexts, const DoubleArray& rewards,
             const DoubleArray& weights, std::size_t renewed_at, std::size_t forgotten) {
    check_length(weights.shape(0), contexts.shape(0), "weights");
    check_rows(tree, as_matrix(contexts), as_span(rewards), as_span(weights));
    tree.restore(as_matrix(contexts), as_span(rewards), as_span(weights), renewed_at, forgotten);
}

double predict_one(IncrementalTree& tree, const DoubleArray& context) {
    check_length(context.shape(0), tree.rows().kinds().size(), "context");
    if (tree.n_rows() == 0) throw std::invalid_argument("the tree has learned nothing yet");
    check_finite(as_span(context));
    return tree.predict(context.data());
}

BoundTree as_tree(IncrementalTree& tree) {
    if (tree.n_rows() == 0) throw std::invalid_argument("the tree has learned nothing yet");
    return {tree.as_tree(), tree.growth(), tree.rows().kinds().size(),
            std::make_shared<const Dataset>(tree.rows().snapshot())};
}

auto predict(IncrementalTree& tree, const DoubleMatrix& contexts) {
    check_length(contexts.shape(1), tree.rows().kinds().size(), "context");
    if (tree.n_rows() == 0) throw std::invalid_argument("the tree has learned nothing yet");
    const Matrix matrix = as_matrix(contexts);
    std::vector<double> means(matrix.rows);
    for (std::size_t i = 0; i < means.size(); ++i)
        means[i] = tree.predict(matrix.data + i * matrix.columns);
    return to_numpy(std::move(means));
}

// All that the tree stores, forgotten rows included: contexts, rewards, weights; and what
// `restore` needs beside them.
auto rows(const IncrementalTree& tree) {
    std::vector<double> weights(tree.rows().n_rows());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = tree.rows().data().weight(i);
    return std::tuple_cat(rows_of(tree.rows()),
                          std::make_tuple(to_numpy(std::move(weights)), tree.rows().renewed_at(),
                                          tree.rows().forgotten()));
}

}  // namespace

void bind_incremental(nb::module_& m) {
    nb::class_<IncrementalTree>(m, "IncrementalTree")
        .def("__init__", &construct, "min_split"_a, "min_leaf"_a, "max_depth"_a.none(),
             "max_bins"_a.none(), "adjusted"_a)
        .def("set_categorical", &set_categorical, "categorical"_a.noconvert())
        .def("learn", &learn, "context"_a.noconvert(), "reward"_a, "weight"_a)
        .def("learn_many", &learn_many, "contexts"_a.noconvert(), "rewards"_a.noconvert(),
             "weights"_a.noconvert().none())
        .def("forget", &IncrementalTree::forget)
        .def("restore", &restore, "contexts"_a.noconvert(), "rewards"_a.noconvert(),
             "weights"_a.noconvert(), "renewed_at"_a, "forgotten"_a)
        .def("predict_one", &predict_one, "context"_a.noconvert())
        .def("predict", &predict, "contexts"_a.noconvert())
        .def("as_tree", &as_tree)
        .def("edges", [](const IncrementalTree& tree) { return tree.rows().edges(); })
        .def("rows", &rows)
        .def_prop_ro("n_rows", &IncrementalTree::n_rows)
        .def_prop_ro("n_features",
                     [](const IncrementalTree& tree) { return tree.rows().kinds().size(); })
        .def_prop_ro("bytes", &IncrementalTree::bytes)
        .def_prop_ro("encoded_bytes",
                     [](const IncrementalTree& tree) { return tree.rows().value_bytes(); });
}
