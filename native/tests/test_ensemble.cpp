// The whole ensemble: the rows it keeps, what it expects, and its state as bytes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "banditree/ensemble/ensemble.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

using Bytes = std::vector<std::uint8_t>;
const std::vector<std::int64_t> kArms{0, 1, 2};

EnsembleSettings small_settings(bool binary) {
    EnsembleSettings settings;
    settings.binary = binary;
    settings.refresh = 0.4;
    settings.seed = 3;
    settings.members.boosting.n_trees = 6;
    settings.members.forest.n_trees = 4;
    return settings;
}

Ensemble made(const EnsembleSettings& settings) {
    Ensemble engine(settings);
    engine.set_kinds(kKinds);
    for (std::size_t i = 0; i < kArms.size(); ++i) engine.add_arm();
    return engine;
}

void learn(Ensemble& engine, const Rows& rows, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
        engine.learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
}

Bytes written(const Ensemble& engine) {
    ByteWriter out;
    engine.write(out);
    return out.take();
}

void read(Ensemble& engine, const Bytes& bytes) {
    ByteReader in(bytes);
    engine.read(in);
}

bool is_read(Ensemble& engine, const Bytes& bytes) {
    try {
        read(engine, bytes);
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

// The same bytes, the same decisions, and the same after more rows.
void check_copy(Ensemble& original, const Rows& more) {
    const Bytes bytes = written(original);
    Ensemble copy(small_settings(original.beliefs().is_binary()));
    CHECK(is_read(copy, bytes));
    CHECK(written(copy) == bytes);
    learn(original, more, 0, more.size());
    learn(copy, more, 0, more.size());
    CHECK(written(copy) == written(original));
    Rng mine(5), its(5), contexts(6);
    for (int i = 0; i < 20; ++i) {
        const Values context = random_context(contexts);
        CHECK(original.beliefs().decide(context.data(), kArms, mine) ==
              copy.beliefs().decide(context.data(), kArms, its));
    }
}

// Whether the engine decides for a context among all arms, and goes on after some rows.
void check_works(Ensemble& engine, const Rows& rows, Rng& rng) {
    std::vector<std::int64_t> arms(std::min<std::size_t>(engine.n_arms(), 50));
    std::iota(arms.begin(), arms.end(), std::int64_t{0});
    Values context = random_context(rng);
    context.resize(engine.kinds().size(), kNan);
    for (int i = 0; i < 2 && !arms.empty(); ++i) {
        CHECK(engine.beliefs().decide(context.data(), arms, rng) < arms.size());
        engine.beliefs().attribution(context.data(), 0);
        if (engine.kinds() == kKinds && engine.n_arms() >= kArms.size())
            learn(engine, rows, 0, rows.size());
    }
}

SharedRows rows_of_arms(const std::vector<std::uint32_t>& arms) {
    SharedRows rows;
    rows.set_kinds({Kind::number});
    for (std::size_t i = 0; i < arms.size(); ++i) {
        const auto value = static_cast<double>(i);
        rows.append(arms[i], &value, value / 2);
    }
    return rows;
}

}  // namespace

// ---- Rows ----

TEST(ensemble_rows_keep_the_last_of_each_arm) {
    SharedRows rows = rows_of_arms({0, 1, 0, 0, 1, 2, 0});
    rows.keep_last(std::vector<std::int64_t>{2, 9, 0});
    CHECK(std::ranges::equal(rows.arms(), std::vector<std::uint32_t>{1, 0, 1, 0}));
    CHECK(std::ranges::equal(rows.rewards(), Values{0.5, 1.5, 2, 3}));
    const Values cells{1, 3, 4, 6};
    for (std::size_t i = 0; i < 4; ++i) CHECK(rows.context(i) == Values{cells[i]});
    CHECK(rows.n_learned() == 7);
    const CodedRows coded = rows.coded(Coder(rows.columns(), rows.kinds()), 3);
    CHECK(coded.numbers == std::vector<std::uint64_t>({1, 3, 4, 6}));
    rows.keep_last(std::vector<std::int64_t>{0, 0, 0});
    CHECK(rows.size() == 0 && rows.columns()[0].size() == 0);
}

TEST(ensemble_rows_are_shared_fairly) {
    Rng rng(41);
    for (int round = 0; round < 300; ++round) {
        const auto n_arms = static_cast<std::uint32_t>(1 + rng.integer(6));
        std::vector<std::uint32_t> arms(rng.integer(60));
        std::vector<std::size_t> counts(n_arms, 0);
        for (std::uint32_t& arm : arms) {
            arm = static_cast<std::uint32_t>(rng.integer(1 + rng.integer(n_arms)));
            ++counts[arm];
        }
        const std::size_t most = rng.integer(70);
        const auto kept = [&](std::size_t share) {
            std::size_t sum = 0;
            for (const std::size_t count : counts) sum += std::min(count, share);
            return sum;
        };
        const std::size_t share = rows_of_arms(arms).fair_share(most, n_arms);
        CHECK(kept(share) <= most);
        CHECK(kept(share) == arms.size() || kept(share + 1) > most);
    }
}

TEST(ensemble_rows_get_features_late) {
    SharedRows rows = rows_of_arms({0, 1});
    rows.set_kinds({Kind::number, Kind::category});
    const Values context{9, 4};
    rows.append(1, context.data(), 1);
    CHECK(std::isnan(rows.context(1)[1]));
    CHECK(rows.context(2) == context);
    CHECK_THROWS(rows.set_kinds({Kind::number}), std::invalid_argument);
    CHECK_THROWS(rows.set_kinds({Kind::category, Kind::category}), std::invalid_argument);
    CHECK(rows.kinds() == Kinds({Kind::number, Kind::category}));
}

// ---- What is expected ----

TEST(ensemble_attributions_add_up_to_what_is_expected) {
    for (const bool binary : {true, false}) {
        Rng rng(50);
        const Rows rows = random_rows(rng, 250, 3, binary);
        Ensemble engine = made(small_settings(binary));
        for (const std::size_t n : {0u, 1u, 7u, 250u}) {
            learn(engine, rows, engine.rows().size(), n);
            if (n == 250) engine.add_arm();
            for (int i = 0; i < 30; ++i) {
                const Values context = random_context(rng);
                std::vector<std::int64_t> arms(engine.n_arms());
                std::iota(arms.begin(), arms.end(), std::int64_t{0});
                const auto expected = engine.beliefs().expectations(context.data(), arms);
                for (std::uint32_t arm = 0; arm < arms.size(); ++arm)
                    CHECK_NEAR(engine.beliefs().attribution(context.data(), arm).total(),
                               expected[arm].mean, 1e-6);
            }
        }
    }
}

TEST(ensemble_decides_as_often_as_it_says) {
    for (const bool binary : {true, false})
        for (const std::size_t n_arms : {3u, 40u}) {
            Rng rng(52);
            const Rows rows = random_rows(rng, 200, 3, binary);
            Ensemble engine = made(small_settings(binary));
            while (engine.n_arms() < n_arms) engine.add_arm();
            learn(engine, rows, 0, rows.size());
            std::vector<std::int64_t> arms(n_arms);
            std::iota(arms.begin(), arms.end(), std::int64_t{0});
            const Values context{5, 2, 0};
            const Values says = engine.beliefs().propensities(context.data(), arms);
            CHECK_NEAR(std::accumulate(says.begin(), says.end(), 0.0), 1, 1e-9);
            constexpr int kRounds = 4000;
            Values found(n_arms, 0);
            for (int i = 0; i < kRounds; ++i)
                found[engine.beliefs().decide(context.data(), arms, rng)] += 1.0 / kRounds;
            for (std::size_t arm = 0; arm < n_arms; ++arm)
                CHECK_NEAR(found[arm], says[arm],
                           4.5 * std::sqrt(says[arm] * (1 - says[arm]) / kRounds) + 1e-9);
        }
}

// ---- State ----

TEST(ensemble_state_goes_on_as_it_was) {
    for (const bool binary : {true, false}) {
        Rng rng(60);
        const Rows rows = random_rows(rng, 120, 3, binary), more = random_rows(rng, 40, 3, binary);
        for (const std::size_t n : {0u, 1u, 3u, 30u, 120u}) {
            Ensemble engine = made(small_settings(binary));
            learn(engine, rows, 0, n);
            check_copy(engine, more);
            engine.add_arm();
            learn(engine, rows.part(0, 1), 0, 1);
            engine.learn(3, rows.context(0), 1);
            check_copy(engine, more);
        }
    }
}

TEST(ensemble_state_that_is_damaged_is_refused_or_works) {
    for (const bool binary : {true, false}) {
        Rng rng(61 + binary);
        const Rows rows = random_rows(rng, 60, 3, binary), more = random_rows(rng, 12, 3, binary);
        Ensemble engine = made(small_settings(binary));
        learn(engine, rows, 0, rows.size());
        const Bytes good = written(engine);
        for (int i = 0; i < 1500; ++i) {
            Bytes bytes = good;
            bytes[rng.integer(bytes.size())] ^= static_cast<std::uint8_t>(1 + rng.integer(255));
            Ensemble forged(small_settings(binary));
            if (is_read(forged, bytes))
                check_works(forged, more, rng);
            else
                CHECK(forged.n_arms() == 0 && forged.rows().size() == 0);
        }
        for (int i = 0; i < 200; ++i) {
            const Bytes bytes(good.begin(),
                              good.begin() + static_cast<std::ptrdiff_t>(rng.integer(good.size())));
            CHECK_THROWS(read(engine, bytes), std::invalid_argument);
        }
        CHECK(written(engine) == good);
        Ensemble other(small_settings(!binary));
        CHECK_THROWS(read(other, good), std::invalid_argument);
    }
}

// ---- What rows may bring ----

// The last rows may have no value of a feature, of whatever kind.
TEST(ensemble_forgets_features_with_its_window) {
    for (const bool binary : {true, false}) {
        Rng rng(70);
        EnsembleSettings settings = small_settings(binary);
        settings.window = 5;
        Ensemble engine = made(settings);
        const Rows rows = random_rows(rng, 60, 3, binary);
        learn(engine, rows, 0, 60);
        for (int i = 0; i < 60; ++i)
            engine.learn(static_cast<std::uint32_t>(i % 3), Values{i * 1.0, kNan, kNan}, i % 2);
        learn(engine, rows, 0, 60);
        CHECK(engine.rows().size() <= 60 && engine.beliefs().members().n_features() == 3);
    }
}

TEST(ensemble_with_fewer_rows_than_arms) {
    Rng rng(71);
    EnsembleSettings settings = small_settings(true);
    settings.most_rows = 1;
    Ensemble engine = made(settings);
    const Rows rows = random_rows(rng, 40, 3, true);
    for (std::size_t i = 0; i < 40; ++i) {
        learn(engine, rows, i, i + 1);
        Ensemble copy(settings);
        CHECK(is_read(copy, written(engine)));
        CHECK(written(copy) == written(engine));
        CHECK(engine.rows().size() >= 1);
    }
}

// Rewards may be far from all that were seen before, just after a fit or long after it.
TEST(ensemble_bears_the_largest_rewards) {
    for (const double large : {1e3, 1e10, 1e22, -1e30}) {
        Rng rng(72);
        Rows rows = random_rows(rng, 60, 3, false);
        for (const std::size_t i : {29u, 37u, 57u}) rows.y[i] = i == 37 ? -large : large;
        Ensemble engine = made(small_settings(false));
        for (std::size_t i = 0; i < 60; ++i) {
            learn(engine, rows, i, i + 1);
            Ensemble copy(small_settings(false));
            CHECK(is_read(copy, written(engine)));
            const Values context{1, 2, 3};
            for (const auto& expected : engine.beliefs().expectations(context.data(), kArms))
                CHECK(std::isfinite(expected.mean) && std::isfinite(expected.n));
        }
    }
}
