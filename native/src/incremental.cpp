#include "banditree/incremental.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "banditree/tight.hpp"

namespace banditree {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint8_t kUnseen = 0, kLeft = 1, kRight = 2;

// Below this a search of all features costs less than keeping bounds.
constexpr std::uint32_t kWatchedFrom = 32;

// A histogram pays once a node has this many times more rows than all features together have codes.
constexpr std::size_t kRowsPerCode = 2;

// Upwards, so that the bound stays one.
float rounded_up(double value) {
    return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}

double raw_cost(const Moments& moments) {
    return moments.wyy - moments.wy * moments.wy / moments.w;
}

std::uint32_t category_code(double value) {
    return std::isnan(value) ? 0 : static_cast<std::uint32_t>(value) + 1;
}

}  // namespace

// ---- rows ----

void IncrementalTree::set_kinds(const std::vector<Kind>& kinds) {
    if (kinds.size() < kinds_.size()) throw std::invalid_argument("features cannot be taken away");
    for (std::size_t f = 0; f < kinds_.size(); ++f)
        if (kinds[f] != kinds_[f] && !columns_[f].empty_of_values())
            throw std::invalid_argument("feature " + std::to_string(f) +
                                        " has values of the other kind");
    for (std::size_t f = 0; f < kinds.size(); ++f) {
        if (f == columns_.size()) {
            columns_.emplace_back();
            for (std::size_t i = 0; i < n_rows(); ++i)
                columns_[f].push(std::numeric_limits<double>::quiet_NaN());
        }
        if (f < kinds_.size() && kinds[f] == kinds_[f]) continue;
        if (exact()) continue;
        if (f == data_.features.size()) data_.features.emplace_back();
        const auto column = columns_[f].first(n_rows());
        data_.features[f] = kinds[f] == Kind::category
                                ? encode_column(column, Kind::category, max_bins_)
                                : encode_column_on(column, {});
    }
    if (kinds == kinds_) return;
    kinds_ = kinds;
    // They know nothing of the new features, and are soon made again where they are needed.
    for (LiveNode& node : nodes_)
        if (node.watch) node.watch->histogram.reset();
}

double IncrementalTree::key(std::uint32_t feature, std::uint32_t row) const {
    if (!exact()) return data_.features[feature].codes.at(row);
    const double value = columns_[feature].at(row);
    return kinds_[feature] == Kind::category ? category_code(value) : value;
}

void IncrementalTree::append_weight(double weight) {
    if (data_.w.empty() && weight == 1) return;
    if (data_.w.empty()) data_.w.assign(n_rows() - 1, 1.0);
    push_tight(data_.w, weight);
}

std::uint32_t IncrementalTree::append(std::span<const double> context, double reward,
                                      double weight) {
    row_codes_.assign(exact() ? 0 : columns_.size(), 0);
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        columns_[f].push(context[f]);
        if (exact()) continue;
        Feature& feature = data_.features[f];
        row_codes_[f] = feature.code_of(context[f]);
        feature.n_codes = std::max(feature.n_codes, row_codes_[f]);
        feature.codes.push(row_codes_[f]);
    }
    data_.flags.push(data_.features, row_codes_);
    lowest_ = n_rows() == 0 ? reward : std::min(lowest_, reward);
    highest_ = n_rows() == 0 ? reward : std::max(highest_, reward);
    rewards_.push(reward);
    data_.push_reward(reward);
    append_weight(weight);
    return static_cast<std::uint32_t>(n_rows()) - 1;
}

// Takes the rewards about the offset of a tree grown on all rows; true if that is another one than
// before.
bool IncrementalTree::move_offset() {
    const double offset = offset_of(lowest_, highest_);
    if (offset == data_.offset) return false;
    const std::size_t n = n_rows();
    data_.offset = offset;
    data_.binary = true;
    data_.y.clear();
    for (std::size_t i = 0; i < n; ++i) data_.push_reward(rewards_.at(i));
    return true;
}

