#include "banditree/trees/grow.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace banditree {

namespace {

// A split node's two sides: where the right one begins, and their moments.
struct Parts {
    std::uint32_t middle = 0;
    Moments left;
    Moments right;
    bool saw_missing = false;
};

// Rows beside their sums, divided in place as the tree grows.
template <class Sum>
class Splitter {
 public:
    using Table = typename SplitFinder<Sum>::Table;

    // bounded: see SplitFinder.
    Splitter(const Dataset& data, const Growth& growth, Sample sample, bool bounded)
        : data_(data),
          finder_(data, growth, sample.is_weighted(), bounded),
          rows_(std::move(sample.rows)),
          spare_rows_(rows_.size()),
          spare_sums_(rows_.size()) {
        sums_.reserve(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i)
            sums_.push_back(
                sum_of(sample.weights.empty() ? 1.0 : sample.weights[i], data.y[rows_[i]]));
    }

    Segment all() const { return {0, static_cast<std::uint32_t>(rows_.size())}; }
    NodeRows<Sum> rows_of(Segment segment) const {
        return {std::span(rows_).subspan(segment.begin, segment.size()),
                std::span(sums_).subspan(segment.begin, segment.size())};
    }
    // In the order of arrival, so that a sum is the same to the last bit however the tree was
    // grown.
    Moments moments_of(Segment segment) const {
        Moments moments;
        if constexpr (std::is_same_v<Sum, Counts>) {
            Counts total;
            for (std::uint32_t i = segment.begin; i < segment.end; ++i) total += sums_[i];
            const Sums sums = as_sums(total);
            return {sums.w, sums.wy, sums.wy, segment.size()};
        }
        for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
            const Sums sums = as_sums(sums_[i]);
            moments.w += sums.w;
            moments.wy += sums.wy;
            moments.wyy += sums.wy * data_.y[rows_[i]];
            ++moments.n;
        }
        return moments;
    }
    Split best(Segment segment, const Moments& moments, std::vector<std::uint32_t>& active) {
        return finder_.best(rows_of(segment), moments, active);
    }
    // By table where there is one.
    Split best(const Table& table, Segment segment, const Moments& moments,
               std::vector<std::uint32_t>& active) {
        return table.empty() ? best(segment, moments, active)
                             : finder_.best(table, rows_of(segment), moments, active);
    }
    Table tabulate(Segment segment, const std::vector<std::uint32_t>& features) {
        Table table;
        finder_.tabulate(rows_of(segment), features, table);
        return table;
    }
    void subtract(Table& table, const Table& part, const std::vector<std::uint32_t>& features) {
        finder_.subtract(table, part, features);
    }
    std::uint32_t tabled_from() const { return finder_.tabled_from(); }

