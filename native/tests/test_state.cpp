// Engines as bytes: what is read goes on as what was written, and forged bytes are refused or give
// an engine that works.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "banditree/engines/online_tree_bootstrap.hpp"
#include "banditree/engines/tree_bootstrap.hpp"
#include "banditree/engines/tree_heuristic.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

using Bytes = std::vector<std::uint8_t>;
const std::vector<std::int64_t> kArms{0, 1, 2};

template <class Engine>
Bytes written(const Engine& engine) {
    ByteWriter out;
    engine.write(out);
    return out.take();
}

template <class Engine>
bool is_read(Engine& engine, const Bytes& bytes) {
    ByteReader in(bytes);
    try {
        engine.read(in);
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

template <class Engine>
void add_arms(Engine& engine) {
    engine.set_kinds(kKinds);
    for (std::size_t i = 0; i < kArms.size(); ++i) engine.add_arm();
}

template <class Engine>
void learn(Engine& engine, const Rows& rows, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
        engine.learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
}

// Written and read after 0, 1, 2, 4, ... rows; then both learn on.
template <class Make>
void check_carrying_on(Make make, const Rows& rows) {
    for (std::size_t n = 0; n <= rows.size(); n = n == 0 ? 1 : 2 * n) {
        auto original = make(), copy = make();
        add_arms(*original);
        learn(*original, rows, 0, n);
        const Bytes bytes = written(*original);
        CHECK(is_read(*copy, bytes));
        CHECK(written(*copy) == bytes);
        learn(*original, rows, n, rows.size());
        learn(*copy, rows, n, rows.size());
        CHECK(written(*copy) == written(*original));
        Rng mine(5), its(5), contexts(6);
        for (int i = 0; i < 20; ++i) {
            const Values context = random_context(contexts);
            CHECK(original->decide(context.data(), kArms, mine) ==
                  copy->decide(context.data(), kArms, its));
        }
    }
}

// No engine that reads a forged state can be made to walk out of its memory.
template <class Make>
void check_forged(Make make, const Rows& rows, Rng& rng) {
    auto original = make();
    add_arms(*original);
    learn(*original, rows, 0, rows.size() / 2);
    const Bytes good = written(*original);
    std::size_t refused = 0;
    for (int i = 0; i < 600; ++i) {
        Bytes bytes = good;
        if (i % 10 == 0)
            bytes.resize(rng.integer(good.size()));
        else
            bytes[rng.integer(good.size())] ^= static_cast<std::uint8_t>(1 + rng.integer(255));
        auto forged = make();
        if (!is_read(*forged, bytes)) {
            ++refused;
            CHECK(forged->n_arms() == 0);
            continue;
        }
        if (forged->n_arms() != kArms.size()) continue;
        const std::size_t end = i % 7 == 0 ? rows.size() : rows.size() / 2 + 3;
        if (forged->kinds() == kKinds) learn(*forged, rows, rows.size() / 2, end);
        Values context = random_context(rng);
        context.resize(forged->kinds().size(), kNan);
        CHECK(forged->decide(context.data(), kArms, rng) < kArms.size());
    }
    CHECK(refused >= 60);
}

template <class Make>
void check_state(Make make, bool binary, std::uint64_t seed) {
    Rng rng(seed);
    const Rows rows = random_rows(rng, 150, 3, binary);
    check_carrying_on(make, rows);
    check_forged(make, rows, rng);
}

}  // namespace

TEST(state_of_tree_heuristic) {
    std::uint64_t seed = 70;
    for (const double refresh : {0.0, 0.05, 0.5})
        for (const std::uint32_t max_bins : {0u, 4u})
            for (const std::size_t window : {0u, 9u})
                for (const bool binary : {true, false}) {
                    ArmTreeSettings settings;
                    settings.max_bins = max_bins;
                    settings.refresh = refresh;
                    settings.window = window;
                    const auto make = [=] {
                        return std::make_unique<TreeHeuristic>(settings, Posterior{binary, 1, 1});
                    };
                    check_state(make, binary, ++seed);
                }
}

TEST(state_of_online_tree_bootstrap) {
    for (const std::size_t window : {0u, 2u, 30u})
        for (const bool binary : {true, false}) {
            OnlineTreeBootstrap::Settings settings;
            settings.max_bins = binary ? 4 : 0;
            settings.n_replicas = 3;
            settings.refresh = window == 0 ? 0.05 : 1;
            settings.window = window;
            settings.seed = 8;
            settings.posterior = Posterior{binary, 1, 1};
            const auto make = [=] { return std::make_unique<OnlineTreeBootstrap>(settings); };
            check_state(make, binary, 90);
        }
}

TEST(forged_states_of_engines_that_grow_trees_beside) {
    for (const std::size_t window : {0u, 9u}) {
        Rng rng(60 + window);
        const Rows rows = random_rows(rng, 150, 3, true);
        ArmTreeSettings trees;
        OnlineTreeBootstrap::Settings replicas;
        trees.max_bins = replicas.max_bins = 4;
        trees.refresh = replicas.refresh = 0.2;
        trees.window = replicas.window = window;
        trees.beside = replicas.beside = 20;
        replicas.n_replicas = 3;
        check_forged([=] { return std::make_unique<TreeHeuristic>(trees, Posterior{}); }, rows,
                     rng);
        check_forged([=] { return std::make_unique<OnlineTreeBootstrap>(replicas); }, rows, rng);
    }
}

TEST(state_of_tree_bootstrap) {
    using ColdStart = TreeBootstrap::ColdStart;
    for (const std::size_t window : {0u, 25u})
        for (const ColdStart cold_start : {ColdStart::prior, ColdStart::until_success})
            for (const bool binary : {true, false}) {
                TreeBootstrap::Settings settings;
                settings.max_bins = binary ? 4 : 0;
                settings.cold_start = cold_start;
                settings.patience = 5;
                settings.binary = binary;
                settings.window = window;
                check_state([=] { return std::make_unique<TreeBootstrap>(settings); }, binary, 95);
            }
}

TEST(an_engine_is_not_read_by_one_of_other_settings) {
    ArmTreeSettings binned, exact;
    binned.max_bins = 4;
    binned.refresh = exact.refresh = 0.05;
    TreeHeuristic original(binned, Posterior{}), other(exact, Posterior{});
    add_arms(original);
    CHECK(!is_read(other, written(original)));
}
