// SPDX-License-Identifier: Apache-2.0
// The labeled rows of a table with the scores of a model.
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
  Rows rows;                       // row numbers of the table
  std::vector<double> labels;      // one per row, as in the other lists
  std::vector<float> scores;       // [row][num_scores]
  std::vector<float> predictions;  // [row][num_scores]
  std::vector<float> weights;      // empty: all weights are 1
  std::vector<float> exposures;    // empty: all exposures are 1

  std::size_t size() const { return rows.size(); }
  double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  double exposure(std::size_t i) const { return exposures.empty() ? 1.0 : exposures[i]; }
  std::span<const float> prediction(std::size_t i) const {
    return std::span(predictions).subspan(i * label.num_scores(), label.num_scores());
  }
  ScoredRows scored() const { return {labels, scores, weights, exposures}; }
};

/// Empty if the table has no label column or no label in any row. `scores` are those of all rows.
/// Throws Error (data) as evaluate does.
std::optional<ScoredTable> score_table(const Schema& schema, const Table& table,
                                       const std::vector<float>& scores);

/// Some of the rows, by their index in `all`.
ScoredTable subset(const ScoredTable& all, const Rows& indices);

/// Prediction and label of a row as comparable numbers, with the weight of the row in a mean.
/// Counts and amounts: rates, weighted by exposure. Grades: the expected grade, counted from 1.
/// Quantiles: the middle one. Classes: the probability of the most probable class, and whether it
/// is right.
struct Comparison {
  double predicted;
  double seen;
  double weight;
};
Comparison compare(const ScoredTable& all, std::size_t i);

/// The kind of mean of `seen`: a rate for classes without an order.
MeanOf mean_compared(const Label& label);

}  // namespace espalier
