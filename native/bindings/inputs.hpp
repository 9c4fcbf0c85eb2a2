// Checks on what comes from Python. The Python face checks first, with better words; these keep the
// core safe.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/trees/split.hpp"

using DoubleMatrix =
    nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using DoubleArray =
    nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using ByteArray = nanobind::ndarray<const std::uint8_t, nanobind::ndim<1>, nanobind::c_contig,
                                    nanobind::device::cpu>;
using IntArray = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                   nanobind::device::cpu>;

// Throws std::invalid_argument unless an array of doubles or 64-bit integers starts at a multiple
// of 8.
void check_aligned(const void* data);
banditree::Matrix as_matrix(const DoubleMatrix& matrix);
std::span<const double> as_span(const DoubleArray& array);
std::vector<banditree::Kind> as_kinds(const ByteArray& categorical);
banditree::Growth as_growth(std::int64_t min_split, std::int64_t min_leaf,
                            std::optional<std::int64_t> max_depth, bool adjusted);
std::uint32_t as_folds(std::int64_t folds);
double as_share(double share, const char* what);
// 0 for none.
std::size_t as_window(std::optional<std::int64_t> window);
// From how many rows on trees are grown beside, of trees that are grown anew per share.
std::size_t as_beside(std::optional<std::int64_t> beside, double refresh);
std::uint32_t as_max_bins(std::optional<std::int64_t> max_bins);
banditree::Posterior as_posterior(bool binary, double successes, double failures);

// Values must be finite or NaN; categories whole numbers from 0. Throws std::invalid_argument.
void check_contexts(const banditree::Matrix& contexts, const std::vector<banditree::Kind>& kinds);
void check_finite(std::span<const double> values);
void check_reward(double reward);
void check_weight(double weight);
void check_length(std::size_t actual, std::size_t expected, const char* what);
