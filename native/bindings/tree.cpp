#include "tree.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

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
              std::optional<std::int64_t> max_bins, bool adjusted,
              const std::optional<Edges>& edges) {
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
    bound.growth = as_growth(min_split, min_leaf, max_depth, adjusted);
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
    const auto values = as_span(context);
    check_finite(values);
    return bound.tree.leaf_of(values.data()).mean;
}

auto predict(const BoundTree& bound, const DoubleMatrix& contexts) {
    check_length(contexts.shape(1), bound.n_features, "context");
    const Matrix matrix = as_matrix(contexts);
    std::vector<double> means(matrix.rows);
    for (std::size_t i = 0; i < means.size(); ++i)
        means[i] = bound.tree.leaf_of(matrix.data + i * matrix.columns).mean;
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
    check_aligned(folds.data());
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
                           to_numpy(std::move(result.standard_errors)), result.best_alpha,
                           result.lasting_alpha);
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
    return lazy_predict(*bound.data, std::move(sample), bound.growth, alpha,
                        as_span(context).data());
}

// A node as a row of numbers, in this order, for inspection from Python and for pickling.
constexpr std::size_t kNumbers = 11;

std::array<double, kNumbers> as_numbers(const Node& node) {
    return {static_cast<double>(node.n),
            node.weight,
            node.mean,
            node.cost,
            node.gain,
            node.threshold,
            static_cast<double>(node.feature),
            static_cast<double>(node.right),
            static_cast<double>(node.sides),
            node.missing_left ? 1.0 : 0.0,
            node.saw_missing ? 1.0 : 0.0};
}

double index_in(double value, double least, double end) {
    if (!(value >= least && value < end && value == std::floor(value)))
        throw std::invalid_argument("the nodes are damaged: an index is out of range");
    return value;
}

double sane(double value, double least) {
    if (!(value >= least && value <= std::numeric_limits<double>::max()))
        throw std::invalid_argument("the nodes are damaged: a number is out of range");
    return value;
}

Node as_node(const double* numbers, double n_nodes, double n_features, double n_sides) {
    Node node;
    node.n = static_cast<std::uint32_t>(index_in(numbers[0], 1, 4294967296.0));
    node.weight = sane(numbers[1], 0);
    node.mean = sane(numbers[2], std::numeric_limits<double>::lowest());
    node.cost = sane(numbers[3], 0);
    node.gain = sane(numbers[4], 0);
    node.threshold = numbers[5];
    node.feature = static_cast<std::int32_t>(index_in(numbers[6], -1, n_features));
    node.right = static_cast<std::int32_t>(index_in(numbers[7], -1, n_nodes));
    node.sides = static_cast<std::int32_t>(index_in(numbers[8], -1, n_sides));
    node.missing_left = numbers[9] != 0;
    node.saw_missing = numbers[10] != 0;
    return node;
}

auto nodes(const BoundTree& bound) {
    std::vector<double> numbers;
    for (const Node& node : bound.tree.nodes) {
        const auto row = as_numbers(node);
        numbers.insert(numbers.end(), row.begin(), row.end());
    }
    return to_numpy(std::move(numbers), bound.tree.nodes.size(), kNumbers);
}

using CategoryIds = std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>>;

// Ids are codes minus one: -1 stands for missing.
CategoryIds as_ids(const Sides& sides) {
    const auto shifted = [](const std::vector<std::uint32_t>& codes) {
        std::vector<std::int64_t> ids;
        for (const auto code : codes) ids.push_back(static_cast<std::int64_t>(code) - 1);
        return ids;
    };
    return {shifted(sides.left), shifted(sides.right)};
}

Sides as_sides(const CategoryIds& ids) {
    const auto shifted = [](const std::vector<std::int64_t>& list) {
        std::vector<std::uint32_t> codes;
        for (const auto id : list)
            codes.push_back(static_cast<std::uint32_t>(
                index_in(static_cast<double>(id), -1, kMaxCategories) + 1));
        std::sort(codes.begin(), codes.end());
        return codes;
    };
    return {shifted(std::get<0>(ids)), shifted(std::get<1>(ids))};
}

