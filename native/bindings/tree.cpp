#include "tree.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "arrays.hpp"
#include "inputs.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace banditree;

namespace {

using Edges = std::vector<std::vector<double>>;

void check_rows(const Matrix& matrix, const std::vector<Kind>& kinds, std::span<const double> y,
                std::span<const double> w) {
    check_contexts(matrix, kinds);
    check_length(y.size(), matrix.rows, "y");
    if (!w.empty()) check_length(w.size(), matrix.rows, "weights");
    for (const double reward : y) check_reward(reward);
    bool any = w.empty() && !y.empty();
    for (const double weight : w) {
        check_weight(weight);
        any |= weight > 0;
    }
    if (!any) throw std::invalid_argument("there is no row of positive weight");
}

void check_edges(const Edges& edges, std::size_t n_features) {
    check_length(edges.size(), n_features, "edges");
    for (const auto& list : edges)
        for (std::size_t i = 0; i < list.size(); ++i)
            if (!std::isfinite(list[i]) || (i > 0 && !(list[i - 1] < list[i])))
                throw std::invalid_argument("bin edges must be finite and ascending");
}

BoundTree fit(const DoubleMatrix& contexts, const ByteArray& categorical, const DoubleArray& y,
              const std::optional<DoubleArray>& weights, std::int64_t min_split,
              std::int64_t min_leaf, std::optional<std::int64_t> max_depth,
              std::optional<std::int64_t> max_bins, const std::optional<Edges>& edges) {
    Encoding encoding;
    encoding.kinds = as_kinds(categorical);
    encoding.max_bins = as_max_bins(max_bins);
    const Matrix matrix = as_matrix(contexts);
    const auto w = weights ? as_span(*weights) : std::span<const double>();
    if (weights) check_length(w.size(), matrix.rows, "weights");
    check_rows(matrix, encoding.kinds, as_span(y), w);
    if (edges) {
        check_edges(*edges, matrix.columns);
        encoding.given_edges = *edges;
    }
    BoundTree bound;
    bound.growth = as_growth(min_split, min_leaf, max_depth);
    bound.n_features = matrix.columns;
    // Another thread may write to the arrays, so they are read while the interpreter is held.
    bound.data = std::make_shared<const Dataset>(encode(matrix, as_span(y), w, encoding));
    nb::gil_scoped_release release;
    bound.tree =
        grow(*bound.data, Sample::of(*bound.data, std::span<const double>()), bound.growth).tree;
    return bound;
}

double predict_one(const BoundTree& bound, const DoubleArray& context) {
    check_length(context.shape(0), bound.n_features, "context");
    check_finite(as_span(context));
    return bound.tree.leaf_of(context.data()).mean;
}

auto predict(const BoundTree& bound, const DoubleMatrix& contexts) {
    check_length(contexts.shape(1), bound.n_features, "context");
    std::vector<double> means(contexts.shape(0));
    for (std::size_t i = 0; i < means.size(); ++i)
        means[i] = bound.tree.leaf_of(contexts.data() + i * bound.n_features).mean;
    return to_numpy(std::move(means));
}

BoundTree prune(const BoundTree& bound, double alpha) {
    if (!(alpha >= 0)) throw std::invalid_argument("alpha must be at least 0");
    return {bound.tree.prune(alpha), bound.growth, bound.n_features, nullptr};
}

auto pruning_path(const BoundTree& bound) {
    PruningPath path = bound.tree.pruning_path();
    std::vector<std::int64_t> leaves(path.leaves.begin(), path.leaves.end());
    return std::make_tuple(to_numpy(std::move(path.alphas)), to_numpy(std::move(leaves)),
                           to_numpy(std::move(path.costs)));
}

auto cross_validate_tree(const BoundTree& bound, const IntArray& folds, std::int64_t n_folds) {
    if (!bound.data) throw std::invalid_argument("a pruned tree has no data to cross-validate on");
    check_length(folds.shape(0), bound.data->n_rows(), "folds");
    if (n_folds < 2) throw std::invalid_argument("cross-validation needs at least two folds");
    std::vector<std::uint32_t> ids(folds.shape(0));
    std::vector<bool> used(
        static_cast<std::size_t>(std::min<std::int64_t>(n_folds, ids.size() + 1)), false);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::int64_t id = folds.data()[i];
        if (id < 0 || id >= n_folds)
            throw std::invalid_argument("fold ids must lie in 0..n_folds-1");
        ids[i] = static_cast<std::uint32_t>(id);
        if (ids[i] < used.size()) used[ids[i]] = true;
    }
    if (used.size() < static_cast<std::size_t>(n_folds) ||
        std::count(used.begin(), used.end(), true) != n_folds)
        throw std::invalid_argument("every fold needs at least one row");
    CrossValidation result;
    {
        nb::gil_scoped_release release;
        result = cross_validate(*bound.data, bound.growth, bound.tree.pruning_path(), ids,
                                static_cast<std::uint32_t>(n_folds));
    }
    return std::make_tuple(to_numpy(std::move(result.alphas)), to_numpy(std::move(result.errors)),
                           to_numpy(std::move(result.standard_errors)), result.best_alpha);
}

