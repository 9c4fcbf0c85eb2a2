// Whether a node's split is still the best one: the heart of the incremental tree.
#include "banditree/trees/incremental.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace banditree {

bool IncrementalTree::goes_left(const LiveNode& node, std::uint32_t row) const {
    const double k = rows_.key(static_cast<std::uint32_t>(node.feature), row);
    if (rows_.kinds()[node.feature] == Kind::category)
        return node.side_of[static_cast<std::size_t>(k)] == kLeft;
    const bool missing = rows_.is_missing(k);
    return missing ? node.missing_left : k <= node.below;
}

// Whether the split, as it stands, says where the row goes: not if its value lies in the gap
// between the sides, or is the first missing value, or a category that the node has not met.
bool IncrementalTree::side_is_clear(const LiveNode& node, std::uint32_t row) const {
    const double k = rows_.key(static_cast<std::uint32_t>(node.feature), row);
    if (rows_.kinds()[node.feature] == Kind::category)
        return k < static_cast<double>(node.side_of.size()) &&
               node.side_of[static_cast<std::size_t>(k)] != kUnseen;
    const bool missing = rows_.is_missing(k);
    if (missing) return node.saw_missing;
    // Where missing values part from the others, a new lowest value could join either.
    const bool lone_missing = node.above == std::numeric_limits<double>::infinity();
    return !lone_missing && (k <= node.below || k >= node.above);
}

// What the present split gains with the new row, which its children have not got yet.
double IncrementalTree::standing_gain(const LiveNode& node, std::uint32_t row) const {
    Sums left = nodes_[node.left].moments.sums();
    if (goes_left(node, row)) left += rows_.sums(row);
    return split_gain(node.moments.sums(), left);
}

bool IncrementalTree::may_beat(const LiveNode& node, std::uint32_t feature, double standing) const {
    if (!node.watch || feature >= node.watch->bounds.size()) return true;
    if (adjusts(feature) && !needs_rows() && feature < node.watch->category_bounds.size() &&
        most_of(node.watch->category_bounds[feature], node.moments, node.watch->loss) <
            standing - node.moments.tolerance())
        return false;
    return node.watch->bounds[feature] + node.moments.raw_cost() + node.watch->loss.cost >=
           standing - node.moments.tolerance();
}

// Whether the node's split is still the best now that the row has come. If so, the split knows
// where the row goes.
bool IncrementalTree::holds(LiveNode& node, std::uint32_t row) {
    watch(node, row);
    std::optional<double> standing;
    if (side_is_clear(node, row)) standing = standing_gain(node, row);
    return is_best(node, standing, row);
}

// The same, given what the split gains as it stands; nothing if that has to be found out. The row
// has not reached the children yet.
bool IncrementalTree::is_best(LiveNode& node, std::optional<double> standing, std::uint32_t row) {
    const auto own = static_cast<std::uint32_t>(node.feature);
    const double tolerance = node.moments.tolerance();
    std::vector<std::uint32_t> gathered;  // all rows, if a search needs them
    std::vector<Search> searches;
    double gain = standing.value_or(0);
    if (!standing || adjusts(own) || may_beat(node, own, gain)) {
        prepare(node, {own}, row, gathered);
        searches.push_back(search(node, own, gathered));
        gain = searches[0].gain();
    }
    std::vector<std::uint32_t> rivals;
    for (std::uint32_t f = 0; f < rows_.kinds().size(); ++f)
        if (f != own && may_beat(node, f, gain)) rivals.push_back(f);
    if (!rivals.empty()) prepare(node, rivals, row, gathered);
    for (const auto f : rivals) {
        searches.push_back(search(node, f, gathered));
        // A tie goes to the first feature, so one before this has only to come close.
        const double lead = searches.back().gain() - gain;
        if (lead > tolerance || (f < own && lead >= -tolerance)) return false;
    }
    if (gain <= tolerance) return false;
    const bool own_searched = !searches.empty() && searches[0].feature == own;
    if (own_searched && !adopt(node, searches[0])) return false;
    remember(node, searches);
    return true;
}