std::vector<CategoryIds> sides(const BoundTree& bound) {
    std::vector<CategoryIds> all;
    for (const Sides& sides : bound.tree.sides) all.push_back(as_ids(sides));
    return all;
}

// A tree from its nodes and sides, without data.
BoundTree restore(const DoubleMatrix& numbers, const std::vector<CategoryIds>& sides,
                  std::int64_t n_features) {
    check_length(numbers.shape(1), kNumbers, "a node");
    if (numbers.shape(0) == 0 || n_features < 0 ||
        n_features > std::numeric_limits<std::int32_t>::max())
        throw std::invalid_argument("the nodes are damaged: there are none");
    BoundTree bound;
    bound.n_features = static_cast<std::size_t>(n_features);
    for (const auto& ids : sides) bound.tree.sides.push_back(as_sides(ids));
    for (std::size_t i = 0; i < numbers.shape(0); ++i)
        bound.tree.nodes.push_back(
            as_node(numbers.data() + i * kNumbers, static_cast<double>(numbers.shape(0)),
                    static_cast<double>(n_features), static_cast<double>(sides.size())));
    if (!is_depth_first(bound.tree.nodes))
        throw std::invalid_argument("the nodes are damaged: they are not one tree");
    return bound;
}

// The rows that the tree was grown on, as far as its codes tell: contexts, rewards, weights.
auto rows(const BoundTree& bound) {
    if (!bound.data) throw std::invalid_argument("a pruned tree has no data");
    const Dataset& data = *bound.data;
    const std::size_t n = data.n_rows(), m = data.features.size();
    std::vector<double> contexts(n * m), rewards(n), weights(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < m; ++f)
            contexts[i * m + f] = data.features[f].value_of(data.features[f].codes.at(i));
        rewards[i] = data.offset + data.y[i];
        weights[i] = data.weight(i);
    }
    return std::make_tuple(to_numpy(std::move(contexts), n, m), to_numpy(std::move(rewards)),
                           to_numpy(std::move(weights)));
}

std::optional<Edges> edges(const BoundTree& bound) {
    if (!bound.data || bound.data->features.empty()) return std::nullopt;
    Edges lists;
    bool binned = false;
    for (const Feature& feature : bound.data->features) {
        binned |= feature.binned;
        lists.push_back(feature.binned ? feature.values : std::vector<double>());
    }
    return binned ? std::optional(lists) : std::nullopt;
}

}  // namespace

void bind_tree(nb::module_& m) {
    nb::class_<BoundTree>(m, "Tree")
        .def_static("fit", &fit, "contexts"_a.noconvert(), "categorical"_a.noconvert(),
                    "y"_a.noconvert(), "weights"_a.noconvert().none(), "min_split"_a, "min_leaf"_a,
                    "max_depth"_a.none(), "max_bins"_a.none(), "adjusted"_a, "edges"_a.none())
        .def_static("restore", &restore, "nodes"_a.noconvert(), "sides"_a, "n_features"_a)
        .def("predict_one", &predict_one, "context"_a.noconvert())
        .def("predict", &predict, "contexts"_a.noconvert())
        .def("prune", &prune, "alpha"_a)
        .def("pruning_path", &pruning_path)
        .def("cross_validate", &cross_validate_tree, "folds"_a.noconvert(), "n_folds"_a)
        .def("lazy_predict_one", &lazy_predict_one, "weights"_a.noconvert(), "alpha"_a,
             "context"_a.noconvert())
        .def("rows", &rows)
        .def("edges", &edges)
        .def("nodes", &nodes)
        .def("sides", &sides)
        .def_prop_ro("n_features", [](const BoundTree& bound) { return bound.n_features; })
        .def_prop_ro("n_rows",
                     [](const BoundTree& bound) { return bound.data ? bound.data->n_rows() : 0; })
        .def_prop_ro("n_leaves", [](const BoundTree& bound) { return bound.tree.n_leaves(); })
        .def_prop_ro("depth", [](const BoundTree& bound) { return bound.tree.depth(); });
}