void IncrementalTree::learn(std::span<const double> context, double reward, double weight) {
    if (weight == 0) return;
    const std::uint32_t row = append(context, reward, weight);
    const bool due = renewal_due();
    // Rewards that creep towards 0 would move the offset, and rebuild the tree, at every row; so it
    // waits for the schedule, unless it can settle at 0 for good.
    const bool moved = (due || offset_of(lowest_, highest_) == 0) && move_offset();
    if (due && !exact()) renew_bins(renewed_at_);
    if (moved || (due && !exact()) || nodes_.empty())
        rebuild();
    else
        insert(row);
}

void IncrementalTree::learn_many(const Matrix& contexts, std::span<const double> rewards,
                                 std::span<const double> weights) {
    const auto context = [&](std::size_t i) {
        return std::span(contexts.data + i * contexts.columns, contexts.columns);
    };
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
    if (contexts.rows < n_rows() / 8) {
        for (std::size_t i = 0; i < contexts.rows; ++i) learn(context(i), rewards[i], weight(i));
        return;
    }
    for (std::size_t i = 0; i < contexts.rows; ++i)
        if (weight(i) > 0) append(context(i), rewards[i], weight(i));
    if (n_rows() == 0) return;
    while (renewal_due()) {
    }
    move_offset();
    if (!exact()) renew_bins(renewed_at_);
    rebuild();
}

// ---- bins ----

// Moves on to the next point of the schedule (docs/trees.md) if that many rows are there.
bool IncrementalTree::renewal_due() {
    const std::size_t next = std::max(renewed_at_ + 1, (5 * renewed_at_ + 3) / 4);
    if (n_rows() < next) return false;
    renewed_at_ = next;
    return true;
}

void IncrementalTree::renew_bins(std::size_t n_first) {
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        if (kinds_[f] == Kind::category) continue;
        Feature renewed = encode_column(columns_[f].first(n_first), Kind::number, max_bins_);
        if (n_first < n_rows())
            renewed = encode_column_on(columns_[f].first(n_rows()), std::move(renewed.values));
        data_.features[f] = std::move(renewed);
    }
    data_.flags.build(data_.features, n_rows());
}

std::vector<std::vector<double>> IncrementalTree::edges() const {
    std::vector<std::vector<double>> edges(kinds_.size());
    for (std::size_t f = 0; f < data_.features.size(); ++f)
        if (kinds_[f] == Kind::number) edges[f] = data_.features[f].values;
    return edges;
}

std::size_t IncrementalTree::n_codes() const {
    std::size_t total = 0;
    for (const Feature& feature : data_.features) total += feature.n_codes + 1;
    return total;
}

// ---- a row arrives ----

void IncrementalTree::insert(std::uint32_t row) {
    histogram_from_ = kRowsPerCode * n_codes();
    std::int32_t at = 0;
    for (;;) {
        LiveNode& node = nodes_[at];
        node.moments.add(data_.weight(row), data_.y[row]);
        if (node.watch && node.watch->histogram) tally(*node.watch->histogram, row);
        if (node.is_leaf()) {
            push_tight(node.rows, row);
            if (!may_split(node.moments, growth_, node.depth)) return;
            if (node.uniform && alike(node.rows.front(), row)) return;
            regrow(at, std::move(node.rows));
            return;
        }
        if (!holds(node, row)) {
            auto rows = rows_below(node);
            rows.push_back(row);
            std::sort(rows.begin(), rows.end());
            regrow(at, std::move(rows));
            return;
        }
        at = goes_left(node, row) ? node.left : node.right;
    }
}

bool IncrementalTree::goes_left(const LiveNode& node, std::uint32_t row) const {
    const double k = key(static_cast<std::uint32_t>(node.feature), row);
    if (kinds_[node.feature] == Kind::category)
        return node.side_of[static_cast<std::size_t>(k)] == kLeft;
    const bool missing = exact() ? std::isnan(k) : k == 0;
    return missing ? node.missing_left : k <= node.below;
}

