#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "banditree/random/rng.hpp"
#include "banditree/trees/incremental.hpp"
#include "check.hpp"
#include "same_tree.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

struct Settings {
    Growth growth;
    std::uint32_t max_bins = 0;
};

// Rows as they were learned, those of weight 0 included.
struct Log {
    std::vector<Values> contexts;
    Values y;
    Values w;

    void add(const Values& context, double reward, double weight) {
        contexts.push_back(context);
        y.push_back(reward);
        w.push_back(weight);
    }
    // As wide as the last row: features that came later were missing before.
    Values cells(std::size_t columns) const {
        Values cells;
        for (Values context : contexts) {
            context.resize(columns, kNan);
            cells.insert(cells.end(), context.begin(), context.end());
        }
        return cells;
    }
};

Dataset encode_log(const Log& log, const Kinds& kinds, const std::vector<Values>& edges) {
    Encoding encoding;
    encoding.kinds = kinds;
    encoding.given_edges = edges;
    const Values cells = log.cells(kinds.size());
    return encode({cells.data(), log.y.size(), kinds.size()}, log.y, log.w, encoding);
}

Tree batch_tree(const Log& log, const IncrementalTree& tree, const Settings& settings) {
    const auto edges = settings.max_bins > 0 ? tree.rows().edges() : std::vector<Values>();
    const Dataset data = encode_log(log, tree.rows().kinds(), edges);
    return grow(data, Sample::of(data, std::span<const double>()), settings.growth).tree;
}

// How the rows of a stream are made.
struct Stream {
    Kinds kinds;
    std::uint64_t rewards = 0;
    std::uint64_t weights = 0;
    bool fine = false;
    bool informative = false;
    bool rare = false;  // some categories and whole numbers are
    double missing = 0;
};

Stream random_stream(Rng& rng) {
    Stream stream;
    for (std::size_t f = 1 + rng.integer(4); f > 0; --f)
        stream.kinds.push_back(rng.integer(3) == 0 ? Kind::category : Kind::number);
    stream.rewards = rng.integer(4);
    stream.weights = rng.integer(4);
    stream.fine = rng.integer(2) == 0;
    stream.informative = rng.integer(2) == 0;
    stream.missing = rng.integer(2) == 0 ? 0.0 : 0.2;
    return stream;
}

Settings random_settings(Rng& rng) {
    Settings settings;
    if (rng.integer(2) == 0)
        settings.growth.min_leaf = static_cast<std::uint32_t>(1 + rng.integer(4));
    if (rng.integer(3) == 0)
        settings.growth.min_split = static_cast<std::uint32_t>(2 + rng.integer(9));
    if (rng.integer(3) == 0) settings.growth.max_depth = static_cast<std::uint32_t>(rng.integer(5));
    if (rng.integer(2) == 0) settings.max_bins = static_cast<std::uint32_t>(2 + rng.integer(7));
    return settings;
}

double random_value(Rng& rng, const Stream& stream, Kind kind) {
    if (rng.uniform() < stream.missing) return kNan;
    if (stream.rare) return std::floor(3 * rng.exponential());
    if (kind == Kind::category) return static_cast<double>(rng.integer(6));
    return stream.fine ? rng.normal() : static_cast<double>(rng.integer(9)) - 4;
}

Values random_context(Rng& rng, const Stream& stream) {
    Values context;
    for (const Kind kind : stream.kinds) context.push_back(random_value(rng, stream, kind));
    return context;
}

double random_reward(Rng& rng, const Stream& stream, const Values& context) {
    double signal = 0;
    if (stream.informative)
        for (const double value : context) signal += std::isnan(value) ? 1 : value;
    switch (stream.rewards) {
        case 0:
            return signal / 4 + rng.uniform() > 0.5 ? 1 : 0;
        case 1:
            return std::floor(2 * signal) + static_cast<double>(rng.integer(3));
        case 2:
            return signal + rng.normal();
        default:
            return 50 + signal + static_cast<double>(rng.integer(5)) / 4;  // never near 0
    }
}

