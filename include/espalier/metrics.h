// SPDX-License-Identifier: Apache-2.0
// Metrics of predictions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

class Model;
struct Table;

/// Two classes: accuracy, log_loss, auc, brier.
/// More classes: log_loss, accuracy.
/// Grades: log_loss, accuracy, mae (of the predicted grade), rps (ranked probability score),
/// clipped (the fraction of rows whose grade has a probability below 1e-7, which log_loss counts as
/// 1e-7). Numbers: mse, rmse, mae, r2.
/// Quantiles: pinball (mean over the quantiles), coverage (the fraction of labels up to the
/// quantile, or from the first to the last quantile).
/// Counts and amounts: deviance, d2 (the fraction of deviance explained), gini (of the Lorenz curve
/// by predicted risk), balance (sum of predictions / sum of labels).
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
      "auto", "accuracy", "log_loss", "auc",      "brier",    "mse", "rmse", "mae",    "r2",
      "rps",  "clipped",  "pinball",  "coverage", "deviance", "d2",  "gini", "balance"};
};

struct MetricValue {
  Metric metric;
  double value;
};

/// The metrics of a label, in the order of the output.
std::span<const Metric> metrics_of(const Label& label);

/// Whether a larger value is better (accuracy, auc, r2, d2, gini).
bool larger_is_better(Metric metric);

/// Rows with their labels and the scores of a model.
struct ScoredRows {
  std::span<const double> labels;         ///< numbers, or indices of classes
  std::span<const float> scores;          ///< label.num_scores() per row, Output::score
  std::span<const float> weights = {};    ///< empty: all weights are 1
  std::span<const float> exposures = {};  ///< empty: all exposures are 1
};

/// Computes a metric. Returns NaN if the metric is undefined (auc with one class, r2 of constant
/// labels). Throws Error (argument) for wrong sizes, or if the label does not have the metric.
double compute_metric(Metric metric, const Label& label, const ScoredRows& rows);

struct Evaluation {
  std::size_t rows = 0;             ///< rows evaluated
  std::size_t rows_unlabelled = 0;  ///< rows skipped because their label is missing
  std::vector<MetricValue> metrics;
};

/// Evaluates a model on a labeled table. If the model was trained with a weight column, the table
/// must have it and the metrics are weighted. Throws Error (data) if a column is absent or a label
/// is not a class of the model.
Evaluation evaluate(const Model& model, const Table& table);

}  // namespace espalier
