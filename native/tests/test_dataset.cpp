#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/raw_column.hpp"
#include "banditree/random/rng.hpp"
#include "check.hpp"
#include "values.hpp"

using namespace banditree;

namespace {

constexpr double kHuge = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

using Codes = std::vector<std::uint32_t>;

Codes codes_of(const Feature& feature, std::size_t n) {
    Codes codes;
    for (std::size_t row = 0; row < n; ++row) codes.push_back(feature.codes.at(row));
    return codes;
}

Codes codes_of(const Values& column, Kind kind, std::uint32_t max_bins = 0) {
    return codes_of(encode_column(column, kind, max_bins), column.size());
}

Values edges_of(const Values& column, std::uint32_t max_bins) {
    return encode_column(column, Kind::number, max_bins).values;
}

Dataset encode_one(const Values& column, const Values& y, const Values& w = {}) {
    Encoding encoding;
    encoding.kinds = {Kind::number};
    return encode({column.data(), column.size(), 1}, y, w, encoding);
}

Values iota(std::size_t n) {
    Values values(n);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

// Whole or broken numbers, some missing, with many ties or few.
Values random_column(Rng& rng, std::size_t n) {
    const bool whole = rng.integer(2) == 0;
    const double range = rng.integer(2) == 0 ? 6 : 200000;
    const double missing = rng.integer(2) == 0 ? 0.0 : 0.3;
    Values column(n);
    for (double& value : column) {
        value = range * (rng.uniform() - 0.5);
        if (whole) value = std::floor(value);
        if (rng.uniform() < missing) value = kNan;
    }
    return column;
}

bool same_order(double a, double b, std::uint32_t code_a, std::uint32_t code_b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == (code_a == 0);
    return (a < b) == (code_a < code_b) && (a == b) == (code_a == code_b);
}

// The rule of docs/trees.md, word for word.
Values naive_edges(const Values& column, std::uint32_t max_bins) {
    Values present;
    for (const double value : column)
        if (!std::isnan(value)) present.push_back(value);
    std::sort(present.begin(), present.end());
    Values distinct = present;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    Values edges;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i) {
        const auto last = std::upper_bound(present.begin(), present.end(), distinct[i]);
        const auto upto = static_cast<std::uint64_t>(last - present.begin());
        const std::uint64_t n = present.size();
        if (distinct.size() <= max_bins || upto * max_bins / n > before * max_bins / n)
            edges.push_back(distinct[i] + (distinct[i + 1] - distinct[i]) / 2);
        before = upto;
    }
    return edges;
}

RawColumn raw(const Values& values) {
    RawColumn column;
    for (const double value : values) column.push(value);
    return column;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool holds(const RawColumn& column, const Values& values) {
    if (column.size() != values.size()) return false;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!same(column.at(i), values[i])) return false;
    const Values first = column.first(values.size());
    return std::equal(first.begin(), first.end(), values.begin(), same);
}

// Bytes that a value takes in a long column of this value.
double width_for(double value) {
    constexpr std::size_t kRows = 1024;
    const RawColumn column = raw(Values(kRows, value));
    return static_cast<double>(column.bytes()) / kRows;
}

// The same value, and missing ones beside it, come out again.
bool survives(double value) {
    const Values values{kNan, value, 1, kNan, value};
    return holds(raw(values), values);
}

}  // namespace

// ---- ranks ----

TEST(codes_are_ranks_and_0_is_missing) {
    CHECK(codes_of({3, kNan, 1, 3, 2}, Kind::number) == Codes{3, 0, 1, 3, 2});
    CHECK(codes_of({0.3, kNan, -1.5, 1e300}, Kind::number) == Codes{2, 0, 1, 3});
    CHECK(codes_of({0, 1e6, -1e6, kNan}, Kind::number) == Codes{2, 3, 1, 0});
}

TEST(exact_features_keep_their_values) {
    const Feature feature = encode_column(Values{7, kNan, -2, 7}, Kind::number, 0);
    CHECK(feature.values == Values{-2, 7});
    CHECK(feature.n_codes == 2);
    CHECK(!feature.binned);
}

