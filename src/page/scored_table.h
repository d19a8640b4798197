// SPDX-License-Identifier: Apache-2.0
// The rows of a table that have a label, and what a model says of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/metrics.h"
#include "espalier/model.h"
#include "espalier/table.h"
#include "objective/interval.h"

namespace espalier {

struct ScoredTable {
  Label label;
  Rows rows;                       // of the table
  std::vector<double> labels;      // one a row, as the other lists
  std::vector<float> scores;       // [row][num_scores]
  std::vector<float> predictions;  // [row][num_scores]
  std::vector<float> weights;      // empty: all are 1
  std::vector<float> exposures;    // empty: all are 1

  std::size_t size() const { return rows.size(); }
  double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  double exposure(std::size_t i) const { return exposures.empty() ? 1.0 : exposures[i]; }
  std::span<const float> prediction(std::size_t i) const {
    return std::span(predictions).subspan(i * label.num_scores(), label.num_scores());
  }
  ScoredRows scored() const { return {labels, scores, weights, exposures}; }
};

/// Without labels there is nothing to evaluate: empty if the table lacks the column, or has no
/// label in any row. `scores` are those of all rows. Throws Error (data) as evaluate does.
std::optional<ScoredTable> score_table(const Schema& schema, const Table& table,
                                       const std::vector<float>& scores);

/// Some of the rows, by their index in `all`.
ScoredTable subset(const ScoredTable& all, const Rows& indices);

/// What is compared on average: the prediction and the label as one number each, with the weight
/// that the row has in a mean. Of counts and amounts these are rates and the exposure weighs; of
/// grades the expected one, counted from 1; of quantiles the middle one; of classes whether the
/// most probable one is right, against its probability.
struct Comparison {
  double predicted;
  double seen;
  double weight;
};
Comparison compare(const ScoredTable& all, std::size_t i);

/// What the mean of `seen` is: a rate for classes without an order.
MeanOf mean_compared(const Label& label);

}  // namespace espalier