// Takes over the boundary that the search found, if it divides the rows that were there before, and
// still are, as they are divided.
bool IncrementalTree::adopt(LiveNode& node, const Search& search) const {
    node.credit = search.credit;
    if (rows_.kinds()[search.feature] == Kind::category) return adopt_sides(node, search.sides);
    // No such row has its value inside either gap; so the gaps part them alike if they overlap.
    const bool same = std::max(search.below, node.below) < std::min(search.above, node.above);
    const bool both_missing = node.saw_missing && search.saw_missing;
    if (!same || (both_missing && search.scan.missing_left != node.missing_left)) return false;
    node.below = search.below;
    node.above = search.above;
    node.missing_left = search.scan.missing_left;
    node.saw_missing = search.saw_missing;
    return true;
}

bool IncrementalTree::adopt_sides(LiveNode& node, const Sides& sides) const {
    std::vector<std::uint8_t> side_of(node.side_of.size(), kUnseen);
    const auto mark = [&](const std::vector<std::uint32_t>& codes, std::uint8_t side) {
        for (const auto code : codes) {
            if (code >= side_of.size()) side_of.resize(code + 1, kUnseen);
            side_of[code] = side;
        }
    };
    mark(sides.left, kLeft);
    mark(sides.right, kRight);
    for (std::size_t code = 0; code < node.side_of.size(); ++code) {
        const bool both_seen = node.side_of[code] != kUnseen && side_of[code] != kUnseen;
        if (both_seen && node.side_of[code] != side_of[code]) return false;
    }
    node.side_of = std::move(side_of);
    return true;
}

void IncrementalTree::remember(LiveNode& node, const std::vector<Search>& searches) const {
    if (!node.watch) return;
    auto& bounds = node.watch->bounds;
    bounds.resize(rows_.kinds().size(), std::numeric_limits<float>::infinity());
    if (growth_.adjusts_categories) node.watch->category_bounds.resize(rows_.kinds().size());
    const Loss& loss = node.watch->loss;
    for (const Search& search : searches) {
        const bool own = static_cast<std::int32_t>(search.feature) == node.feature;
        bounds[search.feature] =
            bound_of(search.scan, own && rows_.kinds()[search.feature] == Kind::number,
                     node.moments.raw_cost() + loss.cost);
        if (adjusts(search.feature))
            node.watch->category_bounds[search.feature] =
                category_bound(search.scan, node.moments, loss);
    }
}

// Brings together the rows below a node, if searching these features of it takes that.
void IncrementalTree::prepare(const LiveNode& node, const std::vector<std::uint32_t>& features,
                              std::uint32_t row, std::vector<std::uint32_t>& gathered) {
    if (has_histogram(node)) return;
    if (gathered.empty()) gathered = gather(node, row);
    if (!rows_.exact()) finder().enter(gathered, node.moments, features);
}

IncrementalTree::Search IncrementalTree::search(const LiveNode& node, std::uint32_t feature,
                                                const std::vector<std::uint32_t>& gathered) {
    const Groups& groups = groups_of(node, feature, gathered);
    Search search;
    search.feature = feature;
    search.saw_missing = groups.has_missing();
    search.scan = scan(rows_.kinds()[feature], groups, node.moments, growth_.min_leaf);
    if (search.scan.gain <= 0) return search;
    search.credit = credit(node, feature, search.scan, gathered);
    if (rows_.kinds()[feature] == Kind::category) {
        if (static_cast<std::int32_t>(feature) == node.feature)
            search.sides = sides_of(groups, search.scan.n_left);
        return search;
    }
    const auto key_of = [&](std::uint32_t code) {
        return code == kNoCode ? std::numeric_limits<double>::infinity()
               : rows_.exact() ? values_[code - 1]
                               : static_cast<double>(code);
    };
    search.below = key_of(search.scan.below);
    search.above = key_of(search.scan.above);
    return search;
}

