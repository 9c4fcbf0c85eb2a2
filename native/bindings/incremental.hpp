#pragma once

#include <nanobind/nanobind.h>

void bind_incremental(nanobind::module_& m);
