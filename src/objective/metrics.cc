// SPDX-License-Identifier: Apache-2.0
// The metrics as weighted sums in double, in the order of the rows: the same bits on every machine.
#include "objective/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "espalier/error.h"
#include "objective/loss.h"

namespace espalier {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Judged {
  std::span<const double> labels;
  std::span<const float> scores;
  std::span<const float> weights;  // empty: all 1

  double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// sum_i w_i loss(label_i, score_i) / sum_i w_i; NaN (0 / 0) without any weight.
template <class Loss>
double weighted_mean(const Judged& rows, const Loss& loss) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const double weight = rows.weight(i);
    sum += weight * loss(rows.labels[i], static_cast<double>(rows.scores[i]));
    total += weight;
  }
  return sum / total;
}

// A score that is NaN is wrong whatever the label.
double correct(double label, double score) {
  const bool is_correct = label > 0.5 ? score > 0 : score <= 0;
  return is_correct ? 1 : 0;
}

double cross_entropy(double label, double score) { return log_loss(score, label > 0.5).loss; }

double squared_error(double label, double score) { return (label - score) * (label - score); }

double squared_error_of_probability(double label, double score) {
  return squared_error(label, log_loss(score, label > 0.5).probability);
}

double absolute_error(double label, double score) { return std::fabs(label - score); }

// The share of (positive, negative) pairs whose scores are in the right order, a tie counting half.
double auc(const Judged& rows) {
  struct Row {
    float score;
    bool positive;
    double weight;
  };
  std::vector<Row> sorted(rows.labels.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sorted[i] = {rows.scores[i], rows.labels[i] > 0.5, rows.weight(i)};
    if (std::isnan(sorted[i].score)) return kNan;
  }
  // Stable, so that the sums below do not depend on how a library sorts.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.score < b.score; });
  double ordered = 0, positives = 0, negatives = 0;
  for (auto row = sorted.begin(); row != sorted.end();) {
    double tied_positives = 0, tied_negatives = 0;
    for (const float score = row->score; row != sorted.end() && row->score == score; ++row) {
      (row->positive ? tied_positives : tied_negatives) += row->weight;
    }
    ordered += tied_positives * (negatives + 0.5 * tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  return positives > 0 && negatives > 0 ? ordered / (positives * negatives) : kNan;
}

// 1 - squared error / squared error of the mean label. Labels are taken relative to the first, so
// that the variance of constant labels is exactly 0.
double r2(const Judged& rows) {
  if (rows.labels.empty()) return kNan;
  const double first = rows.labels[0];
  const double mean = weighted_mean(rows, [&](double label, double) { return label - first; });
  const double variance =
      weighted_mean(rows, [&](double label, double) { return squared_error(label - first, mean); });
  if (variance == 0) return kNan;
  return 1.0 - weighted_mean(rows, squared_error) / variance;
}

constexpr std::array kClassificationMetrics = {Metric::accuracy, Metric::log_loss, Metric::auc,
                                               Metric::brier};
constexpr std::array kRegressionMetrics = {Metric::mse, Metric::rmse, Metric::mae, Metric::r2};

}  // namespace

std::span<const Metric> metrics_of(Task task) {
  switch (task) {
    case Task::classification:
      return kClassificationMetrics;
    case Task::regression:
      return kRegressionMetrics;
    case Task::automatic:
      break;
  }
  return {};
}

Metric settle_metric(Metric wanted, Task task) {
  if (wanted == Metric::automatic)
    return task == Task::classification ? Metric::log_loss : Metric::mse;
  const auto suitable = metrics_of(task);
  if (std::ranges::find(suitable, wanted) != suitable.end()) return wanted;
  throw Error(ErrorKind::argument,
              fmt::format("metric: {} does not suit {}", to_word(wanted), to_word(task)));
}

bool larger_is_better(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::auc || metric == Metric::r2;
}

double compute_metric(Metric metric, std::span<const double> labels, std::span<const float> scores,
                      std::span<const float> weights) {
  if (scores.size() != labels.size() || (!weights.empty() && weights.size() != labels.size())) {
    throw Error(
        ErrorKind::argument,
        fmt::format("compute_metric: {} labels, {} scores and {} weights; wanted one of each "
                    "per row, or no weights",
                    labels.size(), scores.size(), weights.size()));
  }
  const Judged rows = {labels, scores, weights};
  switch (metric) {
    case Metric::accuracy:
      return weighted_mean(rows, correct);
    case Metric::log_loss:
      return weighted_mean(rows, cross_entropy);
    case Metric::auc:
      return auc(rows);
    case Metric::brier:
      return weighted_mean(rows, squared_error_of_probability);
    case Metric::mse:
      return weighted_mean(rows, squared_error);
    case Metric::rmse:
      return std::sqrt(weighted_mean(rows, squared_error));
    case Metric::mae:
      return weighted_mean(rows, absolute_error);
    case Metric::r2:
      return r2(rows);
    case Metric::automatic:
      break;
  }
  throw Error(ErrorKind::argument, "compute_metric: 'automatic' is not a metric");
}

std::vector<MetricValue> all_metrics(Task task, std::span<const double> labels,
                                     std::span<const float> scores,
                                     std::span<const float> weights) {
  std::vector<MetricValue> metrics;
  for (const Metric metric : metrics_of(task))
    metrics.push_back({metric, compute_metric(metric, labels, scores, weights)});
  return metrics;
}

}  // namespace espalier