const Groups& IncrementalTree::groups_of(const LiveNode& node, std::uint32_t feature,
                                         const std::vector<std::uint32_t>& gathered) {
    if (has_histogram(node))
        group_by_histogram(*node.watch->histogram, feature);
    else if (rows_.exact())
        group_by_value(feature, gathered, true, groups_);
    else
        return finder().group(feature);
    return groups_;
}

double IncrementalTree::credit(const LiveNode& node, std::uint32_t feature, const FeatureScan& scan,
                               const std::vector<std::uint32_t>& gathered) {
    if (!adjusts(feature)) return 1;
    if (!needs_rows() || scan.n_categories <= 2)
        return credit_of(scan, node.moments.n, node.moments.raw_cost());
    Moments rows;
    for (const auto row : gathered) rows.add(1, rows_.data().y[row]);
    group_by_value(feature, gathered, false, row_groups_);
    return credit_of(scan_categories(row_groups_, rows, 1), rows.n, rows.raw_cost());
}

RowFinder& IncrementalTree::finder() {
    if (!finder_) finder_ = std::make_unique<RowFinder>(rows_, growth_);
    return *finder_;
}

std::vector<std::uint32_t> IncrementalTree::gather(const LiveNode& node, std::uint32_t row) const {
    auto rows = rows_below(node);
    if (row != kNoRow) rows.push_back(row);
    return rows;
}

void IncrementalTree::group_by_value(std::uint32_t feature,
                                     const std::vector<std::uint32_t>& gathered, bool weighted,
                                     Groups& groups) {
    const auto sums_of = [&](std::uint32_t row) {
        return weighted ? rows_.sums(row) : Sums{1, rows_.data().y[row]};
    };
    groups.start(gathered.size());
    values_.clear();
    std::vector<std::pair<double, std::uint32_t>> order;
    order.reserve(gathered.size());
    for (const auto row : gathered) {
        const double value = rows_.value(feature, row);
        if (std::isnan(value)) {
            groups.missing += sums_of(row);
            ++groups.missing_count;
        } else {
            order.emplace_back(value, row);
        }
    }
    std::sort(order.begin(), order.end());
    const bool category = rows_.kinds()[feature] == Kind::category;
    for (const auto& [value, row] : order) {
        if (values_.empty() || values_.back() < value) {
            values_.push_back(value);
            groups.add(category ? static_cast<std::uint32_t>(value) + 1
                                : static_cast<std::uint32_t>(values_.size()),
                       Sums{});
            if (growth_.min_leaf > 1) groups.counts.push_back(0);
        }
        groups.sums[groups.size - 1] += sums_of(row);
        if (growth_.min_leaf > 1) ++groups.counts.back();
    }
}

void IncrementalTree::group_by_histogram(const Histogram& histogram, std::uint32_t feature) {
    const auto& sums = histogram.sums[feature];
    groups_.start(sums.size());
    const bool counted = growth_.min_leaf > 1;
    for (std::uint32_t code = 1; code < sums.size(); ++code) {
        groups_.add_if(occurs(sums[code]), code, sums[code]);
        if (counted && occurs(sums[code]))
            groups_.counts.push_back(histogram.counts[feature][code]);
    }
    if (sums.empty()) return;
    groups_.missing = sums[0];
    if (counted) groups_.missing_count = histogram.counts[feature][0];
}

void IncrementalTree::watch(LiveNode& node, std::uint32_t row) {
    if (node.moments.n < kWatchedFrom) return;
    if (!node.watch) node.watch = std::make_unique<Watch>();
    if (!node.watch->histogram && wants_histogram(node))
        node.watch->histogram = histogram_of(gather(node, row), node.moments);
}

bool IncrementalTree::wants_histogram(const LiveNode& node) const {
    return !rows_.exact() && !needs_rows() && node.moments.n >= kWatchedFrom &&
           node.moments.n >= histogram_from_;
}

