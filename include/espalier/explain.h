// SPDX-License-Identifier: Apache-2.0
// Why a score is what it is: its difference from that of a baseline row, shared among the columns;
// how much the columns matter over many rows; and the curve of one column.
//
//   espalier::Predictor predictor(model);
//   const std::vector<float> rows = predictor.rows(table);
//   const auto why = espalier::explain(predictor, rows, espalier::baseline_row(model));
//   for (std::size_t f : espalier::top_columns(why.shares_of(0), 4)) ...
//
// docs/explain.md has the formulas and the proof that a value of a monotone column which lowers the
// score never gets a larger share.
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

/// The cells of a row that stands for nobody in particular, one for each feature as Predictor reads
/// them: the training medians of numbers and ordered words, and the words of the largest training
/// weight. Models of every format record them.
std::vector<float> baseline_row(const Model& model);

/// The same of the rows of a table: the lower median of the cells that are not missing, the most
/// frequent word, of several the first one in the model; of one row its own cells. Exposure and
/// offset need not be there. Throws Error (data) if a feature is absent or of another type, or the
/// table has no rows.
std::vector<float> baseline_row(const Model& model, const Table& table);

/// A cell as a table has it: a number with its fewest digits, or the word; "" if it is missing,
/// "(unseen)" for a word that training never saw.
std::string cell_text(const Feature& feature, float cell);

struct ExplainOptions {
  /// Which of output_names(label) is explained, by its score. Empty: of quantiles and grades the
  /// middle one (of two the second), of classes for each row the most probable one. The score of a
  /// class is the logarithm of its odds against all others.
  std::string output = {};
  /// Up to so many columns whose cells differ from the baseline the shares of a row are exact, at a
  /// cost of two to that power; beyond they are means over permutations. At most 20.
  int exact_columns = 16;
  /// In pairs, each with its reverse; an odd number counts as one more. The same ones for all rows.
  /// At least 4. 0 chooses: 128 for a row with up to 100 columns that differ from the baseline;
  /// with n columns 12,800 / n, so that the time grows with n and not with its square.
  int permutations = 0;
  std::uint64_t seed = 1;  ///< draws the permutations
  int threads = 0;         ///< 0 uses all cores; the result does not depend on it
  /// Gets the rows done so far, from the calling thread; an exception that it throws leaves
  /// explain().
  std::function<void(std::size_t)> progress = {};
};

/// Scores and their shares: score = baseline + the sum of the shares of the row, but for the
/// rounding of doubles.
struct Explanation {
  std::size_t num_rows = 0;
  std::size_t num_columns = 0;       ///< the features of the model
  std::vector<std::size_t> outputs;  ///< of each row, which of output_names(label) is explained
  std::vector<float> scores;         ///< of each row
  /// What the baseline scores. Exposures do not change a score, and the offset of a row belongs to
  /// its baseline too, so neither gets a share.
  std::vector<float> baselines;
  std::vector<double> shares;  ///< [num_rows][num_columns]
  std::vector<double> errors;  ///< the standard error of each share; 0 where it is exact

  std::span<const double> shares_of(std::size_t row) const {
    return std::span(shares).subspan(row * num_columns, num_columns);
  }
  std::span<const double> errors_of(std::size_t row) const {
    return std::span(errors).subspan(row * num_columns, num_columns);
  }
};

/// Explains rows of predictor.num_cells() cells by baseline Shapley values. A column whose cell
/// counts the same as the baseline's has the share 0. Throws Error (argument) for sizes that do not
/// fit, options out of range or an unknown output.
Explanation explain(const Predictor& predictor, std::span<const float> rows,
                    std::span<const float> baseline, const ExplainOptions& options = {});

/// Which side of the score is bad for whom the row is about.
enum class Adverse { either, higher, lower };

template <>
struct Words<Adverse> {
  static constexpr std::string_view list[] = {"either", "higher", "lower"};
};

/// At most `top` columns by their shares, the worst first: higher takes those above 0, lower those
/// below, either the largest without their signs. Of equal ones the first in the model comes first.
std::vector<std::size_t> top_columns(std::span<const double> shares, std::size_t top,
                                     Adverse adverse = Adverse::either);

struct ImportanceOptions {
  Metric metric = Metric::automatic;  ///< whose loss is measured: that which chooses epochs
  int repeats = 5;                    ///< times that each column is shuffled, at least 1
  std::size_t shared_rows = 1000;     ///< rows drawn for the shares, at most all; 0: no shares
  std::vector<float> baseline = {};   ///< of the shares; empty: baseline_row(model)
  int exact_columns = 12;             ///< as in ExplainOptions
  int permutations = 0;               ///< as in ExplainOptions, with 32 in the place of 128
  /// Rows drawn to shuffle columns among, at most all. 0 chooses: all for up to 100 columns; with n
  /// columns 100 / n of them, so that the time grows with n and not with its square, but at least
  /// 200.
  std::size_t shuffled_rows = 0;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 uses all cores; the result does not depend on it
  /// Gets a share of the work from 0 to 1, from the calling thread; an exception that it throws
  /// leaves importance().
  std::function<void(double)> progress = {};
};

/// A mean and its spread.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< the standard deviation; 0 of one number
};

/// What a column is worth.
struct ColumnImportance {
  std::string column;
  /// How much worse the metric becomes when the cells of the column are shuffled among the rows,
  /// over the repeats; NaN without labels.
  Spread loss;
  /// How far the score then moves, over the repeats: the mean over rows and outputs.
  Spread move;
  /// The size of the column's share of the score, over rows: the mean over outputs. NaN if no
  /// shares were asked for.
  Spread share;
};

struct Importance {
  std::size_t rows = 0;         ///< that were shuffled; they have a label, if the table has it
  std::size_t shared_rows = 0;  ///< whose shares were computed
  Metric metric = Metric::automatic;  ///< automatic without labels
  double value = 0;  ///< of the metric before any column is shuffled; NaN without labels
  std::vector<ColumnImportance> columns;  ///< as the features of the model
};

/// Evaluates the columns of a model by the rows of a table, weighted if the table has the weight
/// that the model was trained with, and its label. Throws Error (data) as evaluate does, Error
/// (argument) for options out of range.
Importance importance(const Model& model, const Table& table,
                      const ImportanceOptions& options = {});

struct DependenceOptions {
  Output output = Output::prediction;
  std::size_t which = 0;    ///< of output_names(label)
  std::size_t points = 40;  ///< of a number
  std::size_t rows = 1000;  ///< at most, spread evenly over those given
  int threads = 0;
};

/// What becomes of rows while one of their cells is moved.
struct Dependence {
  /// Where it is moved to: of a number over the range of its keypoints, rising, these among them if
  /// they are no more than the points; of words each; then NaN, missing, if training had it.
  std::vector<float> cells;
  std::vector<double> mean;   ///< over the rows, for each cell: the partial dependence
  std::vector<float> low;     ///< a tenth of the rows lies below
  std::vector<float> middle;  ///< the median
  std::vector<float> high;    ///< a tenth lies above
};

/// Throws Error (argument) for a feature or output that is not there, or no rows.
Dependence partial_dependence(const Predictor& predictor, std::span<const float> rows,
                              std::size_t feature, const DependenceOptions& options = {});

}  // namespace espalier
