// SPDX-License-Identifier: Apache-2.0
// What every explanation asks of its options. All throw Error (argument).
#pragma once

#include <algorithm>
#include <cstddef>

namespace espalier {

class Model;

/// How many samples are taken for each of some columns where the caller leaves it open: `full` for
/// up to 100 columns; beyond that fewer for each, so that all columns together have as many as 100
/// would. A sample takes a score, whose time grows with the columns, so that the time of all is
/// linear in them.
inline std::size_t samples_per_column(std::size_t full, std::size_t columns, std::size_t least) {
  constexpr std::size_t kFullColumns = 100;
  if (columns <= kFullColumns) return full;
  return std::max(std::min(full, least), full * kFullColumns / columns);
}

void check_range(const char* option, int value, int least, int most);
void check_game(int exact_columns, int permutations);

/// One cell for each feature.
void check_baseline(const Model& model, std::size_t cells);

}  // namespace espalier