// Whether the split, as it stands, says where the row goes: not if its value lies in the gap
// between the sides, or is the first missing value, or a category that the node has not met.
bool IncrementalTree::side_is_clear(const LiveNode& node, std::uint32_t row) const {
    const double k = key(static_cast<std::uint32_t>(node.feature), row);
    if (kinds_[node.feature] == Kind::category)
        return k < static_cast<double>(node.side_of.size()) &&
               node.side_of[static_cast<std::size_t>(k)] != kUnseen;
    const bool missing = exact() ? std::isnan(k) : k == 0;
    return missing ? node.saw_missing : k <= node.below || k >= node.above;
}

// What the present split gains with the new row, which its children have not got yet.
double IncrementalTree::standing_gain(const LiveNode& node, std::uint32_t row) const {
    Sums left = nodes_[node.left].moments.sums();
    if (goes_left(node, row)) left += Sums{data_.weight(row), data_.weight(row) * data_.y[row]};
    return split_gain(node.moments.sums(), left);
}

bool IncrementalTree::may_beat(const LiveNode& node, std::uint32_t feature, double standing) const {
    if (!node.watch || feature >= node.watch->bounds.size()) return true;
    return node.watch->bounds[feature] + raw_cost(node.moments) >=
           standing - node.moments.tolerance();
}

// Whether the node's split is still the best now that the row has come. If so, the split knows
// where the row goes.
bool IncrementalTree::holds(LiveNode& node, std::uint32_t row) {
    watch(node, row);
    const auto own = static_cast<std::uint32_t>(node.feature);
    const double tolerance = node.moments.tolerance();
    const bool clear = side_is_clear(node, row);
    Gathered gathered;
    std::vector<Search> searches;
    double gain = clear ? standing_gain(node, row) : 0;
    if (!clear || may_beat(node, own, gain)) {
        prepare(node, {own}, row, gathered);
        searches.push_back(search(node, own, gathered));
        gain = searches[0].scan.gain;
    }
    std::vector<std::uint32_t> rivals;
    for (std::uint32_t f = 0; f < kinds_.size(); ++f)
        if (f != own && may_beat(node, f, gain)) rivals.push_back(f);
    if (!rivals.empty()) prepare(node, rivals, row, gathered);
    for (const auto f : rivals) {
        searches.push_back(search(node, f, gathered));
        // A tie goes to the first feature, so one before this has only to come close.
        const double lead = searches.back().scan.gain - gain;
        if (lead > tolerance || (f < own && lead >= -tolerance)) return false;
    }
    if (gain <= tolerance) return false;
    const bool own_searched = !searches.empty() && searches[0].feature == own;
    if (own_searched && !adopt(node, searches[0], row)) return false;
    remember(node, searches);
    return true;
}

// Takes over the boundary that the search found, if it divides the rows that were there before as
// they are divided.
bool IncrementalTree::adopt(LiveNode& node, const Search& search, std::uint32_t row) const {
    const double k = key(search.feature, row);
    if (kinds_[search.feature] == Kind::category) {
        std::vector<std::uint8_t> side_of(
            data_.features.empty() ? 0 : data_.features[search.feature].n_codes + 1);
        const auto mark = [&](const std::vector<std::uint32_t>& codes, std::uint8_t side) {
            for (const auto code : codes) {
                if (code >= side_of.size()) side_of.resize(code + 1, kUnseen);
                side_of[code] = side;
            }
        };
        mark(search.sides.left, kLeft);
        mark(search.sides.right, kRight);
        for (std::size_t code = 0; code < node.side_of.size(); ++code)
            if (node.side_of[code] != kUnseen && node.side_of[code] != side_of[code]) return false;
        node.side_of = std::move(side_of);
        return true;
    }
    const bool missing = exact() ? std::isnan(k) : k == 0;
    const bool same = search.below == node.below ||
                      (!missing && search.below == k && node.below < k && k < node.above);
    if (!same || (node.saw_missing && search.scan.missing_left != node.missing_left)) return false;
    node.below = search.below;
    node.above = search.above;
    node.missing_left = search.scan.missing_left;
    node.saw_missing |= missing;
    return true;
}

