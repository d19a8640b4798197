// SPDX-License-Identifier: Apache-2.0
// A row between a baseline and itself, as a network reads it: each feature has the cell of one or
// of the other, and the pairs of features follow from theirs.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

class Mixture {
 public:
  /// `baseline` has a raw cell for each feature. The schema must outlive it.
  Mixture(const Schema& schema, std::span<const float> baseline);

  /// Takes the raw cells of another row, and begins with the baseline.
  void set_row(std::span<const float> row);

  /// The features whose cells are not encoded as those of the baseline: only these matter.
  const std::vector<std::size_t>& differing() const { return differing_; }

  /// Back to the baseline.
  void reset();

  /// Gives one feature the cell of the row if it has that of the baseline, and the other way round.
  void flip(std::size_t feature);

  /// Encoded: the features, then the pairs.
  std::span<const float> cells() const { return cells_; }

 private:
  // Its codes where neither side, the first, the second and both have the cell of the row.
  using PairCodes = std::array<float, 4>;

  std::size_t num_features() const { return schema_.features.size(); }

  const Schema& schema_;
  std::vector<std::vector<std::size_t>> pairs_of_;  // by feature
  std::vector<float> baseline_;                     // encoded, pairs too
  std::vector<float> row_;                          // encoded features
  std::vector<PairCodes> codes_;                    // by pair
  std::vector<std::size_t> differing_;
  std::vector<char> is_of_row_;  // by feature
  std::vector<float> cells_;
};

}  // namespace espalier