TEST(ranks_of_random_columns_are_in_order) {
    Rng rng(1);
    for (int round = 0; round < 300; ++round) {
        const Values column = random_column(rng, 1 + rng.integer(40));
        const Codes codes = codes_of(column, Kind::number);
        for (std::size_t i = 0; i < column.size(); ++i)
            for (std::size_t j = 0; j < column.size(); ++j)
                CHECK(same_order(column[i], column[j], codes[i], codes[j]));
    }
}

TEST(negative_zero_is_zero) {
    CHECK(codes_of({0.0, -0.0, 1}, Kind::number) == Codes{1, 1, 2});
    CHECK(codes_of({0.5, -0.0, 0.0}, Kind::number) == Codes{2, 1, 1});
}

TEST(extreme_numbers_have_ranks) {
    CHECK(codes_of({kHuge, -kHuge, 0, kTiny, -kTiny}, Kind::number) == Codes{5, 1, 3, 4, 2});
    CHECK(codes_of({kHuge, -kHuge, kHuge}, Kind::number) == Codes{2, 1, 2});
}

TEST(columns_without_values) {
    CHECK(codes_of({kNan, kNan}, Kind::number) == Codes{0, 0});
    CHECK(codes_of({kNan, kNan}, Kind::number, 4) == Codes{0, 0});
    CHECK(codes_of({kNan, kNan}, Kind::category) == Codes{0, 0});
    CHECK(codes_of({}, Kind::number).empty());
    CHECK(codes_of({}, Kind::number, 4).empty());
    CHECK(encode_column(Values{}, Kind::category, 0).n_codes == 0);
}

// ---- categories ----

TEST(category_codes_are_ids_plus_one) {
    const Feature feature = encode_column(Values{2, kNan, 0, 5}, Kind::category, 0);
    CHECK(codes_of(feature, 4) == Codes{3, 0, 1, 6});
    CHECK(feature.n_codes == 6);
}

TEST(categories_are_never_binned) {
    CHECK(codes_of({4, 3, 2, 1, 0}, Kind::category, 2) == Codes{5, 4, 3, 2, 1});
}

// ---- thresholds ----

TEST(thresholds_are_midpoints) {
    const Feature feature = encode_column(Values{1, 2, 6}, Kind::number, 0);
    CHECK(feature.threshold(1, 2) == 1.5);
    CHECK(feature.threshold(1, 3) == 3.5);
    CHECK(feature.threshold(3, 4) == kInfinity);
}

TEST(thresholds_lie_below_the_upper_neighbour) {
    Rng rng(2);
    for (int round = 0; round < 1000; ++round) {
        const double low = rng.normal() * std::ldexp(1.0, static_cast<int>(rng.integer(600)) - 300);
        const double high = std::nextafter(low, kInfinity);
        CHECK(midpoint_below(low, high) == low);
    }
    CHECK(midpoint_below(0, kTiny) == 0);
    CHECK(midpoint_below(-kTiny, 0) == -kTiny);
    CHECK(midpoint_below(-kHuge, kHuge) == 0);
    CHECK(midpoint_below(kHuge / 2, kHuge) < kHuge);
}

// ---- bins ----

TEST(bins_are_of_about_equal_count) {
    const Values column{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, kNan};
    const Feature feature = encode_column(column, Kind::number, 4);
    CHECK(feature.binned);
    CHECK(feature.n_codes == 4);
    CHECK(feature.values == Values{3.5, 5.5, 8.5});
    CHECK(codes_of(feature, 11) == Codes{1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 0});
}

TEST(a_common_value_has_a_bin_of_its_own) {
    CHECK(edges_of({0, 0, 0, 0, 0, 0, 1, 2, 3, 3}, 2) == Values{0.5});
    CHECK(edges_of({0, 1, 2, 2, 2, 2, 2, 2}, 2).empty());
}

TEST(few_values_have_an_edge_between_every_two) {
    CHECK(edges_of({5, 1, 1, 1, 1, 1, 1, 9}, 3) == Values{3, 7});
    CHECK(edges_of({4, 4}, 3) == Values{});
}

