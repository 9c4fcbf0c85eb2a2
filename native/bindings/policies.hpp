#pragma once

#include <nanobind/nanobind.h>

void bind_reward_window(nanobind::module_& module);
void bind_tree_heuristic(nanobind::module_& module);
void bind_tree_bootstrap(nanobind::module_& module);
void bind_frozen_trees(nanobind::module_& module);
void bind_online_tree_bootstrap(nanobind::module_& module);
void bind_ensemble(nanobind::module_& module);
