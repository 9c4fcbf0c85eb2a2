#include "banditree/trees/scan.hpp"

#include <algorithm>
#include <cmath>

namespace banditree {

namespace {

// Keeps the first split of the largest gain, and the gain of the best of the others.
class Champion {
 public:
    Champion(const Moments& node, std::uint32_t min_leaf)
        : total_(node.sums()),
          n_(node.n),
          min_leaf_(min_leaf),
          tolerance_(node.tolerance()),
          floor_(tolerance_) {}

    template <class Describe>
    void consider(const Sums& left, std::uint32_t n_left, Describe describe) {
        consider(split_gain(total_, left), n_left, describe);
    }
    template <class Describe>
    void consider(double gain, std::uint32_t n_left, Describe describe) {
        if (gain > floor_ && n_left >= min_leaf_ && n_ - n_left >= min_leaf_) {
            best_.runner_up = std::max(best_.runner_up, best_.gain);
            best_.gain = gain;
            floor_ = gain + tolerance_;
            describe(best_);
        } else {
            best_.runner_up = std::max(best_.runner_up, gain);
        }
    }
    const FeatureScan& best() const { return best_; }

 private:
    Sums total_;
    std::uint32_t n_;
    std::uint32_t min_leaf_;
    double tolerance_;
    double floor_;
    FeatureScan best_;
};

// What each cut of a number gains, all worked out before any is judged: without a branch in
// between the compiler does several at a time.
class Cuts {
 public:
    void find(const Groups& groups, std::size_t n, Sums left, const Sums total) {
        if (gains_.size() < n) {
            weights_.resize(n);
            gains_.resize(n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            left += groups.sums[i];
            weights_[i] = left.w;
            gains_[i] = left.wy;
        }
        const double* weights = weights_.data();
        double* gains = gains_.data();
        for (std::size_t i = 0; i < n; ++i) gains[i] = split_gain(total, {weights[i], gains[i]});
    }
    double gain(std::size_t i) const { return gains_[i]; }

 private:
    std::vector<double> weights_;
    std::vector<double> gains_;
};

// With min_leaf 1 every group is large enough and nobody counts: 1 row here, the rest there.
std::uint32_t count_at(const Groups& groups, std::size_t i) {
    return groups.counts.empty() ? 0 : groups.counts[i];
}

struct Category {
    double mean;
    Sums sums;
    std::uint32_t code;
    std::uint32_t count;
};

// Categories in order of their means, equal ones in order of their codes; "missing" is one like any
// other, with code 0. Valid until the next call: nodes are searched by the million, and a vector of
// its own would cost each more than the search.
const std::vector<Category>& order_by_mean(const Groups& groups) {
    thread_local std::vector<Category> order;
    order.clear();
    const auto add = [&](std::uint32_t code, const Sums& sums, std::uint32_t count) {
        order.push_back({sums.wy / sums.w, sums, code, count});
    };
    if (groups.has_missing()) add(0, groups.missing, groups.missing_count);
    for (std::uint32_t i = 0; i < groups.size; ++i)
        add(groups.codes[i], groups.sums[i], count_at(groups, i));
    std::sort(order.begin(), order.end(), [](const Category& a, const Category& b) {
        return a.mean < b.mean || (a.mean == b.mean && a.code < b.code);
    });
    return order;
}

// Adds up what the categories of a feature explain, each predicted by its own mean.
class Between {
 public:
    void add(const Sums& sums) {
        total_ += sums;
        squares_ += sums.wy * sums.wy / sums.w;
        ++n_;
    }
    void describe(FeatureScan& scan) const {
        scan.n_categories = n_;
        scan.between = squares_ - total_.wy * total_.wy / total_.w;
    }

