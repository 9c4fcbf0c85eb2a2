// Trees that are grown beside: once all is grown, an engine is what it would be had each tree been
// grown when it was due.
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "banditree/data/cells.hpp"
#include "banditree/engines/beside.hpp"
#include "banditree/engines/online_tree_bootstrap.hpp"
#include "banditree/engines/tree_heuristic.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

const std::vector<std::int64_t> kArms{0, 1, 2};

template <class Engine>
std::vector<std::uint8_t> written(const Engine& engine) {
    ByteWriter out;
    engine.write(out);
    return out.take();
}

template <class Engine>
void finish(Engine& engine) {
    while (engine.tend()) engine.waiting().wait();
}

template <class Engine>
std::unique_ptr<Engine> with_arms(std::unique_ptr<Engine> engine) {
    engine->set_kinds(kKinds);
    for (std::size_t i = 0; i < kArms.size(); ++i) engine->add_arm();
    return engine;
}

bool same_trees(const TreeHeuristic& a, const TreeHeuristic& b) {
    for (std::uint32_t arm = 0; arm < a.n_arms(); ++arm)
        if (a.rows(arm).n_rows() != b.rows(arm).n_rows() ||
            !same_tree(a.arm(arm).pruned(), b.arm(arm).pruned()))
            return false;
    return true;
}

bool same_trees(const OnlineTreeBootstrap& a, const OnlineTreeBootstrap& b) {
    for (std::uint32_t arm = 0; arm < a.n_arms(); ++arm)
        for (std::uint32_t i = 0; i < a.n_replicas(); ++i)
            if (a.n_rows(arm, i) != b.n_rows(arm, i) ||
                (a.n_rows(arm, i) > 0 && !same_tree(a.tree(arm, i), b.tree(arm, i))))
                return false;
    return true;
}

// Whether all rows that count are counted, however late the trees are.
bool counts_are_current(const TreeHeuristic& engine, const Rows& seen) {
    for (const std::int64_t arm : kArms) {
        const auto id = static_cast<std::uint32_t>(arm);
        const Rows own = seen.of(arm);
        if (own.size() == 0) continue;
        const std::size_t first = engine.window().excess(own.size());
        double total = 0;
        for (std::size_t i = first; i < own.size(); ++i) total += own.y[i];
        const Node root = engine.arm(id).pruned().nodes[0];
        if (root.n != own.size() - first || !close(root.n * root.mean, total)) return false;
    }
    return true;
}

bool counts_are_current(const OnlineTreeBootstrap&, const Rows&) { return true; }

// Learns one by one and in batches, and now and then waits; in between nobody knows which trees
// have been grown.
template <class Make>
void check_growing_beside(Make make, bool binary, std::uint64_t seed) {
    Rng rng(seed);
    const auto at_once = with_arms(make(0)), beside = with_arms(make(1));
    const Rows rows = random_rows(rng, 900, 3, binary);
    Rows seen;
    for (std::size_t begin = 0; begin < rows.size();) {
        const std::size_t size = rng.integer(3) == 0 ? rng.integer(60) : 1;
        const Rows part = rows.part(begin, std::min(rows.size(), begin + size));
        begin += part.size();
        for (std::size_t i = 0; i < part.size(); ++i) {
            seen.add(part.context(i), part.y[i], part.arms[i]);
            at_once->learn(static_cast<std::uint32_t>(part.arms[i]), part.context(i), part.y[i]);
            if (size == 1)
                beside->learn(static_cast<std::uint32_t>(part.arms[i]), part.context(i), part.y[i]);
        }
        if (size != 1) beside->learn_many(part.arms, part.matrix(), part.y);
        if (rng.integer(8) == 0) CHECK(counts_are_current(*beside, seen));
        if (rng.integer(40) != 0) continue;
        finish(*beside);
        CHECK(same_trees(*beside, *at_once));
        if (binary) CHECK(written(*beside) == written(*at_once));
    }
    finish(*beside);
    CHECK(same_trees(*beside, *at_once));
    if (binary) CHECK(written(*beside) == written(*at_once));
}

ArmTreeSettings tree_settings(std::size_t window, std::uint32_t max_bins, double refresh) {
    ArmTreeSettings settings;
    settings.max_bins = max_bins;
    settings.refresh = refresh;
    settings.window = window;
    return settings;
}

}  // namespace

TEST(cells_are_shared_and_grow_apart) {
    Cells<int> cells;
    for (int i = 0; i < 20; ++i) cells.push_back(i);
    cells.reserve(40);
    Cells<int> copy = cells;
    CHECK(copy.data() == cells.data());
    cells.push_back(20);
    CHECK(copy.data() == cells.data() && copy.size() == 20);
    copy.push_back(99);
    CHECK(cells[20] == 20 && copy[20] == 99 && copy[19] == 19);
    Cells<int> first = cells;
    first.keep_first(3);
    first.push_back(77);
    CHECK(first.size() == 4 && first[3] == 77 && cells[3] == 3);
    cells.drop_first(20);
    CHECK(cells.size() == 1 && cells[0] == 20 && copy.size() == 21);
}

