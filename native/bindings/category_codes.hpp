#pragma once

#include <nanobind/nanobind.h>

void bind_category_codes(nanobind::module_& module);