void IncrementalTree::remember(LiveNode& node, const std::vector<Search>& searches) const {
    if (!node.watch) return;
    auto& bounds = node.watch->bounds;
    bounds.resize(kinds_.size(), std::numeric_limits<float>::infinity());
    const double cost = raw_cost(node.moments);
    for (const Search& search : searches) {
        // Of its own feature the standing split need not beat itself. But of categories only the
        // cuts of one order were tried, and the order may change.
        const bool own = static_cast<std::int32_t>(search.feature) == node.feature;
        const double rival = own && kinds_[search.feature] == Kind::number
                                 ? search.scan.runner_up
                                 : std::max(search.scan.gain, search.scan.runner_up);
        bounds[search.feature] = rounded_up(rival - cost);
    }
}

// ---- searching one feature of a node ----

// Brings together the rows below a node, if searching these features of it takes that.
void IncrementalTree::prepare(const LiveNode& node, const std::vector<std::uint32_t>& features,
                              std::uint32_t row, Gathered& gathered) {
    if (node.watch && node.watch->histogram) return;
    if (gathered.rows.empty()) gather(node, row, gathered);
    if (!exact()) finder().enter({gathered.rows, gathered.sums}, node.moments, features);
}

IncrementalTree::Search IncrementalTree::search(const LiveNode& node, std::uint32_t feature,
                                                const Gathered& gathered) {
    const Groups& groups = groups_of(node, feature, gathered);
    Search search;
    search.feature = feature;
    search.scan = scan(kinds_[feature], groups, node.moments, growth_.min_leaf);
    if (search.scan.gain <= 0) return search;
    if (kinds_[feature] == Kind::category) {
        if (static_cast<std::int32_t>(feature) == node.feature)
            search.sides = sides_of(groups, search.scan.n_left);
        return search;
    }
    const auto key_of = [&](std::uint32_t code) {
        return code == kNoCode ? kInfinity
               : exact()       ? values_[code - 1]
                               : static_cast<double>(code);
    };
    search.below = key_of(search.scan.below);
    search.above = key_of(search.scan.above);
    return search;
}

const Groups& IncrementalTree::groups_of(const LiveNode& node, std::uint32_t feature,
                                         const Gathered& gathered) {
    if (node.watch && node.watch->histogram)
        group_by_histogram(*node.watch->histogram, feature);
    else if (exact())
        group_by_value(feature, gathered);
    else
        return finder().group(feature);
    return groups_;
}

SplitFinder<Sums>& IncrementalTree::finder() {
    if (!finder_) finder_ = std::make_unique<SplitFinder<Sums>>(data_, growth_);
    return *finder_;
}

void IncrementalTree::gather(const LiveNode& node, std::uint32_t row, Gathered& gathered) const {
    gathered.rows = rows_below(node);
    gathered.rows.push_back(row);
    gathered.sums.reserve(gathered.rows.size());
    for (const auto r : gathered.rows)
        gathered.sums.push_back({data_.weight(r), data_.weight(r) * data_.y[r]});
}

void IncrementalTree::group_by_value(std::uint32_t feature, const Gathered& gathered) {
    groups_.start(gathered.rows.size());
    values_.clear();
    std::vector<std::pair<double, std::uint32_t>> order;
    order.reserve(gathered.rows.size());
    for (std::uint32_t i = 0; i < gathered.rows.size(); ++i) {
        const double value = columns_[feature].at(gathered.rows[i]);
        if (std::isnan(value)) {
            groups_.missing += gathered.sums[i];
            ++groups_.missing_count;
        } else {
            order.emplace_back(value, i);
        }
    }
    std::sort(order.begin(), order.end());
    const bool category = kinds_[feature] == Kind::category;
    for (const auto& [value, i] : order) {
        if (values_.empty() || values_.back() < value) {
            values_.push_back(value);
            groups_.add(
                category ? category_code(value) : static_cast<std::uint32_t>(values_.size()),
                Sums{});
            if (growth_.min_leaf > 1) groups_.counts.push_back(0);
        }
        groups_.sums[groups_.size - 1] += gathered.sums[i];
        if (growth_.min_leaf > 1) ++groups_.counts.back();
    }
}

