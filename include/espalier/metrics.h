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

/// Classification: accuracy, log_loss, auc, brier. Regression: mse, rmse, mae, r2.
enum class Metric { automatic, accuracy, log_loss, auc, brier, mse, rmse, mae, r2 };

template <>
struct Words<Metric> {
  static constexpr std::string_view list[] = {"automatic", "accuracy", "log_loss", "auc", "brier",
                                              "mse",       "rmse",     "mae",      "r2"};
};

struct MetricValue {
  Metric metric;
  double value;
};

/// The metrics of a task, in the order in which they are printed.
std::span<const Metric> metrics_of(Task task);

/// Whether a larger value is better (accuracy, auc, r2).
bool larger_is_better(Metric metric);

/// One metric of predictions. Classification: `labels` are 0 or 1 and `scores` are logits.
/// Regression: both are in units of the label. `weights` may be empty: all rows count the same.
/// The result is NaN where it is not defined (auc with one class, r2 of constant labels). Throws
/// Error (argument) if the sizes differ.
double compute_metric(Metric metric, std::span<const double> labels, std::span<const float> scores,
                      std::span<const float> weights);

struct Evaluation {
  std::size_t rows = 0;             ///< rows judged
  std::size_t rows_unlabelled = 0;  ///< rows left out because their label is missing
  std::vector<MetricValue> metrics;
};

/// Judges a model on a labelled table; weighted if the model was trained with a weight column,
/// which the table must then have. Throws Error (data) if a column is absent or a label is neither
/// class.
Evaluation evaluate(const Model& model, const Table& table);

}  // namespace espalier
