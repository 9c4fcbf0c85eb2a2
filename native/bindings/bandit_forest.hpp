#pragma once

#include <nanobind/nanobind.h>

void bind_bandit_forest(nanobind::module_& module);