    // Divides the segment by the split, and makes the tree's last node, a leaf so far, a node with
    // that split.
    Parts carry_out(const Split& split, Segment segment, const Moments& moments, Tree& tree) {
        Node& node = tree.nodes.back();
        const Feature& feature = data_.features[split.feature];
        node.feature = split.feature;
        bool missing_left = split.scan.missing_left;
        if (feature.kind == Kind::category) {
            const Groups& groups = finder_.group(static_cast<std::uint32_t>(split.feature));
            tree.sides.push_back(sides_of(groups, split.scan.n_left));
            node.sides = static_cast<std::int32_t>(tree.sides.size()) - 1;
            mark_left(feature, tree.sides.back());
            missing_left = goes_left_[0];
        } else {
            node.threshold = feature.threshold(split.scan.below, split.scan.above);
        }
        const Parts parts = divide(feature, split, missing_left, segment);
        node.saw_missing = parts.saw_missing;
        node.missing_left =
            parts.saw_missing ? missing_left : left_weighs_more(parts.left.w, parts.right.w);
        node.gain = split_gain(moments.sums(), parts.left.sums()) * split.credit();
        return parts;
    }
    void bound(Trace& trace) const {
        trace.bounds = finder_.bounds();
        trace.category_bounds = finder_.category_bounds();
    }
    std::vector<std::uint32_t> take_rows() { return std::move(rows_); }
    Sample part(Segment segment) const {
        Sample sample;
        for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
            sample.rows.push_back(rows_[i]);
            sample.weights.push_back(as_sums(sums_[i]).w);
        }
        return sample;
    }

 private:
    static Sum sum_of(double w, double y) {
        if constexpr (std::is_same_v<Sum, Counts>)
            return Counts::of(w, w * y);
        else
            return {w, w * y};
    }
    void mark_left(const Feature& feature, const Sides& sides) {
        goes_left_.assign(feature.n_codes + 1, 0);
        for (const auto code : sides.left) goes_left_[code] = 1;
    }
    Parts divide(const Feature& feature, const Split& split, bool missing_left, Segment segment) {
        bool saw_missing = false;
        const bool category = feature.kind == Kind::category;
        const std::uint32_t below = split.scan.below;
        Parts parts = std::visit(
            [&](const auto& codes) {
                return divide_by(segment, [&](std::uint32_t row) -> bool {
                    const std::uint32_t code = codes[row];
                    saw_missing |= code == 0;
                    if (category) return goes_left_[code] != 0;
                    return code == 0 ? missing_left : code <= below;
                });
            },
            feature.codes.cells());
        parts.saw_missing = saw_missing;
        return parts;
    }
    // Stable, so that rows stay in the order of arrival. Each row is written to both sides and then
    // counted on one: the sides follow no pattern that a processor could foresee.
    template <class GoesLeft>
    Parts divide_by(Segment segment, GoesLeft goes_left) {
        std::uint32_t to = segment.begin;
        std::uint32_t spare = 0;
        for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
            const std::uint32_t row = rows_[i];
            const Sum sum = sums_[i];
            const bool left = goes_left(row);
            rows_[to] = spare_rows_[spare] = row;
            sums_[to] = spare_sums_[spare] = sum;
            to += left;
            spare += !left;
        }
        std::copy_n(spare_rows_.begin(), spare, rows_.begin() + to);
        std::copy_n(spare_sums_.begin(), spare, sums_.begin() + to);
        Parts parts;
        parts.middle = to;
        parts.left = moments_of({segment.begin, to});
        parts.right = moments_of({to, segment.end});
        return parts;
    }

    const Dataset& data_;
    SplitFinder<Sum> finder_;
    std::vector<std::uint32_t> rows_;
    std::vector<Sum> sums_;
    std::vector<std::uint32_t> spare_rows_;
    std::vector<Sum> spare_sums_;
    std::vector<std::uint8_t> goes_left_;
};

std::vector<std::uint32_t> all_features(const Dataset& data) {
    std::vector<std::uint32_t> features(data.features.size());
    std::iota(features.begin(), features.end(), 0u);
    return features;
}

template <class Sum>
class Grower {
 public:
    Grower(const Dataset& data, Sample sample, const Growth& growth, Site site, bool traced)
        : offset_(data.offset),
          growth_(growth),
          site_(site),
          traced_(traced),
          splitter_(data, growth, std::move(sample), site.watched_from != kUnlimited) {
        active_.push_back(all_features(data));
        // Tables of sums would not be exact, and none say how many rows a leaf has.
        if (std::is_same_v<Sum, Counts> && growth.min_leaf == 1)
            tabled_from_ = splitter_.tabled_from();
    }

    Grown run() {
        const Segment all = splitter_.all();
        stack_.push_back({all, splitter_.moments_of(all), 0, -1, site_.levels, {}});
        while (!stack_.empty()) {
            Pending next = std::move(stack_.back());
            stack_.pop_back();
            if (next.parent >= 0)
                grown_.tree.nodes[next.parent].right =
                    static_cast<std::int32_t>(grown_.tree.nodes.size());
            visit(next);
        }
        if (traced_) grown_.rows = splitter_.take_rows();
        return std::move(grown_);
    }

