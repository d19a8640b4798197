// SPDX-License-Identifier: Apache-2.0
// The thresholds of forests as values of the features, for the search for counter-examples: two
// neighboring values of a feature between which a split changes its answer. Forests that read more
// than features and the level are left out, see forest_of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/model.h"
#include "espalier/schema.h"
#include "model/forest.h"

namespace espalier {

/// Cells of a feature just below a threshold, on it and just above it, in the order in which no
/// prediction may fall.
struct ThresholdStep {
  std::size_t feature = 0;
  std::array<float, 3> cells = {};
};

class TreeThresholds {
 public:
  TreeThresholds() = default;
  explicit TreeThresholds(const Model& model);

  /// Splits on features that have a direction.
  std::size_t size() const { return splits_.size(); }

  ThresholdStep step(std::size_t split) const;

  /// Changes cells of a raw row so that it reaches the split, where such cells are found. The
  /// feature that is stepped is left as it is.
  void lead_to(std::size_t split, std::span<float> row) const;

 private:
  struct Split {
    std::uint32_t forest;
    std::uint32_t tree;
    std::int32_t split;  // of the tree
  };

  // What a row must answer to reach a split.
  struct Condition {
    const DecisionSplit* split;
    bool right;
  };

  std::vector<Condition> path_to(const Split& split) const;
  std::vector<float> candidates(std::span<const Condition> conditions) const;

  std::vector<Feature> features_;
  std::vector<DecisionForest> forests_;
  std::vector<Split> splits_;
};

}  // namespace espalier
