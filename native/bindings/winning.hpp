#pragma once

#include <nanobind/nanobind.h>

void bind_winning(nanobind::module_& module);
