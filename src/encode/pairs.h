// SPDX-License-Identifier: Apache-2.0
// Pairs of features as one number, made of the encoded cells of a row: each side is cut into bins.
//
//   crossed   codes[i * bins of second + j], i and j the number of edges that are <= the encoded
//   cell grid      i * bins of second + j
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// How many numbers a network reads of a row.
inline std::size_t num_inputs(const Schema& schema) {
  return schema.features.size() + schema.pairs.size();
}

/// The bin of an encoded cell.
inline std::size_t bin_of(std::span<const float> edges, float cell) noexcept {
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), cell) -
                                  edges.begin());
}

/// The number of a pair for a row of encoded features.
float encode_pair(const Pair& pair, const float* features) noexcept;

/// Widens the rows of a dataset by the codes of some pairs.
void append_pairs(std::span<const Pair> pairs, Dataset& data);

/// Cuts a feature into at most `bins` bins by the rows of a dataset: each of its values or words is
/// one if they are few, else those of a number are quantiles, and of a category the heaviest words
/// keep a bin each and all others share one. Missing is a bin if training had any.
Pair::Side fit_side(const Schema& schema, std::size_t feature, int bins, const Dataset& data);

/// The pair of two features; cells that few rows have share one code, and so do all beyond the
/// heaviest `most_codes`.
Pair fit_pair(const Schema& schema, std::size_t first, std::size_t second, int bins, int most_codes,
              const Dataset& data);

/// Whether the pair of two features is a grid: one of them has a direction.
bool needs_grid(const Schema& schema, std::size_t first, std::size_t second);

/// The edges between the vertices of a grid.
std::vector<float> grid_edges(std::span<const std::int32_t> vertices);

/// More vertices a side than the codes of a grid have room for.
inline constexpr int kMaxPairVertices = 64;

/// The grid of two features, at most `vertices` a side, missing cells apart: keypoints evenly among
/// all of a number, the heaviest words of a category, of which the last stands for all others too.
Pair fit_grid(const Schema& schema, std::size_t first, std::size_t second, int vertices);

/// "longitude*latitude"
std::string name_of(const Pair& pair, const Schema& schema);

}  // namespace espalier