double random_weight(Rng& rng, const Stream& stream) {
    switch (stream.weights) {
        case 0:
            return static_cast<double>(rng.integer(3));
        case 1:
            return rng.exponential();
        default:
            return 1;
    }
}

// A tree that learns row by row, and the log that the batch tree is grown on.
struct Learner {
    Settings settings;
    IncrementalTree tree;
    Log log;

    explicit Learner(const Settings& given, const Kinds& kinds = {})
        : settings(given), tree(given.growth, given.max_bins) {
        tree.set_kinds(kinds);
    }
    void learn(const Values& context, double reward, double weight = 1) {
        tree.learn(context, reward, weight);
        log.add(context, reward, weight);
    }
    void learn_one(Rng& rng, const Stream& stream) {
        const Values context = random_context(rng, stream);
        const double reward = random_reward(rng, stream, context);
        learn(context, reward, random_weight(rng, stream));
    }
    void learn_some(Rng& rng, const Stream& stream, int n_rows) {
        for (int row = 0; row < n_rows; ++row) learn_one(rng, stream);
    }
    // Forgets the oldest row of positive weight, in the tree and in the log.
    void forget_one() {
        tree.forget();
        const auto oldest =
            std::find_if(log.w.begin(), log.w.end(), [](double w) { return w > 0; });
        const auto gone = oldest - log.w.begin() + 1;
        log.contexts.erase(log.contexts.begin(), log.contexts.begin() + gone);
        log.y.erase(log.y.begin(), log.y.begin() + gone);
        log.w.erase(log.w.begin(), log.w.begin() + gone);
    }
    Tree batch() const { return batch_tree(log, tree, settings); }
    bool agrees() { return tree.n_rows() == 0 || same_tree(tree.as_tree(), batch()); }
};

// Returns false at the first row after which the two trees differ.
bool agrees_on_stream(Rng& rng, const Stream& stream, const Settings& settings, int n_rows) {
    Learner learner(settings, stream.kinds);
    for (int row = 0; row < n_rows; ++row) {
        learner.learn_one(rng, stream);
        if (!learner.agrees()) return false;
    }
    return true;
}

// check(rng, stream, learner) of learners that have learned 60 rows of streams of any kind.
template <class Check>
void with_learners(std::uint64_t seed, Check check) {
    Rng rng(seed);
    for (int round = 0; round < 60; ++round) {
        const Stream stream = random_stream(rng);
        Learner learner(random_settings(rng), stream.kinds);
        learner.learn_some(rng, stream, 60);
        check(rng, stream, learner);
    }
}

void learn_in_chunks(Rng& rng, const Log& log, std::size_t columns, IncrementalTree& tree) {
    const Values cells = log.cells(columns);
    for (std::size_t begin = 0; begin < log.y.size();) {
        const std::size_t size = std::min<std::size_t>(rng.integer(60), log.y.size() - begin);
        const std::span<const double> rewards(log.y), weights(log.w);
        tree.learn_many({cells.data() + begin * columns, size, columns},
                        rewards.subspan(begin, size), weights.subspan(begin, size));
        begin += size;
    }
}

// The schedule of docs/trees.md.
std::size_t latest_renewal(std::size_t n_rows) {
    std::size_t s = 1;
    for (;;) {
        const auto grown = static_cast<std::size_t>(std::ceil(1.25 * static_cast<double>(s)));
        const std::size_t next = std::max(s + 1, grown);
        if (next > n_rows) return s;
        s = next;
    }
}

Values edges_of_first(const Log& log, std::size_t n, std::uint32_t max_bins) {
    Values column;
    for (std::size_t row = 0; row < n; ++row) column.push_back(log.contexts[row][0]);
    return encode_column(column, Kind::number, max_bins).values;
}

}  // namespace

// ---- the same as a tree grown at once ----

TEST(streams_of_any_kind_give_the_batch_tree_after_every_row) {
    Rng rng(21);
    for (int round = 0; round < 250; ++round) {
        const Stream stream = random_stream(rng);
        CHECK(agrees_on_stream(rng, stream, random_settings(rng), 40));
    }
}

