#include "banditree/trees/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace banditree {

namespace {

// A variance that cancels out leaves the root of a rounding error.
constexpr double kPairedTolerance = 1e-6;

// The alpha that stands for each subtree of the path: the geometric mid-point of its interval.
std::vector<double> midpoints(const std::vector<double>& alphas) {
    std::vector<double> betas;
    for (std::size_t i = 0; i + 1 < alphas.size(); ++i)
        betas.push_back(std::sqrt(alphas[i] * alphas[i + 1]));
    betas.push_back(std::numeric_limits<double>::infinity());
    return betas;
}

// See CrossValidation::lasting_alpha.
double lasting(const std::vector<double>& alphas, std::size_t i) {
    if (i + 1 < alphas.size()) return std::sqrt(alphas[i] * std::sqrt(alphas[i] * alphas[i + 1]));
    return i > 0 ? 1.25 * alphas[i] : std::numeric_limits<double>::infinity();
}

// Held-out errors summed for ranges of betas at a time; `totals` undoes the differences.
class RangeSums {
 public:
    explicit RangeSums(std::size_t n) : steps_(n + 1, 0.0) {}
    void add(std::size_t begin, std::size_t end, double value) {
        steps_[begin] += value;
        steps_[end] -= value;
    }
    std::vector<double> totals() const {
        std::vector<double> totals(steps_.size() - 1);
        double sum = 0;
        for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = sum += steps_[i];
        return totals;
    }

 private:
    std::vector<double> steps_;
};

// Errors, and what they are more than those of the tree that is only a leaf, row by row.
struct HeldOut {
    explicit HeldOut(std::size_t n) : error(n), squared(n), excess(n), squared_excess(n) {}
    RangeSums error;
    RangeSums squared;
    RangeSums excess;
    RangeSums squared_excess;

    void add(std::size_t begin, std::size_t end, double weight, double error_here,
             double error_of_leaf) {
        const double more = error_here - error_of_leaf;
        error.add(begin, end, weight * error_here);
        squared.add(begin, end, weight * error_here * error_here);
        excess.add(begin, end, weight * more);
        squared_excess.add(begin, end, weight * more * more);
    }
};

// The variance of a sum of so much weight.
double variance_of(double sum, double squared, double weight) {
    return std::max(squared - sum * sum / weight, 0.0);
}

// Where the leaf is best: the largest tree that is not worse by a standard error of what they
// differ in, row by row; the leaf if there is none. Equality, up to rounding, goes to the leaf.
std::size_t largest_like_leaf(const HeldOut& held_out, double total_weight) {
    const auto excess = held_out.excess.totals();
    const auto squared = held_out.squared_excess.totals();
    const double tolerance = kPairedTolerance * held_out.error.totals().back();
    for (std::size_t i = 0; i + 1 < excess.size(); ++i)
        if (excess[i] + tolerance < std::sqrt(variance_of(excess[i], squared[i], total_weight)))
            return i;
    return excess.size() - 1;
}

// One held-out row: each node on its way answers for the betas from its own alpha up to the alpha
// of the nodes above.
void score(const Dataset& data, const Tree& tree, const std::vector<std::size_t>& first_beta,
           std::size_t n_betas, std::uint32_t row, HeldOut& held_out) {
    const auto error_at = [&](std::int32_t i) {
        const double difference = data.offset + data.y[row] - tree.nodes[i].mean;
        return difference * difference;
    };
    std::size_t end = n_betas;
    for (std::int32_t i = 0;;) {
        const std::size_t begin = first_beta[i];
        if (begin < end) {
            held_out.add(begin, end, data.weight(row), error_at(i), error_at(0));
            end = begin;
        }
        if (end == 0) return;
        const Node& node = tree.nodes[i];
        const Feature& feature = data.features[node.feature];
        const double value = feature.value_of(feature.codes.at(row));
        i = tree.goes_left_value(node, value) ? i + 1 : node.right;
    }
}

// The rows in a fold and the others, and the others' share of the weight.
struct Parts {
    std::vector<std::uint32_t> held;
    std::vector<std::uint32_t> rest;
    double share = 0;
};

Parts divide(const Dataset& data, std::span<const std::uint32_t> folds, std::uint32_t fold) {
    Parts parts;
    double total = 0;
    for (std::uint32_t row = 0; row < data.n_rows(); ++row) {
        if (!(data.weight(row) > 0)) continue;
        total += data.weight(row);
        (folds[row] == fold ? parts.held : parts.rest).push_back(row);
    }
    for (const auto row : parts.rest) parts.share += data.weight(row);
    parts.share /= total;
    return parts;
}

const Node& leaf_of_row(const Dataset& data, const Tree& tree, std::uint32_t row) {
    std::size_t i = 0;
    while (!tree.nodes[i].is_leaf()) {
        const Node& node = tree.nodes[i];
        const Feature& feature = data.features[node.feature];
        const double value = feature.value_of(feature.codes.at(row));
        i = tree.goes_left_value(node, value) ? i + 1 : node.right;
    }
    return tree.nodes[i];
}

void score_fold(const Dataset& data, const Growth& growth, const std::vector<double>& betas,
                const Parts& parts, HeldOut& held_out) {
    const Tree tree = grow(data, Sample::of(data, parts.rest), growth).tree;
    const auto node_alphas = tree.pruning_path().node_alphas;
    const double share = parts.share;
    std::vector<std::size_t> first_beta(tree.nodes.size());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto at = std::partition_point(betas.begin(), betas.end(), [&](double beta) {
            return beta * share * (1 + kAlphaTolerance) < node_alphas[i];
        });
        first_beta[i] = static_cast<std::size_t>(at - betas.begin());
    }
    for (const auto row : parts.held) score(data, tree, first_beta, betas.size(), row, held_out);
}

}  // namespace

