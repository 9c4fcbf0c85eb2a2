#include <nanobind/nanobind.h>

#include "bandit_forest.hpp"
#include "category_codes.hpp"
#include "incremental.hpp"
#include "policies.hpp"
#include "rng.hpp"
#include "tree.hpp"
#include "winning.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    m.doc() =
        "The native core: trees on encoded rows, policies on them, and random numbers. Use it "
        "through "
        "banditree.";
    // Users need not know what outlives the interpreter.
    nb::set_leak_warnings(false);
    bind_rng(m);
    bind_category_codes(m);
    bind_tree(m);
    bind_incremental(m);
    bind_winning(m);
    bind_frozen_trees(m);
    bind_reward_window(m);
    bind_tree_heuristic(m);
    bind_tree_bootstrap(m);
    bind_online_tree_bootstrap(m);
    bind_bandit_forest(m);
    bind_ensemble(m);
}
