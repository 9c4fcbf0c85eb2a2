// Values that tests of the core write down.
#pragma once

#include <limits>
#include <vector>

#include "banditree/data/dataset.hpp"

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;
using Kinds = std::vector<banditree::Kind>;