void IncrementalTree::group_by_histogram(const Histogram& histogram, std::uint32_t feature) {
    const auto& sums = histogram.sums[feature];
    groups_.start(sums.size());
    const bool counted = growth_.min_leaf > 1;
    for (std::uint32_t code = 1; code < sums.size(); ++code) {
        if (!occurs(sums[code])) continue;
        groups_.add(code, sums[code]);
        if (counted) groups_.counts.push_back(histogram.counts[feature][code]);
    }
    if (sums.empty()) return;
    groups_.missing = sums[0];
    if (counted) groups_.missing_count = histogram.counts[feature][0];
}

// ---- watching ----

void IncrementalTree::watch(LiveNode& node, std::uint32_t row) {
    if (node.moments.n < kWatchedFrom) return;
    if (!node.watch) node.watch = std::make_unique<Watch>();
    if (node.watch->histogram || exact() || node.moments.n < histogram_from_) return;
    Gathered gathered;
    gather(node, row, gathered);
    finder().enter({gathered.rows, gathered.sums}, node.moments, {});
    auto histogram = std::make_unique<Histogram>();
    for (std::uint32_t f = 0; f < kinds_.size(); ++f) {
        const Groups& groups = finder().group(f);
        auto& sums = histogram->sums.emplace_back(data_.features[f].n_codes + 1);
        sums[0] = groups.missing;
        for (std::size_t i = 0; i < groups.size; ++i) sums[groups.codes[i]] = groups.sums[i];
        if (growth_.min_leaf == 1) continue;
        auto& counts = histogram->counts.emplace_back(data_.features[f].n_codes + 1);
        counts[0] = groups.missing_count;
        for (std::size_t i = 0; i < groups.size; ++i) counts[groups.codes[i]] = groups.counts[i];
    }
    node.watch->histogram = std::move(histogram);
}

// Adds the newest row.
void IncrementalTree::tally(Histogram& histogram, std::uint32_t row) const {
    const Sums sums{data_.weight(row), data_.weight(row) * data_.y[row]};
    for (std::size_t f = 0; f < kinds_.size(); ++f) {
        const std::uint32_t code = row_codes_[f];
        if (code >= histogram.sums[f].size())
            histogram.sums[f].resize(data_.features[f].n_codes + 1);
        histogram.sums[f][code] += sums;
        if (growth_.min_leaf == 1) continue;
        if (code >= histogram.counts[f].size())
            histogram.counts[f].resize(data_.features[f].n_codes + 1);
        ++histogram.counts[f][code];
    }
}

// ---- growing parts anew ----

void IncrementalTree::rebuild() {
    nodes_.clear();
    free_.clear();
    nodes_.emplace_back();
    finder_.reset();
    std::vector<std::uint32_t> rows(n_rows());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    regrow(0, std::move(rows));
}

Dataset IncrementalTree::encode_rows(const std::vector<std::uint32_t>& rows) const {
    Dataset data;
    data.offset = data_.offset;
    data.binary = data_.binary;
    for (const auto row : rows) data.y.push_back(data_.y[row]);
    if (!data_.w.empty())
        for (const auto row : rows) data.w.push_back(data_.w[row]);
    std::vector<double> column(rows.size());
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        for (std::size_t i = 0; i < rows.size(); ++i) column[i] = columns_[f].at(rows[i]);
        data.features.push_back(encode_column(column, kinds_[f], 0));
    }
    return data;
}

// Replaces the subtree at a node by one grown on the given rows, which are in order of arrival.
void IncrementalTree::regrow(std::int32_t node, std::vector<std::uint32_t> rows) {
    const std::uint32_t depth = nodes_[node].depth;
    release_below(node);
    if (exact()) {
        const Dataset local = encode_rows(rows);
        plant(node, grow(local, Sample::of(local, std::span<const double>()), growth_, depth),
              local, &rows);
    } else {
        plant(node, grow(data_, Sample::of(data_, std::move(rows)), growth_, depth), data_,
              nullptr);
    }
}

