#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "banditree/trees/cross_validation.hpp"

// A tree with what it takes to cross-validate it; pruned trees and copies share the data.
struct BoundTree {
    banditree::Tree tree;
    banditree::Growth growth;
    std::size_t n_features = 0;
    std::shared_ptr<const banditree::Dataset> data;  // null for a pruned tree
};

void bind_tree(nanobind::module_& m);