TEST(longer_streams_give_the_batch_tree_after_every_row) {
    Rng rng(22);
    for (int round = 0; round < 20; ++round) {
        const Stream stream = random_stream(rng);
        CHECK(agrees_on_stream(rng, stream, random_settings(rng), 200));
    }
}

TEST(streams_full_of_ties) {
    Rng rng(23);
    for (int round = 0; round < 60; ++round) {
        Stream stream;
        stream.kinds = {Kind::number, Kind::category, Kind::number, Kind::category};
        stream.missing = rng.integer(2) == 0 ? 0.0 : 0.5;
        Settings settings;
        settings.max_bins = rng.integer(2) == 0 ? 0 : 3;
        settings.growth.min_leaf = static_cast<std::uint32_t>(1 + rng.integer(2));
        CHECK(agrees_on_stream(rng, stream, settings, 60));
    }
}

TEST(rewards_that_drift_towards_zero_and_past_it) {
    for (const std::uint32_t max_bins : {0u, 4u}) {
        Learner learner({{}, max_bins}, {Kind::number});
        for (int row = 0; row < 120; ++row) {
            learner.learn({static_cast<double>(row * 37 % 50)}, 100 - row + 0.25 * (row % 3));
            CHECK(learner.agrees());
        }
    }
}

TEST(a_leaf_that_becomes_large_enough_is_split) {
    // Two like rows, then another while the leaf is too small, then one more like the first.
    for (const std::uint32_t max_bins : {0u, 4u}) {
        Learner learner({{4, 1}, max_bins}, {Kind::number});
        for (const auto& [value, reward] : {std::pair{0, 0}, {0, 1}, {1, 1}, {0, 0}, {0, 0}}) {
            learner.learn({double(value)}, reward);
            CHECK(learner.agrees());
        }
        CHECK(learner.tree.as_tree().n_leaves() == 2);
    }
}

TEST(a_large_leaf_whose_rows_differ_may_be_split_by_one_like_the_first) {
    // After every fourth row no split gains anything, so that the tree is a leaf.
    for (const std::uint32_t max_bins : {0u, 4u}) {
        Learner learner({{}, max_bins}, {Kind::number, Kind::number});
        for (int row = 0; row < 120; ++row) {
            const int left = row / 2 % 2, right = row % 2;
            learner.learn({double(left), double(right)}, left ^ right);
            CHECK(learner.agrees());
        }
        CHECK(learner.tree.as_tree().n_leaves() == 1);
    }
}

TEST(a_new_lowest_value_may_join_the_missing_ones) {
    // The best split is present against missing; then a lower value comes, with a reward like that
    // of the missing values.
    Learner learner({}, {Kind::number});
    for (int row = 0; row < 200; ++row) {
        const bool missing = row % 2 == 0 || row == 199;
        const Values context{row == 199 ? -1 : missing ? kNan : row % 6};
        learner.learn(context, missing ? 1 : 0);
        CHECK(learner.agrees());
    }
    const Tree tree = learner.tree.as_tree();
    CHECK(tree.nodes[0].threshold == 0 && tree.nodes[0].missing_left);
}

TEST(features_may_come_late) {
    Rng rng(24);
    for (int round = 0; round < 60; ++round) {
        Learner learner(random_settings(rng));
        Stream stream = random_stream(rng);
        for (int stage = 0; stage < 4; ++stage) {
            learner.tree.set_kinds(stream.kinds);
            for (int row = 0; row < 15; ++row) {
                learner.learn_one(rng, stream);
                CHECK(learner.agrees());
            }
            stream.kinds.push_back(rng.integer(2) == 0 ? Kind::category : Kind::number);
        }
    }
}

TEST(a_feature_without_values_may_become_a_category) {
    for (const std::uint32_t max_bins : {0u, 3u}) {
        Learner learner(Settings{{}, max_bins});
        for (int row = 0; row < 80; ++row) {
            learner.tree.set_kinds({Kind::number, row < 40 ? Kind::number : Kind::category});
            const double category = row < 40 ? kNan : row % 4;
            learner.learn({double(row % 7), category}, row % 4 == 1 ? 1 : row % 7 / 8.0);
            CHECK(learner.agrees());
        }
    }
}

