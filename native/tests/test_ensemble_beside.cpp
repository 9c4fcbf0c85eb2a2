// Members that are fitted beside: once all is fitted, an engine is what it would be had each fit
// taken place when it was due.
#include <cstdint>
#include <memory>
#include <vector>

#include "banditree/ensemble/ensemble.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Engines = std::vector<Ensemble*>;

struct Case {
    bool binary;
    std::size_t window;
    std::size_t most_rows;
};
const std::vector<Case> kCases{{true, 0, 100'000},  {true, 0, 70},   {true, 20, 100'000},
                               {false, 0, 100'000}, {false, 20, 50}, {true, 1, 100'000}};

EnsembleSettings settings_of(const Case& of, std::size_t beside) {
    EnsembleSettings settings;
    settings.binary = of.binary;
    settings.window = of.window;
    settings.most_rows = of.most_rows;
    settings.beside = beside;
    settings.refresh = 0.1;
    settings.seed = 4;
    settings.members.boosting.n_trees = 5;
    settings.members.forest.n_trees = 3;
    return settings;
}

std::unique_ptr<Ensemble> made(const Case& of, std::size_t beside) {
    auto engine = std::make_unique<Ensemble>(settings_of(of, beside));
    engine->set_kinds(kKinds);
    for (int i = 0; i < 3; ++i) engine->add_arm();
    return engine;
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

void finish(Ensemble& engine) {
    while (engine.tend()) engine.waiting().wait();
}

// One by one and in batches.
void learn(Rng& rng, const Engines& engines, const Rows& rows) {
    for (std::size_t begin = 0; begin < rows.size();) {
        const std::size_t size = rng.integer(3) == 0 ? 1 + rng.integer(60) : 1;
        const Rows part = rows.part(begin, std::min(rows.size(), begin + size));
        begin += part.size();
        for (Ensemble* engine : engines)
            if (size == 1)
                engine->learn(static_cast<std::uint32_t>(part.arms[0]), part.context(0), part.y[0]);
            else
                engine->learn_many(part.arms, part.matrix(), part.y);
    }
}

}  // namespace

TEST(ensembles_fitted_beside_are_the_same_in_the_end) {
    std::uint64_t seed = 500;
    for (const Case& of : kCases)
        for (const std::size_t from : {1u, 40u}) {
            Rng rng(++seed);
            const auto at_once = made(of, 0), beside = made(of, from);
            for (int round = 0; round < 12; ++round) {
                learn(rng, {at_once.get(), beside.get()},
                      random_rows(rng, 1 + rng.integer(150), 3, of.binary));
                CHECK(beside->rows().n_learned() == at_once->rows().n_learned());
                if (rng.integer(2) == 0) continue;
                finish(*beside);
                CHECK(written(*beside) == written(*at_once));
            }
        }
}

// Which must not take part in fits that were due before.
TEST(ensembles_get_arms_and_features_while_they_are_fitted) {
    for (const Case& of : kCases) {
        Rng rng(520);
        const auto at_once = made(of, 0), beside = made(of, 1);
        Kinds kinds = kKinds;
        for (int i = 0; i < 900; ++i) {
            if (i % 90 == 50) kinds.push_back(i < 500 ? Kind::number : Kind::category);
            Values context = random_context(rng);
            for (std::size_t f = context.size(); f < kinds.size(); ++f)
                context.push_back(static_cast<double>(rng.integer(4)));
            const auto arm = static_cast<std::uint32_t>(rng.integer(at_once->n_arms()));
            const double reward = context[0] > 4 && arm != 1;
            for (Ensemble* engine : {at_once.get(), beside.get()}) {
                if (i % 70 == 30) engine->add_arm();
                engine->set_kinds(kinds);
                engine->learn(arm, context, reward);
            }
        }
        finish(*beside);
        CHECK(written(*beside) == written(*at_once));
    }
}

TEST(ensemble_state_has_all_but_the_fit_that_is_under_way) {
    int late = 0;
    for (const Case& of : kCases)
        for (int round = 0; round < 4; ++round) {
            Rng rng(530 + static_cast<std::uint64_t>(round));
            const auto at_once = made(of, 0), beside = made(of, 1), copy = made(of, 1);
            const Engines both{at_once.get(), beside.get()};
            learn(rng, both, random_rows(rng, 200, 3, of.binary));
            for (Ensemble* engine : both) engine->add_arm();
            learn(rng, both, random_rows(rng, 100, 4, of.binary));
            const Bytes state = written(*beside);
            late += state != written(*at_once);
            read(*copy, state);
            CHECK(written(*copy) == state);
            learn(rng, {at_once.get(), copy.get()}, random_rows(rng, 30, 4, of.binary));
            finish(*copy);
            CHECK(written(*copy) == written(*at_once));
        }
    CHECK(late > 0);
}

TEST(ensemble_state_of_a_fit_that_is_damaged_is_refused_or_works) {
    int late = 0;
    for (const Case& of : {kCases[0], kCases[4]}) {
        Rng rng(540);
        const auto beside = made(of, 1);
        const Rows rows = random_rows(rng, 120, 3, of.binary);
        Bytes good;
        do {  // until the fit is later than the state
            beside->learn_many(rows.arms, rows.matrix(), rows.y);
            good = written(*beside);
            finish(*beside);
        } while (good == written(*beside));
        const std::size_t n = good.size();
        for (int i = 0; i < 1200; ++i) {
            Bytes bytes = good;
            const std::size_t at = i % 2 == 0 ? rng.integer(n) : n - 1 - rng.integer(n / 10);
            bytes[at] ^= static_cast<std::uint8_t>(1 + rng.integer(255));
            Ensemble forged(settings_of(of, 1));
            try {
                read(forged, bytes);
            } catch (const std::invalid_argument&) {
                CHECK(forged.n_arms() == 0 && forged.rows().size() == 0);
                continue;
            }
            ++late;
            try {
                finish(forged);
            } catch (const std::exception&) {
                continue;  // the fit could not work with what it found
            }
        }
        Ensemble never(settings_of(of, 0));
        CHECK_THROWS(read(never, good), std::invalid_argument);
    }
    CHECK(late > 0);
}

TEST(ensembles_forget_while_they_are_fitted) {
    for (const Case& of : {kCases[0], kCases[3]}) {
        Rng rng(550);
        const auto at_once = made(of, 0), beside = made(of, 1);
        const Engines both{at_once.get(), beside.get()};
        for (int round = 0; round < 6; ++round) {
            learn(rng, both, random_rows(rng, 150, 3, of.binary));
            const std::vector<std::int64_t> counts{20, 0,
                                                   static_cast<std::int64_t>(rng.integer(9))};
            for (Ensemble* engine : both) engine->keep_last(counts);
            CHECK(written(*beside) == written(*at_once));
            finish(*beside);
            CHECK(written(*beside) == written(*at_once));
        }
    }
}

TEST(an_ensemble_may_go_while_it_is_fitted) {
    Rng rng(560);
    const Rows rows = random_rows(rng, 2000, 3, true);
    for (int round = 0; round < 5; ++round) {
        const auto engine = made(kCases[0], 1);
        engine->learn_many(rows.arms, rows.matrix(), rows.y);
        if (round % 2 == 0) continue;
        const Bytes state = written(*made(kCases[0], 1));
        read(*engine, state);
        finish(*engine);
        CHECK(written(*engine) == state);
    }
}
