// SPDX-License-Identifier: Apache-2.0
// Checks and defaults of the options of explanations. All functions throw Error (argument).
#pragma once

#include <algorithm>
#include <cstddef>

namespace espalier {

class Model;

/// The default number of samples per feature: `full` for up to 100 features, and fewer beyond, so
/// that the total number stays that of 100 features. A sample takes a prediction, whose time grows
/// with the number of features, so the total time is linear in that number.
inline std::size_t samples_per_column(std::size_t full, std::size_t columns, std::size_t least) {
  constexpr std::size_t kFullColumns = 100;
  if (columns <= kFullColumns) return full;
  return std::max(std::min(full, least), full * kFullColumns / columns);
}

void check_range(const char* option, int value, int least, int most);
void check_game(int exact_columns, int permutations);

/// Requires one value per feature.
void check_baseline(const Model& model, std::size_t cells);

}  // namespace espalier
