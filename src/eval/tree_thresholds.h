// SPDX-License-Identifier: Apache-2.0
// The thresholds of tree splits, as values of the features that the splits read.
//
// A split compares a wire with a number. Where the wire is one feature through its calibrator,
// there are two neighboring values of the feature between which the answer changes: the value on
// the threshold and the one just above it. Bisection over all floats finds them, with the
// arithmetic of the predictor. Splits of other wires (the level, or a layer that mixes features)
// are left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "espalier/model.h"
#include "espalier/schema.h"
#include "serve/program.h"

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
  TreeThresholds(TreeThresholds&&) = default;
  TreeThresholds& operator=(TreeThresholds&&) = default;

  /// Splits on features that have a direction.
  std::size_t size() const { return splits_.size(); }

  ThresholdStep step(std::size_t split) const;

  /// Changes cells of a raw row so that it reaches the split, where the splits before it read
  /// single features too and such cells are found. The feature that is stepped is left as it is.
  void lead_to(std::size_t split, std::span<float> row) const;

 private:
  // What a wire reads: a feature, through a table or as it is.
  struct Reading {
    std::size_t feature;
    const CellTable* table;
  };

  // A tree step and what leads to its questions.
  struct Forest {
    const TreeStep* trees;
    std::vector<std::optional<Reading>> readings;  // of each wire
    std::vector<std::int32_t> answers;  // of each question: 2 q + a if answer a of question q leads
                                        // to it; -1 at a root
  };

  struct Split {
    std::uint32_t forest;
    std::uint32_t question;
    std::int64_t rank;  // of the cell on the threshold
  };

  // What a row must answer to reach a split.
  struct Condition {
    const TreeQuestion* question;
    Reading reading;
    bool is_above;
  };

  void add_forest(const std::vector<Step>& steps, std::size_t at);
  void add_splits(std::uint32_t forest);
  static const Reading* reading_of(const Forest& forest, const TreeQuestion& question);
  bool is_above(const TreeQuestion& question, const Reading& reading, float cell) const;
  float cell_of(std::size_t feature, std::int64_t rank) const;
  std::pair<std::int64_t, std::int64_t> ends_of(std::size_t feature) const;
  std::optional<std::int64_t> rank_below(const TreeQuestion& question,
                                         const Reading& reading) const;
  std::vector<Condition> path_to(const Split& split) const;
  std::vector<float> candidates(std::span<const Condition> conditions) const;

  std::vector<Feature> features_;
  std::vector<std::vector<Step>> members_;
  std::vector<Forest> forests_;
  std::vector<Split> splits_;
};

}  // namespace espalier
