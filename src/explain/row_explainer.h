// SPDX-License-Identifier: Apache-2.0
// Computes the Shapley values of a row. The players are the features, and v(S) is the score of the
// row with its own values in S and the baseline's elsewhere. The predictor's arithmetic scores
// every coalition.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "espalier/predictor.h"
#include "explain/mixture.h"
#include "explain/shapley.h"
#include "explain/target.h"

namespace espalier {

class Interpreter;

/// How Shapley values are computed, the same for all rows.
struct GamePlan {
  std::size_t exact_columns = 16;
  Orders orders;                 // of all features
  bool orders_are_open = false;  // whether the caller leaves their number open

  /// The number of orders for a row in which this many features differ; an even number.
  std::size_t num_orders(std::size_t players) const;
};
/// The plan for a number of permutations; 0 for a default.
GamePlan make_plan(std::size_t num_features, int exact_columns, int permutations,
                   int open_permutations, std::uint64_t seed);

/// Working memory of one thread; predictor and plan must outlive it.
class RowExplainer {
 public:
  RowExplainer(const Predictor& predictor, std::span<const float> baseline, const GamePlan& plan);

  /// Starts a row of predictor.num_cells() values.
  void set_row(std::span<const float> row);

  /// The scores of the row, and of the baseline with the row's offset.
  std::span<const float> scores() const { return row_scores_; }
  std::span<const float> baseline_scores() const { return baseline_scores_; }

  /// The Shapley values of the score and their standard errors, [targets][features] each.
  void share(std::span<const Target> targets, std::span<double> shares, std::span<double> errors);

 private:
  void add();    // adds the current mixture
  void flush();  // scores the mixtures added since the last call
  void share_exactly(std::span<double> shares);
  void share_by_orders(std::span<double> shares, std::span<double> errors);
  void add_orders(std::span<const std::vector<std::size_t>> orders, const std::vector<char>& plays);

  const Interpreter& interpreter_;
  const std::size_t num_features_;
  const std::size_t offset_cell_;  // of a row; 0: no offset
  const GamePlan& plan_;
  Mixture mixture_;
  std::span<const Target> targets_;
  std::vector<float> row_scores_, baseline_scores_;
  std::vector<std::vector<double>> values_;  // [targets], one per mixture added
  std::vector<double> by_coalition_;
  std::size_t waiting_ = 0;     // mixtures that are not scored yet
  std::vector<float> cells_;    // of these mixtures
  std::vector<float> offsets_;  // the row's offset, for each mixture
  std::vector<float> scores_;
  AlignedFloats scratch_;
};

}  // namespace espalier