TEST(learning_many_is_learning_each) {
    Rng rng(25);
    for (int round = 0; round < 60; ++round) {
        const Stream stream = random_stream(rng);
        const Settings settings = random_settings(rng);
        Learner learner(settings, stream.kinds);
        learner.learn_some(rng, stream, 150);
        IncrementalTree& each = learner.tree;
        IncrementalTree many(settings.growth, settings.max_bins);
        many.set_kinds(stream.kinds);
        learn_in_chunks(rng, learner.log, stream.kinds.size(), many);
        CHECK(each.n_rows() == many.n_rows());
        CHECK(each.rows().edges() == many.rows().edges());
        CHECK(same_tree(each.as_tree(), many.as_tree()));
    }
}

TEST(learning_many_without_weights) {
    IncrementalTree tree({}, 0);
    tree.set_kinds({Kind::number});
    const Values cells{1, 2, 3, 4}, rewards{0, 0, 1, 1};
    tree.learn_many({cells.data(), 4, 1}, rewards, {});
    tree.learn_many({cells.data(), 0, 1}, {}, {});
    CHECK(tree.n_rows() == 4 && tree.as_tree().nodes[0].threshold == 2.5);
}

TEST(predictions_are_those_of_the_tree_it_is) {
    with_learners(26, [](Rng& rng, const Stream& stream, Learner& learner) {
        const Tree now = learner.tree.as_tree();
        for (int i = 0; i < 40; ++i) {
            Values context = random_context(rng, stream);
            if (i % 4 == 0) context[rng.integer(context.size())] = 1e15;  // a category never seen
            CHECK(close(learner.tree.predict(context.data()), now.leaf_of(context.data()).mean));
        }
    });
}

TEST(its_data_set_grows_the_same_tree) {
    with_learners(27, [](Rng&, const Stream&, Learner& learner) {
        const Dataset data = learner.tree.rows().snapshot();
        const Sample all = Sample::of(data, std::span<const double>());
        CHECK(same_tree(learner.tree.as_tree(), grow(data, all, learner.settings.growth).tree));
    });
}

// ---- rows, bins, kinds ----

TEST(rows_are_kept_as_they_came) {
    IncrementalTree tree({}, 2);
    tree.set_kinds({Kind::number, Kind::category});
    tree.learn(Values{0.1, kNan}, 1000.5, 2);
    tree.learn(Values{5, 3}, 7, 0);  // weight 0: left out
    tree.learn(Values{kNan, 3}, -7, 1);
    CHECK(tree.n_rows() == 2);
    CHECK(tree.rows().value(0, 0) == 0.1 && std::isnan(tree.rows().value(0, 1)));
    CHECK(std::isnan(tree.rows().value(1, 0)) && tree.rows().value(1, 1) == 3);
    CHECK(tree.rows().reward(0) == 1000.5 && tree.rows().reward(1) == -7);
    CHECK(tree.rows().data().weight(0) == 2 && tree.rows().data().weight(1) == 1);
}

TEST(edges_are_renewed_on_schedule) {
    Rng rng(28);
    IncrementalTree tree({}, 4);
    tree.set_kinds({Kind::number});
    Log log;
    for (std::size_t row = 1; row <= 300; ++row) {
        const Values context{rng.integer(3) == 0 ? rng.normal()
                                                 : static_cast<double>(rng.integer(9))};
        log.add(context, static_cast<double>(rng.integer(2)), 1);
        tree.learn(context, log.y.back(), 1);
        CHECK(tree.rows().edges()[0] == edges_of_first(log, latest_renewal(row), 4));
    }
}

TEST(an_exact_tree_has_no_edges) {
    IncrementalTree tree({}, 0);
    tree.set_kinds({Kind::number, Kind::category});
    tree.learn(Values{1, 2}, 1, 1);
    CHECK(tree.rows().edges().size() == 2 && tree.rows().edges()[0].empty() &&
          tree.rows().edges()[1].empty());
}