TEST(work_is_done_beside) {
    Beside<std::vector<int>> beside;
    CHECK(!beside.is_busy() && !beside.is_done());
    std::atomic<bool> go = false;
    beside.start([&] {
        go.wait(false);
        return std::vector{1, 2};
    });
    CHECK(beside.is_busy() && !beside.is_done());
    go = true;
    go.notify_all();
    beside.waiting().wait();
    CHECK(beside.is_done());
    CHECK(beside.take() == std::vector{1, 2});
    CHECK(!beside.is_busy());
    beside.waiting().wait();  // for nothing
}

TEST(work_that_fails_says_so_when_it_is_taken) {
    Beside<int> beside;
    beside.start([]() -> int { throw std::runtime_error("no"); });
    beside.waiting().wait();
    CHECK_THROWS(beside.take(), std::runtime_error);
    CHECK(!beside.is_busy());
    beside.start([] { return 3; });
    beside.waiting().wait();
    CHECK(beside.take() == 3);
}

TEST(work_that_nobody_wants_any_more_is_left_alone) {
    const auto finished = std::make_shared<std::atomic<int>>(0);
    const auto go = std::make_shared<std::atomic<bool>>(false);
    const auto job = [=] {
        go->wait(false);
        return ++*finished;
    };
    {
        Beside<int> beside;
        beside.start(job);
        beside.abandon();
        CHECK(!beside.is_busy());
        beside.start(job);
    }
    CHECK(*finished == 0);
    *go = true;
    go->notify_all();
    while (*finished < 2) std::this_thread::yield();
}

TEST(trees_that_grow_beside_are_the_same_in_the_end) {
    std::uint64_t seed = 300;
    for (const std::size_t window : {0u, 7u, 60u})
        for (const std::uint32_t max_bins : {0u, 5u})
            for (const double refresh : {0.05, 0.3, 1.0})
                for (const bool binary : {true, false}) {
                    const auto make = [=](std::size_t beside) {
                        auto settings = tree_settings(window, max_bins, refresh);
                        settings.beside = beside;
                        return std::make_unique<TreeHeuristic>(settings, Posterior{binary, 1, 1});
                    };
                    check_growing_beside(make, binary, ++seed);
                }
}

TEST(replicas_that_grow_beside_are_the_same_in_the_end) {
    std::uint64_t seed = 400;
    for (const std::size_t window : {0u, 7u, 60u})
        for (const std::uint32_t max_bins : {0u, 5u})
            for (const bool binary : {true, false}) {
                const auto make = [=](std::size_t beside) {
                    OnlineTreeBootstrap::Settings settings;
                    settings.max_bins = max_bins;
                    settings.n_replicas = 3;
                    settings.refresh = 0.1;
                    settings.window = window;
                    settings.beside = beside;
                    settings.seed = 8;
                    settings.posterior = Posterior{binary, 1, 1};
                    return std::make_unique<OnlineTreeBootstrap>(settings);
                };
                check_growing_beside(make, binary, ++seed);
            }
}

// A feature comes while a tree is grown, and one that has had no value turns out to be a category.
TEST(features_come_while_trees_grow) {
    Rng rng(77);
    const auto make = [](std::size_t beside) {
        auto settings = tree_settings(0, 5, 0.05);
        settings.beside = beside;
        return std::make_unique<TreeHeuristic>(settings, Posterior{});
    };
    for (int round = 0; round < 20; ++round) {
        const auto at_once = make(0), beside = make(1);
        Kinds kinds{Kind::number, Kind::number};
        for (auto* engine : {at_once.get(), beside.get()}) {
            engine->add_arm();
            engine->set_kinds(kinds);
        }
        for (int i = 0; i < 400; ++i) {
            if (i == 150) kinds[1] = Kind::category;
            if (i % 100 == 99) kinds.push_back(i < 200 ? Kind::number : Kind::category);
            Values context(kinds.size(), kNan);
            context[0] = rng.normal();
            if (i >= 150) context[1] = static_cast<double>(rng.integer(3 + i / 50));
            for (std::size_t f = 2; f < kinds.size(); ++f)
                context[f] = static_cast<double>(rng.integer(4));
            const double reward = context[0] + (context.back() == 2) + rng.normal() > 0.5;
            for (auto* engine : {at_once.get(), beside.get()}) {
                engine->set_kinds(kinds);
                engine->learn(0, context, reward);
            }
        }
        finish(*beside);
        CHECK(same_trees(*beside, *at_once));
    }
}

TEST(an_engine_may_go_while_its_trees_grow) {
    Rng rng(78);
    const Rows rows = random_rows(rng, 3000, 3, true);
    for (int round = 0; round < 5; ++round) {
        auto settings = tree_settings(0, 5, 0.05);
        settings.beside = 10;
        auto engine = with_arms(std::make_unique<TreeHeuristic>(settings, Posterior{}));
        for (std::size_t i = 0; i < 60; ++i)
            engine->learn(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i), rows.y[i]);
        const auto state = written(*engine);
        engine->learn_many(rows.arms, rows.matrix(), rows.y);
        if (round % 2 == 0) {
            ByteReader in(state);
            engine->read(in);
            CHECK(written(*engine) == state);
            finish(*engine);
            CHECK(engine->n_arms() == kArms.size());
        }
    }
}