CrossValidation cross_validate(const Dataset& data, const Growth& growth, const PruningPath& path,
                               std::span<const std::uint32_t> folds, std::uint32_t n_folds) {
    const auto betas = midpoints(path.alphas);
    double total_weight = 0;
    for (std::size_t row = 0; row < data.n_rows(); ++row) total_weight += data.weight(row);
    HeldOut held_out(betas.size());
    for (std::uint32_t fold = 0; fold < n_folds; ++fold)
        score_fold(data, growth, betas, divide(data, folds, fold), held_out);

    CrossValidation result;
    result.alphas = path.alphas;
    // A tree whose rewards are all equal has nothing to explain: no error, whatever the alpha.
    const double root_cost = path.costs.back() > 0 ? path.costs.back() : 1;
    const auto errors = held_out.error.totals();
    const auto squared = held_out.squared.totals();
    double best = std::numeric_limits<double>::infinity();
    std::size_t lasts = 0;
    for (std::size_t i = 0; i < betas.size(); ++i) {
        const double variance = variance_of(errors[i], squared[i], total_weight);
        result.errors.push_back(errors[i] / root_cost);
        result.standard_errors.push_back(std::sqrt(variance) / root_cost);
        // Equal errors, up to rounding, go to the smaller tree.
        if (errors[i] <= best * (1 + kTieTolerance)) {
            best = std::min(best, errors[i]);
            result.best_alpha = path.alphas[i];
            lasts = i;
        }
    }
    if (lasts + 1 == betas.size()) lasts = largest_like_leaf(held_out, total_weight);
    result.lasting_alpha = lasting(path.alphas, lasts);
    return result;
}

Moments held_out_leaf(const Dataset& data, const Growth& growth, double alpha,
                      std::span<const std::uint32_t> folds, std::uint32_t n_folds,
                      const double* context) {
    Moments inside;
    for (std::uint32_t fold = 0; fold < n_folds; ++fold) {
        const Parts parts = divide(data, folds, fold);
        if (parts.held.empty() || parts.rest.empty()) continue;
        Growth to_prune = growth;
        to_prune.alpha = alpha * parts.share;
        const Tree tree =
            grow(data, Sample::of(data, parts.rest), to_prune).tree.prune(to_prune.alpha);
        const Node* leaf = &tree.leaf_of(context);
        for (const auto row : parts.held)
            if (&leaf_of_row(data, tree, row) == leaf) inside.add(data.weight(row), data.y[row]);
    }
    return inside;
}

}  // namespace banditree
