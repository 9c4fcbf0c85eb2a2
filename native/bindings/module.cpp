#include <nanobind/nanobind.h>

#include "incremental.hpp"
#include "rng.hpp"
#include "tree.hpp"

NB_MODULE(_core, m) {
    m.doc() =
        "The native core: trees on encoded rows, and random numbers. Use it through banditree.";
    bind_rng(m);
    bind_tree(m);
    bind_incremental(m);
}