void IncrementalTree::plant(std::int32_t root, const Grown& grown, const Dataset& data,
                            const std::vector<std::uint32_t>* row_of) {
    const auto parents = grown.tree.parents();
    std::vector<std::int32_t> ids(grown.tree.nodes.size());
    const std::uint32_t root_depth = nodes_[root].depth;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = i == 0 ? root : allocate();
        LiveNode& live = nodes_[ids[i]];
        live = LiveNode();
        live.depth = i == 0 ? root_depth : nodes_[ids[parents[i]]].depth + 1;
        if (i > 0) {
            LiveNode& parent = nodes_[ids[parents[i]]];
            (static_cast<std::int32_t>(i) == parents[i] + 1 ? parent.left : parent.right) = ids[i];
        }
        fill(live, grown, i, data);
        if (!live.is_leaf()) continue;
        const Segment segment = grown.traces[i].segment;
        live.rows.reserve(segment.size());
        for (std::uint32_t j = segment.begin; j < segment.end; ++j)
            live.rows.push_back(row_of ? (*row_of)[grown.rows[j]] : grown.rows[j]);
        live.uniform = live.moments.cost() > 0 && all_alike(live.rows);
    }
}

void IncrementalTree::fill(LiveNode& live, const Grown& grown, std::size_t i,
                           const Dataset& data) const {
    const Node& node = grown.tree.nodes[i];
    const Trace& trace = grown.traces[i];
    live.moments = trace.moments;
    live.feature = node.feature;
    if (node.is_leaf()) return;
    if (node.sides >= 0) {
        const Sides& sides = grown.tree.sides[node.sides];
        live.side_of.assign(data.features[node.feature].n_codes + 1, kUnseen);
        for (const auto code : sides.left) live.side_of[code] = kLeft;
        for (const auto code : sides.right) live.side_of[code] = kRight;
        return;
    }
    const auto key_of = [&](std::uint32_t code) {
        if (code == kNoCode) return kInfinity;
        return exact() ? data.features[node.feature].values[code - 1] : static_cast<double>(code);
    };
    live.below = key_of(trace.below);
    live.above = key_of(trace.above);
    live.missing_left = node.missing_left;
    live.saw_missing = trace.saw_missing;
}

bool IncrementalTree::alike(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t f = 0; f < kinds_.size(); ++f) {
        const double x = key(f, a), y = key(f, b);
        if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
    }
    return true;
}

bool IncrementalTree::all_alike(const std::vector<std::uint32_t>& rows) const {
    return std::all_of(rows.begin(), rows.end(),
                       [&](auto row) { return alike(rows.front(), row); });
}

std::int32_t IncrementalTree::allocate() {
    if (free_.empty()) {
        nodes_.emplace_back();
        return static_cast<std::int32_t>(nodes_.size()) - 1;
    }
    const std::int32_t id = free_.back();
    free_.pop_back();
    return id;
}

void IncrementalTree::release_below(std::int32_t node) {
    std::vector<std::int32_t> stack{nodes_[node].left, nodes_[node].right};
    while (!stack.empty()) {
        const std::int32_t id = stack.back();
        stack.pop_back();
        if (id < 0) continue;
        stack.push_back(nodes_[id].left);
        stack.push_back(nodes_[id].right);
        nodes_[id] = LiveNode();
        free_.push_back(id);
    }
    nodes_[node].left = nodes_[node].right = -1;
}

std::vector<std::uint32_t> IncrementalTree::rows_below(const LiveNode& top) const {
    std::vector<std::uint32_t> rows;
    rows.reserve(top.moments.n);
    std::vector<const LiveNode*> stack{&top};
    while (!stack.empty()) {
        const LiveNode* node = stack.back();
        stack.pop_back();
        if (node->is_leaf()) {
            rows.insert(rows.end(), node->rows.begin(), node->rows.end());
            continue;
        }
        stack.push_back(&nodes_[node->right]);
        stack.push_back(&nodes_[node->left]);
    }
    return rows;
}