TEST(kinds_that_have_values_stay) {
    for (const std::uint32_t max_bins : {0u, 4u}) {
        IncrementalTree tree({}, max_bins);
        tree.set_kinds({Kind::number, Kind::category});
        tree.learn(Values{1, 2}, 1, 1);
        tree.learn(Values{2, 0}, 0, 1);
        CHECK_THROWS(tree.set_kinds({Kind::number}), std::invalid_argument);
        CHECK_THROWS(tree.set_kinds({}), std::invalid_argument);
        CHECK_THROWS(tree.set_kinds({Kind::category, Kind::category}), std::invalid_argument);
        CHECK_THROWS(tree.set_kinds({Kind::number, Kind::number, Kind::number}),
                     std::invalid_argument);
        CHECK((tree.rows().kinds() == Kinds{Kind::number, Kind::category}));
        tree.learn(Values{3, 1}, 1, 1);
        CHECK(tree.n_rows() == 3 && tree.as_tree().nodes[0].n == 3);
    }
}

TEST(a_tree_without_features_is_the_mean) {
    for (const std::uint32_t max_bins : {0u, 4u}) {
        IncrementalTree tree({}, max_bins);
        for (const double reward : {1.0, 2.0, 6.0}) tree.learn({}, reward, 1);
        CHECK(tree.predict(nullptr) == 3 && tree.as_tree().nodes.size() == 1);
        tree.set_kinds({Kind::number});
        tree.learn(Values{5}, 3, 1);
        CHECK(tree.as_tree().nodes[0].n == 4);
    }
}

TEST(rows_of_no_weight_alone_teach_nothing) {
    IncrementalTree tree({}, 4);
    tree.set_kinds({Kind::number});
    tree.learn(Values{1}, 1, 0);
    const Values cells{1, 2}, rewards{3, 4}, weights{0, 0};
    tree.learn_many({cells.data(), 2, 1}, rewards, weights);
    CHECK(tree.n_rows() == 0);
    tree.learn(Values{1}, 5, 2);
    CHECK(tree.n_rows() == 1 && tree.predict(cells.data()) == 5);
}

TEST(pending_parts_are_grown_when_they_are_reached) {
    // Large nodes, so that parts stay pending; the tree is only ever asked for predictions.
    Rng rng(77);
    for (const std::uint32_t max_bins : {0u, 16u}) {
        Learner learner({{}, max_bins}, {Kind::number, Kind::number});
        for (int row = 0; row < 900; ++row) {
            const Values context{double(rng.integer(40)), double(rng.integer(40))};
            learner.learn(context, rng.uniform() < (context[0] < 20 ? 0.3 : 0.6));
            if (row % 90 != 0) continue;
            const Tree batch = learner.batch();
            for (int i = 0; i < 20; ++i) {
                const Values other{double(rng.integer(40)), double(rng.integer(40))};
                CHECK(learner.tree.predict(other.data()) == batch.leaf_of(other.data()).mean);
            }
        }
        CHECK(learner.agrees());
    }
}

// ---- size and depth ----

TEST(bytes_grow_with_the_rows) {
    for (const std::uint32_t max_bins : {0u, 8u}) {
        IncrementalTree tree({}, max_bins);
        tree.set_kinds({Kind::number, Kind::category});
        std::size_t before = tree.rows().bytes();
        for (int hundreds = 1; hundreds <= 5; ++hundreds) {
            for (int row = 0; row < 100; ++row) {
                const Values context{row * 0.37, static_cast<double>(row % 9)};
                tree.learn(context, row % 2, 1);
            }
            tree.as_tree();  // grows what is pending
            CHECK(tree.rows().value_bytes() >= tree.n_rows() * (8 + 1 + 1));
            CHECK(tree.rows().bytes() > tree.rows().value_bytes());
            CHECK(tree.rows().bytes() > before);
            CHECK(tree.bytes() > tree.rows().bytes() && tree.bytes() < 2000 * tree.n_rows());
            before = tree.rows().bytes();
        }
    }
}

