// SPDX-License-Identifier: Apache-2.0
// Shares the difference between a row and a baseline among the columns: plays the game whose
// players are the columns, v(S) being the score of the row with its own cells in S and the
// baseline's elsewhere. The predictor's arithmetic scores every coalition.
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

/// How the games are played, the same for all rows.
struct GamePlan {
  std::size_t exact_columns = 16;
  Orders orders;                 // of all features
  bool orders_are_open = false;  // the caller leaves their number open

  /// How many orders a row takes in which so many columns differ; an even number.
  std::size_t num_orders(std::size_t players) const;
};
/// permutations: of few columns, if the caller leaves their number open (0).
GamePlan make_plan(std::size_t num_features, int exact_columns, int permutations,
                   int open_permutations, std::uint64_t seed);

/// Scratch of one thread; predictor and plan must outlive it.
class RowExplainer {
 public:
  RowExplainer(const Predictor& predictor, std::span<const float> baseline, const GamePlan& plan);

  /// Turns to a row of predictor.num_cells() cells.
  void set_row(std::span<const float> row);

  /// The scores of the row, and of the baseline with the row's offset.
  std::span<const float> scores() const { return row_scores_; }
  std::span<const float> baseline_scores() const { return baseline_scores_; }

  /// The shares of the score and their standard errors, [targets][features] each.
  void share(std::span<const Target> targets, std::span<double> shares, std::span<double> errors);

 private:
  void add();    // scores the mixture as it is
  void flush();  // what was added since the last time
  void share_exactly(std::span<double> shares);
  void share_by_orders(std::span<double> shares, std::span<double> errors);
  void add_orders(std::span<const std::vector<std::size_t>> orders, const std::vector<char>& plays);

  const Interpreter& interpreter_;
  const std::size_t num_features_;
  const std::size_t offset_cell_;  // of a row; 0: it has none
  const GamePlan& plan_;
  Mixture mixture_;
  std::span<const Target> targets_;
  std::vector<float> row_scores_, baseline_scores_;
  std::vector<std::vector<double>> values_;  // [targets], one for each mixture that was added
  std::vector<double> by_coalition_;
  std::size_t waiting_ = 0;     // mixtures that are not yet scored
  std::vector<float> cells_;    // of these
  std::vector<float> offsets_;  // the row's, for each of them
  std::vector<float> scores_;
  AlignedFloats scratch_;
};

}  // namespace espalier