TEST(edges_follow_the_rule) {
    Rng rng(3);
    for (int round = 0; round < 500; ++round) {
        const Values column = random_column(rng, 1 + rng.integer(80));
        const auto max_bins = static_cast<std::uint32_t>(2 + rng.integer(12));
        const Values edges = edges_of(column, max_bins), expected = naive_edges(column, max_bins);
        CHECK(edges.size() == expected.size() && edges.size() < max_bins);
        for (std::size_t i = 0; i < std::min(edges.size(), expected.size()); ++i)
            CHECK_NEAR(edges[i], expected[i], 1e-9);
    }
}

TEST(bins_lie_between_their_edges) {
    Rng rng(4);
    for (int round = 0; round < 300; ++round) {
        const Values column = random_column(rng, 1 + rng.integer(80));
        const Feature feature = encode_column(column, Kind::number, 5);
        for (std::size_t row = 0; row < column.size(); ++row) {
            const std::uint32_t code = feature.codes.at(row);
            CHECK((code == 0) == std::isnan(column[row]));
            CHECK(code == feature.code_of(column[row]));
            if (code > 1) CHECK(column[row] > feature.values[code - 2]);
            if (code > 0 && code <= feature.values.size())
                CHECK(column[row] <= feature.values[code - 1]);
        }
    }
}

TEST(given_edges_replace_quantiles) {
    const Feature feature = encode_column_on(Values{-5, 1, 1.5, 2, 9, kNan}, {1, 2});
    CHECK(codes_of(feature, 6) == Codes{1, 1, 2, 2, 3, 0});
    CHECK(feature.n_codes == 3);
    CHECK(feature.threshold(1, 3) == 1);  // the lowest edge between the bins
    CHECK(feature.threshold(2, 3) == 2);
    CHECK(codes_of(encode_column_on(Values{3, kNan}, {}), 2) == Codes{1, 0});
}

// ---- widths ----

TEST(columns_widen_with_their_codes) {
    for (const std::size_t largest : {255, 256, 65535, 65536}) {
        const Values column = iota(largest);
        const Feature feature = encode_column(column, Kind::number, 0);
        CHECK(feature.n_codes == largest);
        CHECK(feature.codes.at(0) == 1);
        CHECK(feature.codes.at(largest - 1) == largest);
        const std::size_t width = largest < 256 ? 1 : largest < 65536 ? 2 : 4;
        CHECK(feature.codes.bytes() == width * largest);
    }
}

TEST(pushing_a_large_code_keeps_the_others) {
    CodeColumn column;
    const Codes codes{0, 255, 1, 256, 0, 65535, 7, 65536, 0xffffffffu, 3};
    for (const auto code : codes) column.push(code);
    for (std::size_t row = 0; row < codes.size(); ++row) CHECK(column.at(row) == codes[row]);
}

TEST(assigning_anew_narrows_again) {
    CodeColumn column;
    column.push(70000);
    column.assign(Codes{1, 0, 255}, 255);
    CHECK(column.at(0) == 1 && column.at(1) == 0 && column.at(2) == 255);
}

// ---- rewards and weights ----

TEST(rewards_are_kept_about_the_number_nearest_to_zero) {
    CHECK(encode_one({1, 2}, {5, 7}).offset == 5);
    CHECK(std::ranges::equal(encode_one({1, 2}, {5, 7}).y, Values{0, 2}));
    CHECK(encode_one({1, 2}, {-3, -1}).offset == -1);
    CHECK(encode_one({1, 2}, {-3, 1}).offset == 0);
}

TEST(rewards_of_zero_and_one_are_binary) {
    CHECK(encode_one({1, 2}, {0, 1}).binary);
    CHECK(encode_one({1, 2}, {6, 5}).binary);
    CHECK(!encode_one({1, 2}, {0, 2}).binary);
    CHECK(!encode_one({1, 2, 3}, {0, 0.5, 1}).binary);
}