// ---- reading ----

double IncrementalTree::threshold(const LiveNode& node) const {
    if (node.above == kInfinity) return kInfinity;
    if (exact()) return midpoint_below(node.below, node.above);
    return data_.features[node.feature].values[static_cast<std::size_t>(node.below) - 1];
}

bool IncrementalTree::follows_missing_left(const LiveNode& node) const {
    const bool category = kinds_[node.feature] == Kind::category;
    if (category && node.side_of[0] != kUnseen) return node.side_of[0] == kLeft;
    if (!category && node.saw_missing) return node.missing_left;
    return nodes_[node.left].moments.w >= nodes_[node.right].moments.w;
}

bool IncrementalTree::context_goes_left(const LiveNode& node, double value) const {
    if (std::isnan(value)) return follows_missing_left(node);
    if (kinds_[node.feature] == Kind::number) return value <= threshold(node);
    const bool known = value >= 0 && value + 1 < static_cast<double>(node.side_of.size());
    const std::uint8_t side = known ? node.side_of[category_code(value)] : kUnseen;
    return side == kUnseen ? follows_missing_left(node) : side == kLeft;
}

double IncrementalTree::predict(const double* context) const {
    const LiveNode* node = &nodes_[0];
    while (!node->is_leaf())
        node = &nodes_[context_goes_left(*node, context[node->feature]) ? node->left : node->right];
    return data_.offset + node->moments.mean();
}

Tree IncrementalTree::as_tree() const {
    Tree tree;
    struct Pending {
        std::int32_t id;
        std::int32_t parent;  // of a right child; -1 otherwise
    };
    std::vector<Pending> stack{{0, -1}};
    while (!stack.empty()) {
        const auto [id, parent] = stack.back();
        stack.pop_back();
        const LiveNode& live = nodes_[id];
        const auto index = static_cast<std::int32_t>(tree.nodes.size());
        if (parent >= 0) tree.nodes[parent].right = index;
        Node node = leaf_node(live.moments, data_.offset);
        if (!live.is_leaf()) {
            node.feature = live.feature;
            node.gain = split_gain(live.moments.sums(), nodes_[live.left].moments.sums());
            node.missing_left = follows_missing_left(live);
            if (kinds_[live.feature] == Kind::category) {
                Sides sides;
                for (std::uint32_t code = 0; code < live.side_of.size(); ++code) {
                    if (live.side_of[code] == kLeft) sides.left.push_back(code);
                    if (live.side_of[code] == kRight) sides.right.push_back(code);
                }
                node.sides = static_cast<std::int32_t>(tree.sides.size());
                tree.sides.push_back(std::move(sides));
            } else {
                node.threshold = threshold(live);
            }
            stack.push_back({live.right, index});
            stack.push_back({live.left, -1});
        }
        tree.nodes.push_back(node);
    }
    return tree;
}

Dataset IncrementalTree::as_dataset() const {
    if (!exact()) return data_;
    std::vector<std::uint32_t> rows(n_rows());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    return encode_rows(rows);
}

std::size_t IncrementalTree::encoded_bytes() const {
    std::size_t total = rewards_.bytes();
    for (const RawColumn& column : columns_) total += column.bytes();
    return total;
}

std::size_t IncrementalTree::bytes() const {
    std::size_t total = encoded_bytes() + data_.bytes() + nodes_.size() * sizeof(LiveNode);
    for (const LiveNode& node : nodes_) {
        total += node.side_of.capacity() + node.rows.capacity() * sizeof(std::uint32_t);
        if (!node.watch) continue;
        total += sizeof(Watch) + node.watch->bounds.capacity() * sizeof(float);
        if (!node.watch->histogram) continue;
        for (const auto& sums : node.watch->histogram->sums)
            total += sums.capacity() * sizeof(Sums);
        for (const auto& counts : node.watch->histogram->counts)
            total += counts.capacity() * sizeof(std::uint32_t);
    }
    return total;
}

}  // namespace banditree