TEST(a_deep_chain_can_still_learn) {
    // Of rewards that alternate, one row is split off at a time.
    constexpr std::size_t kRows = 3000;
    Values cells, rewards;
    for (std::size_t row = 0; row < kRows; ++row) {
        cells.push_back(static_cast<double>(row));
        rewards.push_back(static_cast<double>(row % 2));
    }
    IncrementalTree tree({}, 0);
    tree.set_kinds({Kind::number});
    tree.learn_many({cells.data(), kRows, 1}, rewards, {});
    CHECK(tree.as_tree().depth() == kRows - 1);
    tree.learn(Values{kRows - 1.0}, 1, 1);  // goes all the way down
    const Values last{kRows + 5.0};
    CHECK(tree.predict(last.data()) == 1 && tree.n_rows() == kRows + 1);
}

TEST(rewards_that_grow_geometrically_give_the_batch_tree) {
    Learner learner({}, {Kind::number});
    double reward = 1;
    for (int row = 0; row < 60; ++row, reward *= 3) {
        learner.learn({static_cast<double>(row)}, reward);
        CHECK(learner.agrees());
    }
    CHECK(learner.tree.as_tree().depth() >= 24);
}

// ---- forgetting ----

namespace {

Settings random_settings_of_either_gain(Rng& rng) {
    Settings settings = random_settings(rng);
    settings.growth.adjusts_categories = rng.integer(2) == 0;
    return settings;
}

bool agrees_while_forgetting(Rng& rng, const Stream& stream, const Settings& settings,
                             std::size_t window, int n_rows) {
    Learner learner(settings, stream.kinds);
    const auto n_left = [&] { return learner.tree.n_rows(); };
    for (int row = 0; row < n_rows; ++row) {
        learner.learn_one(rng, stream);
        if (!learner.agrees()) return false;
        while (n_left() > window || (n_left() > 0 && rng.integer(5) == 0)) {
            learner.forget_one();
            if (!learner.agrees()) return false;
        }
    }
    while (n_left() > 0) {
        learner.forget_one();
        if (!learner.agrees()) return false;
    }
    return true;
}

}  // namespace

TEST(forgetting_gives_the_batch_tree_on_what_remains) {
    Rng rng(61);
    for (int round = 0; round < 250; ++round) {
        const Stream stream = random_stream(rng);
        const Settings settings = random_settings_of_either_gain(rng);
        CHECK(agrees_while_forgetting(rng, stream, settings, 3 + rng.integer(40), 60));
    }
}

TEST(forgetting_in_windows_whose_nodes_are_watched) {
    Rng rng(62);
    for (int round = 0; round < 16; ++round) {
        const Stream stream = random_stream(rng);
        Settings settings = random_settings_of_either_gain(rng);
        if (round % 2 == 0) settings.max_bins = 6;  // so that there are histograms
        CHECK(agrees_while_forgetting(rng, stream, settings, 150 + rng.integer(150), 500));
    }
}

// Values come and go; leaves have to be large; weights leave a rest by rounding.
TEST(forgetting_where_values_are_rare) {
    Rng rng(63);
    for (int round = 0; round < 60; ++round) {
        Stream stream = random_stream(rng);
        stream.rare = true;
        stream.weights = round % 3 == 0 ? 1 : 2;
        Settings settings;
        settings.max_bins = round % 2 == 0 ? 40 : 0;
        settings.growth.min_leaf = round % 4 < 2 ? 1 : 12;
        settings.growth.adjusts_categories = round % 3 == 1;
        CHECK(agrees_while_forgetting(rng, stream, settings, 80 + rng.integer(200), 400));
    }
}

TEST(the_offset_follows_the_rewards_that_remain) {
    for (const double first : {0.1, -3.0}) {
        Learner learner({}, {Kind::number});
        for (int row = 0; row < 12; ++row)
            learner.learn({static_cast<double>(row % 4)}, row == 0 ? first : 1e9 + row % 4);
        learner.forget_one();
        CHECK(learner.agrees());
        CHECK(learner.tree.as_tree().n_leaves() == 4);
    }
}
