// SPDX-License-Identifier: Apache-2.0
// A mixture of a row and a baseline as inputs of a network: each feature has the value of one or
// the other, and pairs of features follow from these.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

class Mixture {
 public:
  /// `baseline` has a raw value for each feature. The schema must outlive the object.
  Mixture(const Schema& schema, std::span<const float> baseline);

  /// Sets the raw values of a new row, and starts with the baseline.
  void set_row(std::span<const float> row);

  /// The features whose encoded values differ from the baseline: only these matter.
  const std::vector<std::size_t>& differing() const { return differing_; }

  /// Returns to the baseline.
  void reset();

  /// Switches one feature between the baseline and the row.
  void flip(std::size_t feature);

  /// Encoded values: features, then pairs.
  std::span<const float> cells() const { return cells_; }

 private:
  // The codes of a pair if no side, the first, the second, or both have the value of the row.
  using PairCodes = std::array<float, 4>;

  std::size_t num_features() const { return schema_.features.size(); }

  const Schema& schema_;
  std::vector<std::vector<std::size_t>> pairs_of_;  // by feature
  std::vector<float> baseline_;                     // encoded, including pairs
  std::vector<float> row_;                          // encoded features
  std::vector<PairCodes> codes_;                    // by pair
  std::vector<std::size_t> differing_;
  std::vector<char> is_of_row_;  // by feature
  std::vector<float> cells_;
};

}  // namespace espalier