std::unique_ptr<IncrementalTree::Histogram> IncrementalTree::histogram_of(
    const std::vector<std::uint32_t>& rows, const Moments& moments) {
    std::vector<std::uint32_t> features(rows_.kinds().size());
    std::iota(features.begin(), features.end(), 0u);
    finder().enter(rows, moments, features);
    auto histogram = std::make_unique<Histogram>();
    for (const auto f : features) {
        const Groups& groups = finder().group(f);
        auto& sums = histogram->sums.emplace_back(rows_.data().features[f].n_codes + 1);
        sums[0] = groups.missing;
        for (std::size_t i = 0; i < groups.size; ++i) sums[groups.codes[i]] = groups.sums[i];
        if (!counts_rows()) continue;
        auto& counts = histogram->counts.emplace_back(rows_.data().features[f].n_codes + 1);
        for (const auto row : rows) ++counts[rows_.data().features[f].codes.at(row)];
    }
    return histogram;
}

// Splits a pending node, and looks at its rows only to divide them.
void IncrementalTree::split_by_histogram(std::int32_t at) {
    LiveNode& node = nodes_[at];
    node.pending = false;
    if (!node.watch) node.watch = std::make_unique<Watch>();
    if (!node.watch->histogram) node.watch->histogram = histogram_of(node.rows, node.moments);
    std::vector<Search> searches;
    double gain = 0;
    for (std::uint32_t f = 0; f < rows_.kinds().size(); ++f) {
        searches.push_back(search(node, f, {}));
        if (searches.back().gain() <= gain + node.moments.tolerance()) continue;
        gain = searches.back().gain();
        node.feature = static_cast<std::int32_t>(f);
    }
    if (node.is_leaf()) {
        node.uniform = all_alike(node.rows);
        return;
    }
    take_split(node, search(node, static_cast<std::uint32_t>(node.feature), {}));
    remember(node, searches);
    divide(at);
}

void IncrementalTree::take_split(LiveNode& node, const Search& search) const {
    node.credit = search.credit;
    node.below = search.below;
    node.above = search.above;
    node.missing_left = search.scan.missing_left;
    node.saw_missing = search.saw_missing;
    if (rows_.kinds()[search.feature] == Kind::number) return;
    node.side_of.assign(rows_.data().features[search.feature].n_codes + 1, kUnseen);
    for (const auto code : search.sides.left) node.side_of[code] = kLeft;
    for (const auto code : search.sides.right) node.side_of[code] = kRight;
}

void IncrementalTree::divide(std::int32_t at) {
    const std::int32_t children[2] = {allocate(), allocate()};
    LiveNode& node = nodes_[at];
    node.left = children[0];
    node.right = children[1];
    for (const auto row : node.rows) {
        LiveNode& child = nodes_[goes_left(node, row) ? node.left : node.right];
        child.moments.add(rows_.data().weight(row), rows_.data().y[row]);
        child.rows.push_back(row);
    }
    for (const auto id : children) {
        LiveNode& child = nodes_[id];
        child.depth = node.depth + 1;
        child.pending = may_split(child.moments, growth_, child.depth);
        child.rows.shrink_to_fit();
    }
    node.rows = {};
}

// Adds the newest row.
void IncrementalTree::tally(Histogram& histogram, std::uint32_t row) const {
    const Sums sums = rows_.sums(row);
    for (std::size_t f = 0; f < rows_.kinds().size(); ++f) {
        const std::uint32_t code = rows_.newest()[f];
        if (code >= histogram.sums[f].size())
            histogram.sums[f].resize(rows_.data().features[f].n_codes + 1);
        histogram.sums[f][code] += sums;
        if (!counts_rows()) continue;
        if (code >= histogram.counts[f].size())
            histogram.counts[f].resize(rows_.data().features[f].n_codes + 1);
        ++histogram.counts[f][code];
    }
}

}  // namespace banditree
