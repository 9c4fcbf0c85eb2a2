#pragma once

#include <nanobind/nanobind.h>

void bind_rng(nanobind::module_& module);