 private:
    Sums total_;
    double squares_ = 0;
    std::uint32_t n_ = 0;
};

// In the order of codes, as credit_of_rows adds up: both round alike.
Between between_of(const Groups& groups) {
    Between between;
    if (groups.has_missing()) between.add(groups.missing);
    for (std::uint32_t i = 0; i < groups.size; ++i) between.add(groups.sums[i]);
    return between;
}

}  // namespace

void Groups::start(std::size_t capacity) {
    if (codes.size() <= capacity) {
        codes.resize(capacity + 1);
        sums.resize(capacity + 1);
    }
    size = 0;
    counts.clear();
    missing = {};
    missing_count = 0;
}

FeatureScan scan_numbers(const Groups& groups, const Moments& node, std::uint32_t min_leaf) {
    Champion champion(node, groups.counts.empty() ? 0 : min_leaf);
    const bool missing = groups.has_missing();
    const std::size_t n_cuts = groups.size > 0 ? groups.size - 1 : 0;
    thread_local Cuts cuts, with_missing;
    cuts.find(groups, n_cuts, {}, node.sums());
    if (missing) with_missing.find(groups, n_cuts, groups.missing, node.sums());
    std::uint32_t n_left = 0;
    for (std::size_t i = 0; i < n_cuts; ++i) {
        n_left += count_at(groups, i);
        const auto describe = [&](bool missing_left) {
            return [&groups, i, missing_left](FeatureScan& scan) {
                scan.below = groups.codes[i];
                scan.above = groups.codes[i + 1];
                scan.missing_left = missing_left;
            };
        };
        if (missing)
            champion.consider(with_missing.gain(i), n_left + groups.missing_count, describe(true));
        champion.consider(cuts.gain(i), n_left, describe(false));
    }
    if (missing && groups.size > 0) {
        champion.consider(node.sums() - groups.missing, node.n - groups.missing_count,
                          [&](FeatureScan& scan) {
                              scan.below = groups.codes[groups.size - 1];
                              scan.above = kNoCode;
                              scan.missing_left = false;
                          });
    }
    return champion.best();
}

FeatureScan scan_categories(const Groups& groups, const Moments& node, std::uint32_t min_leaf) {
    Champion champion(node, groups.counts.empty() ? 0 : min_leaf);
    Sums left;
    std::uint32_t n_left = 0;
    const auto& order = order_by_mean(groups);
    for (std::uint32_t i = 0; i + 1 < order.size(); ++i) {
        left += order[i].sums;
        n_left += order[i].count;
        champion.consider(left, n_left, [i](FeatureScan& scan) { scan.n_left = i + 1; });
    }
    FeatureScan best = champion.best();
    between_of(groups).describe(best);
    return best;
}

double credit_of(const FeatureScan& scan, std::uint32_t n_rows, double cost) {
    if (scan.n_categories <= 2) return 1;
    if (!(scan.between > 0)) return 0;
    const double chance = cost * (scan.n_categories - 2) / (n_rows - 1);
    return std::max(1 - kChance * chance / scan.between, 0.0);
}

double credit_of_rows(const Dataset& data, std::uint32_t feature,
                      std::span<const std::uint32_t> rows) {
    const Feature& column = data.features[feature];
    thread_local std::vector<Sums> by_code;
    by_code.assign(column.n_codes + 1, Sums{});
    Moments moments;
    std::visit(
        [&](const auto& codes) {
            for (const auto row : rows) {
                moments.add(1, data.y[row]);
                by_code[codes[row]] += {1, data.y[row]};
            }
        },
        column.codes.cells());
    Between between;
    for (const Sums& sums : by_code)
        if (sums.w > 0) between.add(sums);
    FeatureScan found;
    between.describe(found);
    return credit_of(found, moments.n, moments.raw_cost());
}

double most_of(const CategoryBound& then, const Moments& now, const Loss& loss) {
    const double lost = loss.cost - then.loss.cost;
    const double more = std::max(now.raw_cost() - then.cost, 0.0) + lost;
    FeatureScan most;
    most.n_categories = then.n_categories - std::min(then.n_categories, loss.rows - then.loss.rows);
    most.between = then.between + more;
    return (then.gain + more) * credit_of(most, now.n, std::min(then.cost, now.raw_cost()));
}

float bound_of(const FeatureScan& scan, bool is_own_number, double cost) {
    // Of its own feature the standing split need not beat itself. But of categories only the cuts
    // of one order were tried, and the order may change.
    const double rival = is_own_number ? scan.runner_up : std::max(scan.gain, scan.runner_up);
    // Upwards, so that the bound stays one.
    return std::nextafter(static_cast<float>(rival - cost), std::numeric_limits<float>::infinity());
}

Sides sides_of(const Groups& groups, std::uint32_t n_left) {
    Sides sides;
    const auto& order = order_by_mean(groups);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        (i < n_left ? sides.left : sides.right).push_back(order[i].code);
    std::sort(sides.left.begin(), sides.left.end());
    std::sort(sides.right.begin(), sides.right.end());
    return sides;
}

}  // namespace banditree
