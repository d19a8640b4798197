// SPDX-License-Identifier: Apache-2.0
// Pairs of features as one number, computed from the encoded values of a row. Each side is binned:
//
//   crossed   codes[i * bins of second + j], i and j the number of edges that are <= the value
//   grid      i * bins of second + j
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// The number of inputs of a network per row.
inline std::size_t num_inputs(const Schema& schema) {
  return schema.features.size() + schema.pairs.size();
}

/// The bin of an encoded value.
inline std::size_t bin_of(std::span<const float> edges, float cell) noexcept {
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), cell) -
                                  edges.begin());
}

/// The number of a pair for a row of encoded features.
float encode_pair(const Pair& pair, const float* features) noexcept;

/// Appends the codes of pairs to the rows of a dataset.
void append_pairs(std::span<const Pair> pairs, Dataset& data);

/// Bins a feature into at most `bins` bins on the rows of a dataset. With few values or categories,
/// each has its own bin. Otherwise the bins of a number are quantiles, and the categories with the
/// most weight have a bin each while all others share one. Missing values have a bin if training
/// had any.
Pair::Side fit_side(const Schema& schema, std::size_t feature, int bins, const Dataset& data);

/// The crossed pair of two features. Combinations with few rows share one code, as do all beyond
/// the `most_codes` with the most weight.
Pair fit_pair(const Schema& schema, std::size_t first, std::size_t second, int bins, int most_codes,
              const Dataset& data);

/// Whether the pair of two features is a grid: at least one of them is constrained.
bool needs_grid(const Schema& schema, std::size_t first, std::size_t second);

/// The edges between the vertices of a grid.
std::vector<float> grid_edges(std::span<const std::int32_t> vertices);

/// More vertices per side than the codes of a grid can represent.
inline constexpr int kMaxPairVertices = 64;

/// The grid of two features, with at most `vertices` per side besides missing values: evenly chosen
/// keypoints of a number, or the categories with the most weight, where the last vertex stands for
/// all others.
Pair fit_grid(const Schema& schema, std::size_t first, std::size_t second, int vertices);

/// "longitude*latitude"
std::string name_of(const Pair& pair, const Schema& schema);

}  // namespace espalier