// What the tree grown with these weights and pruned at alpha says, without growing it.
double lazy_predict_one(const BoundTree& bound, const DoubleArray& weights, double alpha,
                        const DoubleArray& context) {
    if (!bound.data) throw std::invalid_argument("a pruned tree has no data to grow on");
    if (!(alpha >= 0)) throw std::invalid_argument("alpha must be at least 0");
    check_length(weights.shape(0), bound.data->n_rows(), "weights");
    check_length(context.shape(0), bound.n_features, "context");
    for (const double weight : as_span(weights)) check_weight(weight);
    Sample sample = Sample::of(*bound.data, as_span(weights));
    if (sample.rows.empty()) throw std::invalid_argument("there is no row of positive weight");
    return lazy_predict(*bound.data, std::move(sample), bound.growth, alpha, context.data());
}

template <class T, class Get>
auto column(const Tree& tree, Get get) {
    std::vector<T> values;
    values.reserve(tree.nodes.size());
    for (const Node& node : tree.nodes) values.push_back(static_cast<T>(get(node)));
    return to_numpy(std::move(values));
}

// The nodes as columns, for inspection from Python; category ids, not codes, so missing is -1.
nb::dict nodes(const BoundTree& bound) {
    const Tree& tree = bound.tree;
    nb::dict columns;
    columns["n"] = column<std::int64_t>(tree, [](const Node& node) { return node.n; });
    columns["weight"] = column<double>(tree, [](const Node& node) { return node.weight; });
    columns["mean"] = column<double>(tree, [](const Node& node) { return node.mean; });
    columns["cost"] = column<double>(tree, [](const Node& node) { return node.cost; });
    columns["gain"] = column<double>(tree, [](const Node& node) { return node.gain; });
    columns["feature"] = column<std::int64_t>(tree, [](const Node& node) { return node.feature; });
    columns["threshold"] = column<double>(tree, [](const Node& node) { return node.threshold; });
    columns["right"] = column<std::int64_t>(tree, [](const Node& node) { return node.right; });
    columns["sides"] = column<std::int64_t>(tree, [](const Node& node) { return node.sides; });
    columns["missing_left"] =
        column<std::uint8_t>(tree, [](const Node& node) { return node.missing_left; });
    return columns;
}

nb::list sides(const BoundTree& bound) {
    const auto ids = [](const std::vector<std::uint32_t>& codes) {
        std::vector<std::int64_t> list;
        for (const auto code : codes)
            if (code > 0) list.push_back(static_cast<std::int64_t>(code) - 1);
        return list;
    };
    nb::list result;
    for (const Sides& side : bound.tree.sides)
        result.append(nb::make_tuple(ids(side.left), ids(side.right)));
    return result;
}

}  // namespace

void bind_tree(nb::module_& m) {
    nb::class_<BoundTree>(m, "Tree")
        .def_static("fit", &fit, "contexts"_a.noconvert(), "categorical"_a.noconvert(),
                    "y"_a.noconvert(), "weights"_a.noconvert().none(), "min_split"_a, "min_leaf"_a,
                    "max_depth"_a.none(), "max_bins"_a.none(), "edges"_a.none())
        .def("predict_one", &predict_one, "context"_a.noconvert())
        .def("predict", &predict, "contexts"_a.noconvert())
        .def("prune", &prune, "alpha"_a)
        .def("pruning_path", &pruning_path)
        .def("cross_validate", &cross_validate_tree, "folds"_a.noconvert(), "n_folds"_a)
        .def("lazy_predict_one", &lazy_predict_one, "weights"_a.noconvert(), "alpha"_a,
             "context"_a.noconvert())
        .def("nodes", &nodes)
        .def("sides", &sides)
        .def_prop_ro("n_features", [](const BoundTree& bound) { return bound.n_features; })
        .def_prop_ro("n_rows",
                     [](const BoundTree& bound) { return bound.data ? bound.data->n_rows() : 0; })
        .def_prop_ro("n_leaves", [](const BoundTree& bound) { return bound.tree.n_leaves(); })
        .def_prop_ro("depth", [](const BoundTree& bound) { return bound.tree.depth(); });
}