 private:
    using Table = typename Splitter<Sum>::Table;
    struct Pending {
        Segment segment;
        Moments moments;
        std::uint32_t depth;  // below the root of this run
        std::int32_t parent;  // of a right child; -1 otherwise
        std::uint32_t levels;
        Table table;  // empty: to be searched by its rows
    };

    void visit(Pending& next) {
        const auto index = static_cast<std::int32_t>(grown_.tree.nodes.size());
        grown_.tree.nodes.push_back(leaf_node(next.moments, offset_));
        grown_.moments.push_back(next.moments);
        if (traced_) grown_.traces.emplace_back().segment = next.segment;
        if (!may_split(next.moments, growth_, site_.depth + next.depth)) return;
        const std::uint32_t levels =
            std::min(next.levels, levels_of(next.moments.cost(), growth_.alpha));
        if (levels == 0) {
            if (traced_) grown_.traces.back().cut = true;
            return;
        }
        // A feature that is constant in a node is so in all nodes below it. Depth first, the list
        // of the parent is still the one at the depth above.
        if (active_.size() < next.depth + 2) active_.emplace_back();
        auto& active = active_[next.depth + 1];
        active = active_[next.depth];
        if (next.table.empty() && levels > 1 && wants_table(next))
            next.table = splitter_.tabulate(next.segment, active);
        const Split split = splitter_.best(next.table, next.segment, next.moments, active);
        if (!split.exists()) return;
        if (next.moments.n >= site_.watched_from) splitter_.bound(grown_.traces[index]);
        const Parts parts = splitter_.carry_out(split, next.segment, next.moments, grown_.tree);
        if (traced_) note(split, parts, grown_.traces[index]);
        const std::uint32_t below = levels == kUnlimited ? levels : levels - 1;
        const std::uint32_t depth = next.depth + 1;
        Pending right{{parts.middle, next.segment.end}, parts.right, depth, index, below, {}};
        Pending left{{next.segment.begin, parts.middle}, parts.left, depth, -1, below, {}};
        hand_down(next.table, active, left, right);
        stack_.push_back(std::move(right));
        stack_.push_back(std::move(left));
    }

    static void note(const Split& split, const Parts& parts, Trace& trace) {
        trace.credit = split.credit();
        trace.below = split.scan.below, trace.above = split.scan.above;
        trace.saw_missing = parts.saw_missing;
    }
    bool wants_table(const Pending& node) const {
        return node.moments.n >= tabled_from_ && node.levels > 0 && node.moments.cost() > 0;
    }
    // Only the smaller child's rows are counted: the other's table is what remains.
    void hand_down(Table& table, const std::vector<std::uint32_t>& active, Pending& left,
                   Pending& right) {
        const bool left_is_larger = left.moments.n > right.moments.n;
        Pending& larger = left_is_larger ? left : right;
        Pending& smaller = left_is_larger ? right : left;
        if (table.empty() || !wants_table(larger)) return;
        smaller.table = splitter_.tabulate(smaller.segment, active);
        splitter_.subtract(table, smaller.table, active);
        larger.table = std::move(table);
        if (!wants_table(smaller)) smaller.table = {};
    }

    double offset_;
    Growth growth_;
    Site site_;
    bool traced_;
    Splitter<Sum> splitter_;
    std::uint32_t tabled_from_ = kUnlimited;  // so many rows make a table worth its while
    std::vector<std::vector<std::uint32_t>> active_;
    std::vector<Pending> stack_;
    Grown grown_;
};

// Whether all sums are whole numbers that fit into half a word.
bool countable(const Dataset& data, const Sample& sample) {
    double total = sample.weights.empty() ? static_cast<double>(sample.rows.size()) : 0;
    for (const double w : sample.weights) {
        if (w != std::floor(w)) return false;
        total += w;
    }
    return total < 4294967296.0 && data.binary;
}