TEST(rows_of_no_weight_leave_no_trace) {
    const Dataset data = encode_one({1, 9, 5, kNan}, {4, -100, 6, 5}, {1, 0, 2.5, 3});
    CHECK(data.n_rows() == 3);
    CHECK(data.offset == 4);
    CHECK(data.w == Values{1, 2.5, 3});
    CHECK(data.features[0].values == Values{1, 5});
    CHECK(codes_of(data.features[0], 3) == Codes{1, 2, 0});
}

TEST(without_weights_each_row_counts_once) {
    const Dataset data = encode_one({1, 2}, {0, 1});
    CHECK(data.w.empty());
    CHECK(data.weight(1) == 1);
}

TEST(rows_become_columns) {
    Encoding encoding;
    encoding.kinds = {Kind::number, Kind::category, Kind::number};
    encoding.given_edges = {{1.5}, {}, {}};
    constexpr std::size_t kRows = 100;
    Values cells;
    for (std::size_t i = 0; i < kRows; ++i)
        for (const double value : {double(i % 3), double(i % 5), double(i)}) cells.push_back(value);
    const Dataset data = encode({cells.data(), kRows, 3}, Values(kRows, 1.0), {}, encoding);
    for (std::size_t i = 0; i < kRows; ++i) {
        CHECK(data.features[0].codes.at(i) == 1 + (i % 3 == 2));
        CHECK(data.features[1].codes.at(i) == i % 5 + 1);
        CHECK(data.features[2].codes.at(i) == 1);
    }
}

TEST(a_data_set_knows_its_size) {
    const Dataset small = encode_one(iota(100), iota(100)),
                  large = encode_one(iota(9999), iota(9999));
    CHECK(small.bytes() >= 100 * (8 + 1));
    CHECK(large.bytes() >= 9999 * (8 + 2));
    CHECK(large.bytes() <= 9999 * 64);
}

// ---- values as they arrived ----

TEST(raw_columns_take_the_narrowest_type) {
    for (const double value : {0.0, -0.0, 127.0, -127.0, kNan}) CHECK_NEAR(width_for(value), 1, 1);
    for (const double value : {128.0, -128.0, 32767.0, -32767.0})
        CHECK_NEAR(width_for(value), 2, 2);
    for (const double value : {32768.0, -32768.0, 2147483647.0, -2147483647.0})
        CHECK_NEAR(width_for(value), 4, 4);
    for (const double value : {2147483648.0, -2147483648.0, 0.5}) CHECK(width_for(value) >= 8);
}

TEST(raw_columns_lose_nothing_at_the_ends_of_a_type) {
    for (const double end : {128.0, 32768.0, 2147483648.0, 9007199254740992.0})
        for (const double step : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0}) {
            CHECK(survives(end + step));
            CHECK(survives(-end + step));
        }
    for (const double value : {kHuge, -kHuge, kTiny, 1e-300, 0.1}) CHECK(survives(value));
}

TEST(missing_values_survive_every_promotion) {
    Values values{kNan, 1};
    RawColumn column = raw(values);
    for (const double wider : {-128.0, 200.0, -32768.0, 40000.0, -2147483648.0, 3e9, 0.25, kNan}) {
        column.push(wider);
        values.push_back(wider);
        CHECK(holds(column, values));
    }
}

TEST(raw_columns_hold_any_values) {
    Rng rng(5);
    const Values pool{0,      -0.0, 1,     -1,     127, 128,  -128,        -127, 32767,
                      -32768, 4e4,  1e300, -1e300, 0.5, kNan, 2147483647., kTiny};
    for (int round = 0; round < 300; ++round) {
        Values values;
        const std::size_t kinds = 1 + rng.integer(pool.size());
        for (std::size_t i = rng.integer(50); i > 0; --i)
            values.push_back(pool[rng.integer(kinds)]);
        CHECK(holds(raw(values), values));
    }
}

TEST(raw_columns_know_whether_they_have_values) {
    CHECK(RawColumn().empty_of_values());
    CHECK(raw({kNan, kNan}).empty_of_values());
    CHECK(!raw({kNan, 0}).empty_of_values());
    CHECK(!raw({kNan, 0.5}).empty_of_values());
    CHECK(raw({1, kNan, 3}).first(1) == Values{1});
}
