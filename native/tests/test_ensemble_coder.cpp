// How contexts become codes and numbers on a common scale.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "banditree/ensemble/coder.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

RawColumn column_of(const Values& values) {
    RawColumn column;
    for (const double value : values) column.push(value);
    return column;
}

Coder coder_of(const Values& values, Kind kind) {
    return Coder(std::vector<RawColumn>{column_of(values)}, {kind});
}

// Of the only feature.
float scaled(const Coder& coder, double value) {
    std::uint8_t code = 0;
    float scaled = 0;
    coder.encode(&value, &code, &scaled);
    return scaled;
}

}  // namespace

TEST(ensemble_coder_of_numbers) {
    const Coder few = coder_of({3, 1, kNan, 2, 1}, Kind::number);
    CHECK(few.n_codes(0) == 4 && !few.is_category(0));
    const double values[] = {kNan, -9, 1, 2, 3, 99};
    const std::uint8_t codes[] = {0, 1, 1, 2, 3, 3};
    for (std::size_t i = 0; i < 6; ++i) CHECK(few.code_of(0, values[i]) == codes[i]);
    CHECK_NEAR(few.mean(0), 1.75, 1e-12);
    CHECK_NEAR(few.deviation(0), std::sqrt(0.6875), 1e-12);

    Rng rng(5);
    Values many(5000);
    for (double& value : many) value = rng.normal();
    const Coder coder = coder_of(many, Kind::number);
    CHECK(coder.n_codes(0) > 50 && coder.n_codes(0) <= Coder::kCodes);
    std::vector<std::size_t> counts(Coder::kCodes, 0);
    for (const double value : many) ++counts[coder.code_of(0, value)];
    CHECK(counts[Coder::kMissing] == 0);
    for (std::uint32_t code = 1; code < coder.n_codes(0); ++code)
        CHECK(counts[code] > 5000 / 63 / 2 && counts[code] < 5000 / 63 * 2);
    std::sort(many.begin(), many.end());
    for (std::size_t i = 1; i < many.size(); ++i)
        CHECK(coder.code_of(0, many[i - 1]) <= coder.code_of(0, many[i]));
}

TEST(ensemble_coder_scales_numbers) {
    const Coder coder = coder_of({-1, 1, kNan}, Kind::number);
    const double values[] = {0.5, -1, 7, -1e30, kNan};
    const float expected[] = {0.5f, -1, 5, -5, 0};
    for (std::size_t i = 0; i < 5; ++i) CHECK(scaled(coder, values[i]) == expected[i]);
    const Coder constant = coder_of({4, 4}, Kind::number);
    CHECK(constant.deviation(0) == 1 && scaled(constant, 4) == 0);
}

TEST(ensemble_coder_of_categories) {
    Values ids(25, 0);
    ids.insert(ids.end(), 40, 3);
    ids.insert(ids.end(), 4, 1);
    ids.insert(ids.end(), 5, 2);
    ids.insert(ids.end(), 6, kNan);
    const Coder coder = coder_of(ids, Kind::category);
    const double values[] = {3, 0, 2, 1, 4, 1e9, kNan};
    const std::uint8_t codes[] = {1, 2, 3, Coder::kRare, Coder::kRare, Coder::kRare, 0};
    for (std::size_t i = 0; i < 7; ++i) {
        CHECK(coder.code_of(0, values[i]) == codes[i]);
        const bool has_code = codes[i] != 0 && codes[i] != Coder::kRare;
        CHECK(coder.category_of(0, codes[i]) == (has_code ? values[i] : -1));
        CHECK(scaled(coder, values[i]) == 0);
    }
    CHECK_NEAR(coder.share(0, 1), 40 / 80.0, 1e-12);
    CHECK_NEAR(coder.share(0, Coder::kRare), 4 / 80.0, 1e-12);
    CHECK_NEAR(coder.share(0, Coder::kMissing), 6 / 80.0, 1e-12);

    Values many;
    for (int id = 0; id < 80; ++id) many.insert(many.end(), 20, id);
    const Coder full = coder_of(many, Kind::category);
    for (int id = 0; id < 80; ++id) CHECK(full.code_of(0, id) == std::min(id + 1, 63));
}

TEST(ensemble_coder_leaves_out_features_without_values) {
    const std::vector<RawColumn> columns{column_of({kNan, kNan}), column_of({1, 2}),
                                         column_of({kNan, kNan})};
    const Coder coder(columns, {Kind::category, Kind::number, Kind::number});
    CHECK(coder.n_features() == 2);
    CHECK(coder.n_codes(0) == 1 && !coder.is_category(0));
    CHECK(coder.code_of(0, 7) == 1 && coder.code_of(1, 2) == 2);
}
