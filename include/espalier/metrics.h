// SPDX-License-Identifier: Apache-2.0
// How good predictions are.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

class Model;
struct Table;

/// Two classes: accuracy, log_loss, auc, brier. More classes: log_loss, accuracy. Grades: log_loss,
/// accuracy, mae (of the grade that is predicted), rps (the ranked probability score), clipped (the
/// share of rows whose grade got a probability below 1e-7, which log_loss counts as 1e-7). Numbers:
/// mse, rmse, mae, r2. Quantiles: pinball (the mean over them), coverage (of labels up to the
/// quantile, or from the first to the last). Counts and amounts: deviance, d2 (its explained
/// share), gini (of the Lorenz curve by predicted risk), balance (sum of predictions / sum of
/// labels).
enum class Metric {
  automatic,
  accuracy,
  log_loss,
  auc,
  brier,
  mse,
  rmse,
  mae,
  r2,
  rps,
  clipped,
  pinball,
  coverage,
  deviance,
  d2,
  gini,
  balance,
};

template <>
struct Words<Metric> {
  static constexpr std::string_view list[] = {
      "automatic", "accuracy", "log_loss", "auc",      "brier",    "mse", "rmse", "mae",    "r2",
      "rps",       "clipped",  "pinball",  "coverage", "deviance", "d2",  "gini", "balance"};
};

struct MetricValue {
  Metric metric;
  double value;
};

/// The metrics of a label, in the order in which they are printed.
std::span<const Metric> metrics_of(const Label& label);

/// Whether a larger value is better (accuracy, auc, r2, d2, gini).
bool larger_is_better(Metric metric);

/// Rows and what a model says of them.
struct ScoredRows {
  std::span<const double> labels;         ///< the number, or the index of the class
  std::span<const float> scores;          ///< label.num_scores() per row, Output::score
  std::span<const float> weights = {};    ///< empty: all rows count the same
  std::span<const float> exposures = {};  ///< empty: all are 1
};

/// One metric of a model with this label. The result is NaN where it is not defined (auc with one
/// class, r2 of constant labels). Throws Error (argument) if the sizes do not fit or the label has
/// no such metric.
double compute_metric(Metric metric, const Label& label, const ScoredRows& rows);

struct Evaluation {
  std::size_t rows = 0;             ///< rows evaluated
  std::size_t rows_unlabelled = 0;  ///< rows left out because their label is missing
  std::vector<MetricValue> metrics;
};

/// Evaluates a model on a labelled table; weighted if the model was trained with a weight column,
/// which the table must then have. Throws Error (data) if a column is absent or a label is neither
/// class.
Evaluation evaluate(const Model& model, const Table& table);

}  // namespace espalier