Grown grow_anywhere(const Dataset& data, Sample sample, const Growth& growth, Site site,
                    bool traced) {
    if (countable(data, sample))
        return Grower<Counts>(data, std::move(sample), growth, site, traced).run();
    return Grower<Sums>(data, std::move(sample), growth, site, traced).run();
}

template <class Sum>
double lazy_predict_with(const Dataset& data, Sample sample, const Growth& growth, double alpha,
                         const double* context) {
    Splitter<Sum> splitter(data, growth, std::move(sample), false);
    auto active = all_features(data);
    Segment segment = splitter.all();
    Moments moments = splitter.moments_of(segment);
    for (std::uint32_t depth = 0;; ++depth) {
        // A subtree gains at most the cost of its root: not worth even one more leaf.
        if (!may_split(moments, growth, depth) || moments.cost() <= alpha)
            return data.offset + moments.mean();
        const Split split = splitter.best(segment, moments, active);
        if (!split.exists()) return data.offset + moments.mean();
        if (split.gain <= alpha * (1 + kAlphaTolerance)) {
            Growth to_prune = growth;
            to_prune.alpha = alpha;
            const Grown below =
                Grower<Sum>(data, splitter.part(segment), to_prune, Site{.depth = depth}, false)
                    .run();
            return below.tree.prune(alpha).leaf_of(context).mean;
        }
        // A first split that gains more than alpha survives whatever becomes of the splits below
        // it.
        Tree step;
        step.nodes.emplace_back();
        const Parts parts = splitter.carry_out(split, segment, moments, step);
        const bool left = step.goes_left(step.nodes[0], context);
        segment = left ? Segment{segment.begin, parts.middle} : Segment{parts.middle, segment.end};
        moments = left ? parts.left : parts.right;
    }
}

}  // namespace

Node leaf_node(const Moments& moments, double offset) {
    Node node;
    node.weight = moments.w;
    node.mean = offset + moments.mean();
    node.cost = moments.cost();
    node.n = moments.n;
    return node;
}

bool may_split(const Moments& moments, const Growth& growth, std::uint32_t depth) {
    return moments.n >= growth.min_split && depth < growth.max_depth && moments.cost() > 0;
}

std::uint32_t levels_of(double cost, double alpha) {
    if (alpha == 0) return kUnlimited;
    const double levels = cost / alpha;
    return levels < 1e9 ? static_cast<std::uint32_t>(levels) : kUnlimited;
}

Sample Sample::of(const Dataset& data, std::span<const double> weights) {
    Sample sample;
    const std::span<const double> own = weights.empty() ? std::span<const double>(data.w) : weights;
    for (std::uint32_t row = 0; row < data.n_rows(); ++row) {
        if (!own.empty() && !(own[row] > 0)) continue;
        sample.rows.push_back(row);
        if (!own.empty()) sample.weights.push_back(own[row]);
    }
    return sample;
}

Sample Sample::of(const Dataset& data, std::vector<std::uint32_t> rows) {
    Sample sample;
    sample.rows = std::move(rows);
    if (!data.w.empty())
        for (const auto row : sample.rows) sample.weights.push_back(data.w[row]);
    return sample;
}

Grown grow(const Dataset& data, Sample sample, const Growth& growth) {
    return grow_anywhere(data, std::move(sample), growth, {}, false);
}

Grown grow_traced(const Dataset& data, Sample sample, const Growth& growth, Site site) {
    return grow_anywhere(data, std::move(sample), growth, site, true);
}

double lazy_predict(const Dataset& data, Sample sample, const Growth& growth, double alpha,
                    const double* context) {
    if (countable(data, sample))
        return lazy_predict_with<Counts>(data, std::move(sample), growth, alpha, context);
    return lazy_predict_with<Sums>(data, std::move(sample), growth, alpha, context);
}

}  // namespace banditree
