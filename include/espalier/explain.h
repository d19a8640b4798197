// SPDX-License-Identifier: Apache-2.0
// Explanations: baseline Shapley values of the features of a row, feature importance over many
// rows, and partial dependence curves.
//
//   espalier::Predictor predictor(model);
//   const std::vector<float> rows = predictor.rows(table);
//   const auto why = espalier::explain(predictor, rows, espalier::baseline_row(model));
//   for (std::size_t f : espalier::top_columns(why.shares_of(0), 4)) ...
//
// docs/explain.md has the formulas, and the proof that a worse value of a constrained feature never
// gets a better Shapley value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/metrics.h"
#include "espalier/model.h"
#include "espalier/predictor.h"

namespace espalier {

/// A typical row as the Predictor reads it: the training medians of numeric and ordered features,
/// and the categories with the largest training weight.
std::vector<float> baseline_row(const Model& model);

/// A typical row of a table: the lower median of the values that are not missing, and the most
/// frequent category (the first one in the model, if there are several). For a table of one row,
/// that row. Exposure and offset may be absent. Throws Error (data) if a feature is absent or has
/// another type, or if the table has no rows.
std::vector<float> baseline_row(const Model& model, const Table& table);

/// A value as text: a number with the fewest digits, or the category; "" for a missing value,
/// "(unseen)" for an unseen category.
std::string cell_text(const Feature& feature, float cell);

struct ExplainOptions {
  /// The output whose score is explained: one of output_names(label). Empty: the middle quantile or
  /// grade (the second of two), or for each row the most probable class. The score of a class is
  /// the log-odds against all others.
  std::string output = {};
  /// Shapley values are exact for rows that differ from the baseline in at most this many features,
  /// at a cost of 2^features predictions. Other rows use permutations. At most 20.
  int exact_columns = 16;
  /// The number of sampled permutations, at least 4, the same for all rows. They come in pairs,
  /// each with its reverse, so an odd number is rounded up. 0: 128 for a row that differs from the
  /// baseline in up to 100 features, and 12,800 / n for n features, so that the time grows linearly
  /// in n.
  int permutations = 0;
  std::uint64_t seed = 1;  ///< of the permutations
  int threads = 0;         ///< 0 uses all cores; the result does not depend on it
  /// Called from the calling thread with the number of rows done. Its exceptions pass through.
  std::function<void(std::size_t)> progress = {};
};

/// Scores and Shapley values: score = baseline + the sum of the Shapley values of the row, up to
/// rounding of doubles.
struct Explanation {
  std::size_t num_rows = 0;
  std::size_t num_columns = 0;       ///< the features of the model
  std::vector<std::size_t> outputs;  ///< per row: index of output_names(label)
  std::vector<float> scores;         ///< per row
  /// The score of the baseline, per row, including the offset of the row. Exposure and offset have
  /// no Shapley values.
  std::vector<float> baselines;
  std::vector<double> shares;  ///< Shapley values, [num_rows][num_columns]
  std::vector<double> errors;  ///< their standard errors; 0 for exact values

  std::span<const double> shares_of(std::size_t row) const {
    return std::span(shares).subspan(row * num_columns, num_columns);
  }
  std::span<const double> errors_of(std::size_t row) const {
    return std::span(errors).subspan(row * num_columns, num_columns);
  }
};

/// Explains rows of predictor.num_cells() values by baseline Shapley values. A feature with the
/// same value as the baseline gets 0. Throws Error (argument) for wrong sizes, options out of range
/// or an unknown output.
Explanation explain(const Predictor& predictor, std::span<const float> rows,
                    std::span<const float> baseline, const ExplainOptions& options = {});

/// Which direction of the score is adverse for the person whom the row describes.
enum class Adverse { either, higher, lower };

template <>
struct Words<Adverse> {
  static constexpr std::string_view list[] = {"either", "higher", "lower"};
};

/// The `top` features with the most adverse Shapley values, the worst first. `higher` considers
/// values above 0, `lower` values below 0, `either` absolute values. Ties keep the order of the
/// model.
std::vector<std::size_t> top_columns(std::span<const double> shares, std::size_t top,
                                     Adverse adverse = Adverse::either);

struct ImportanceOptions {
  Metric metric = Metric::automatic;  ///< automatic: the validation metric of training
  int repeats = 5;                    ///< how often each feature is shuffled, at least 1
  std::size_t shared_rows = 1000;     ///< rows sampled for Shapley values; 0: no Shapley values
  std::vector<float> baseline = {};   ///< of the Shapley values; empty: baseline_row(model)
  int exact_columns = 12;             ///< as in ExplainOptions
  int permutations = 0;               ///< as in ExplainOptions, with 32 instead of 128
  /// Rows sampled for shuffling. 0: all rows for up to 100 features, and 100 / n of the rows for n
  /// features, at least 200, so that the time grows linearly in n.
  std::size_t shuffled_rows = 0;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 uses all cores; the result does not depend on it
  /// Called from the calling thread with the fraction of the work done. Its exceptions pass
  /// through.
  std::function<void(double)> progress = {};
};

/// A mean and its spread.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< the standard deviation; 0 of one number
};

/// The importance of one feature.
struct ColumnImportance {
  std::string column;
  /// The loss in the metric when the feature is shuffled among the rows, over the repeats; NaN
  /// without labels.
  Spread loss;
  /// How far the score moves when the feature is shuffled, over the repeats: the mean over rows and
  /// outputs.
  Spread move;
  /// The absolute Shapley value, over rows: the mean over outputs. NaN without Shapley values.
  Spread share;
};

struct Importance {
  std::size_t rows = 0;         ///< shuffled rows: those with a label, if the table has labels
  std::size_t shared_rows = 0;  ///< rows with Shapley values
  Metric metric = Metric::automatic;      ///< automatic without labels
  double value = 0;                       ///< the metric before shuffling; NaN without labels
  std::vector<ColumnImportance> columns;  ///< in the order of the features of the model
};

/// Measures the importance of the features on a table, weighted if the table has labels and the
/// weight column of training. Throws Error (data) as evaluate does, and Error (argument) for
/// options out of range.
Importance importance(const Model& model, const Table& table,
                      const ImportanceOptions& options = {});

struct DependenceOptions {
  Output output = Output::prediction;
  std::size_t which = 0;    ///< index of output_names(label)
  std::size_t points = 40;  ///< points of a numeric feature
  std::size_t rows = 1000;  ///< maximum number of rows, sampled evenly
  int threads = 0;
};

/// The predictions of rows as functions of one feature.
struct Dependence {
  /// The values of the feature. For a number: increasing values over the range of the keypoints,
  /// including the keypoints if there are at most `points`. Else all categories. Then NaN for
  /// missing, if training had missing values.
  std::vector<float> cells;
  std::vector<double> mean;   ///< partial dependence: the mean over the rows, per value
  std::vector<float> low;     ///< the 10 % quantile
  std::vector<float> middle;  ///< the median
  std::vector<float> high;    ///< the 90 % quantile
};

/// Throws Error (argument) for an unknown feature or output, or without rows.
Dependence partial_dependence(const Predictor& predictor, std::span<const float> rows,
                              std::size_t feature, const DependenceOptions& options = {});

}  // namespace espalier
