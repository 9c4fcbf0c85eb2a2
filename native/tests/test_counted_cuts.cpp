// That most splits are never worked out changes nothing.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "banditree/random/rng.hpp"
#include "banditree/trees/counted_cuts.hpp"
#include "banditree/trees/grow.hpp"
#include "banditree/trees/row_sums.hpp"
#include "check.hpp"
#include "same_tree.hpp"

using namespace banditree;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Rows of a number of up to 64 codes and rewards of 0 and 1.
struct CountedNode {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint8_t> codes;
    std::vector<Counts> sums;
    Moments moments;

    CountedNode(Rng& rng, std::uint32_t n_codes, bool some_missing) {
        const auto n = static_cast<std::uint32_t>(2 + rng.integer(40));
        for (std::uint32_t row = 0; row < n; ++row) {
            const bool missing = some_missing && rng.uniform() < 0.3;
            const auto code = static_cast<std::uint8_t>(missing ? 0 : 1 + rng.integer(n_codes));
            const double y = rng.uniform() < 0.2 + 0.4 * (code > n_codes / 2);
            rows.push_back(row);
            codes.push_back(code);
            sums.push_back(Counts::of(1, y));
            moments.add(1, y);
        }
    }
    NodeRows<Counts> span() const { return {rows, sums}; }
};

bool same_groups(const Groups& a, const Groups& b) {
    bool same = a.size == b.size && a.missing.w == b.missing.w && a.missing.wy == b.missing.wy;
    for (std::uint32_t i = 0; same && i < a.size; ++i)
        same =
            a.codes[i] == b.codes[i] && a.sums[i].w == b.sums[i].w && a.sums[i].wy == b.sums[i].wy;
    return same;
}

// What the sums by code say, one code at a time.
Groups naive_groups(const std::vector<Counts>& by_code) {
    Groups groups;
    groups.start(by_code.size());
    groups.missing = as_sums(by_code[0]);
    for (std::uint32_t code = 1; code < by_code.size(); ++code)
        if (occurs(by_code[code])) groups.add(code, as_sums(by_code[code]));
    return groups;
}

Groups described(const CountedCuts& cuts) {
    Groups groups;
    cuts.describe(groups);
    return groups;
}

// Numbers of few values and of many, among them yes/no ones, some of which have missing values.
Dataset mixed_data(Rng& rng, std::size_t n_rows, std::uint32_t max_bins) {
    const std::vector<std::uint32_t> sizes{2, 2, 3, 10, 40, 64, 64, 300, 2};
    std::vector<double> cells, y;
    for (std::size_t row = 0; row < n_rows; ++row) {
        double signal = 0;
        for (std::size_t f = 0; f < sizes.size(); ++f) {
            const double value = static_cast<double>(rng.integer(sizes[f]));
            signal += value / sizes[f] / static_cast<double>(sizes.size());
            cells.push_back(f % 4 == 2 && rng.uniform() < 0.1 ? kNan : value);
        }
        y.push_back(rng.uniform() < signal * signal);
    }
    const Encoding encoding{std::vector<Kind>(sizes.size(), Kind::number), max_bins, {}};
    return encode({cells.data(), n_rows, sizes.size()}, y, {}, encoding);
}

}  // namespace

TEST(counted_cuts_are_the_groups_of_a_node) {
    Rng rng(3);
    CountedCuts cuts;
    for (int i = 0; i < 500; ++i) {
        const auto n_codes = static_cast<std::uint32_t>(1 + rng.integer(64));
        const CountedNode node(rng, n_codes, i % 2 == 0);
        std::vector<Counts> by_code(CountedCuts::kWordCodes + 1);
        add_up(node.span(), node.codes.data(), n_codes, by_code.data());
        const Groups groups = naive_groups(by_code);
        cuts.take(by_code.data(), n_codes);
        CHECK(same_groups(described(cuts), groups));
        CHECK(cuts.vary() == groups.varies());

        std::vector<Counts> by_word(CountedCuts::kWordCodes + 1);
        cuts.take_out(by_word.data(),
                      add_up_by_word(node.span(), node.codes.data(), by_word.data()));
        CHECK(same_groups(described(cuts), groups));
        for (const Counts& counts : by_word) CHECK(!occurs(counts));
    }
}

TEST(counted_cuts_may_exceed_what_they_do) {
    Rng rng(5);
    CountedCuts cuts;
    for (int i = 0; i < 500; ++i) {
        const auto n_codes = static_cast<std::uint32_t>(2 + rng.integer(63));
        const CountedNode node(rng, n_codes, i % 2 == 0);
        std::vector<Counts> by_code(n_codes + 1);
        add_up(node.span(), node.codes.data(), n_codes, by_code.data());
        cuts.take(by_code.data(), n_codes);
        const double gain = scan_numbers(described(cuts), node.moments, 1).gain;
        const double tolerance = node.moments.tolerance();
        if (gain > 0) CHECK(cuts.may_exceed(gain - tolerance, node.moments.sums()));
        CHECK(!cuts.may_exceed(gain + tolerance, node.moments.sums()));
    }
}

// Where bounds are asked for, every split is worked out.
TEST(splits_that_are_not_worked_out_are_not_missed) {
    Rng rng(7);
    const std::span<const double> unweighted;
    for (int i = 0; i < 60; ++i) {
        const std::size_t n_rows = i % 3 == 0 ? 1000 : 20 + rng.integer(200);
        const Dataset data = mixed_data(rng, n_rows, i % 2 == 0 ? 64 : 0);
        const Site bounded{.watched_from = kUnlimited - 1};
        const Tree all = grow_traced(data, Sample::of(data, unweighted), {}, bounded).tree;
        CHECK(same_tree(grow(data, Sample::of(data, unweighted), {}).tree, all));
    }
}
