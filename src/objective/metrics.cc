// SPDX-License-Identifier: Apache-2.0
// Metrics as weighted sums in double, in the order of the rows: the same bits on every machine.
#include "objective/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/default_floats.h"
#include "core/math.h"
#include "espalier/error.h"
#include "objective/amount_metrics.h"
#include "objective/link.h"
#include "objective/loss.h"
#include "objective/scored_rows.h"

namespace espalier {
namespace {

// The mean label, for a label with one score.
template <double (*loss)(double, double)>
double mean_of(const ScoredView& rows) {
  return weighted_mean(rows, [](const ScoredRow& row) {
    return loss(row.label, static_cast<double>(row.scores[0]));
  });
}

// A NaN score is wrong for every label.
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

// The fraction of (positive, negative) pairs with scores in the right order; ties count half.
double auc(const ScoredView& rows) {
  double ordered = 0, positives = 0, negatives = 0;
  for (const Tie& tie : ties_of(rows, [](const ScoredRow& row) {
         return row.label > 0.5 ? Tie{.first = row.weight} : Tie{.second = row.weight};
       })) {
    const double tied_positives = tie.first, tied_negatives = tie.second;
    ordered += tied_positives * (negatives + 0.5 * tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  return positives > 0 && negatives > 0 ? ordered / (positives * negatives) : NAN;
}

// 1 - squared error / squared error of the mean label. Labels are relative to the first one, so
// that the variance of constant labels is exactly 0.
double r2(const ScoredView& rows) {
  if (rows.size() == 0) return NAN;
  const double first = rows[0].label;
  const double mean = weighted_mean(rows, [&](const ScoredRow& row) { return row.label - first; });
  const double variance = weighted_mean(
      rows, [&](const ScoredRow& row) { return squared_error(row.label - first, mean); });
  if (variance == 0) return NAN;
  return 1.0 - mean_of<squared_error>(rows) / variance;
}

// The log loss replaces smaller probabilities by this one.
constexpr double kLeastProbability = 1e-7;

// The probability of the row's class: a softmax, or the difference of two predictions for grades.
double probability_of_class(const Label& label, const ScoredRow& row) {
  const auto own = static_cast<std::size_t>(row.label);
  std::vector<float> predicted(row.scores, row.scores + label.num_scores());
  apply_link(link_of(label), 1, 1, predicted);
  if (!label.ordered) return predicted[own];
  const double reached = own > 0 ? predicted[own - 1] : 1;
  return reached - (own < predicted.size() ? predicted[own] : 0);
}

double negative_log_of_class(const Label& label, const ScoredRow& row) {
  return -portable_log(std::max(probability_of_class(label, row), kLeastProbability));
}

// The most probable class, or the largest grade that is reached with probability at least 1/2.
double class_of(const Label& label, const ScoredRow& row) {
  const std::span scores(row.scores, label.num_scores());
  if (!label.ordered)
    return static_cast<double>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  return static_cast<double>(std::ranges::count_if(scores, [](float s) { return s >= 0; }));
}

double ranked_probability_score(const Label& label, const ScoredRow& row) {
  double sum = 0;
  for (std::size_t level = 0; level < label.num_levels(); ++level) {
    const double reached = row.label > static_cast<double>(level) ? 1 : 0;
    sum += squared_error(reached, sigmoid(row.scores[level]));
  }
  return sum / static_cast<double>(label.num_levels());
}

double mean_pinball_loss(const Label& label, const ScoredRow& row) {
  double sum = 0;
  for (std::size_t level = 0; level < label.num_levels(); ++level)
    sum += pinball_loss(label.quantiles[level], row.label, row.scores[level]);
  return sum / static_cast<double>(label.num_levels());
}

bool is_covered(const Label& label, const ScoredRow& row) {
  const std::size_t last = label.num_levels() - 1;
  return row.label <= row.scores[last] && (last == 0 || row.label >= row.scores[0]);
}

double compute_suitable(Metric metric, const ScoredView& rows) {
  const Label& label = rows.label;
  const bool binary = label.task() == Task::classification && label.num_scores() == 1;
  const auto mean = [&](auto&& loss) {
    return weighted_mean(rows, [&](const ScoredRow& row) { return loss(label, row); });
  };
  switch (metric) {
    case Metric::accuracy:
      if (binary) return mean_of<correct>(rows);
      return mean([](const Label& of, const ScoredRow& row) {
        return class_of(of, row) == row.label ? 1.0 : 0.0;
      });
    case Metric::log_loss:
      return binary ? mean_of<cross_entropy>(rows) : mean(negative_log_of_class);
    case Metric::clipped:
      return mean([](const Label& of, const ScoredRow& row) {
        return probability_of_class(of, row) < kLeastProbability ? 1.0 : 0.0;
      });
    case Metric::auc:
      return auc(rows);
    case Metric::brier:
      return mean_of<squared_error_of_probability>(rows);
    case Metric::mse:
      return mean_of<squared_error>(rows);
    case Metric::rmse:
      return std::sqrt(mean_of<squared_error>(rows));
    case Metric::mae:
      if (!label.ordered) return mean_of<absolute_error>(rows);
      return mean([](const Label& of, const ScoredRow& row) {
        return absolute_error(row.label, class_of(of, row));
      });
    case Metric::r2:
      return r2(rows);
    case Metric::rps:
      return mean(ranked_probability_score);
    case Metric::pinball:
      return mean(mean_pinball_loss);
    case Metric::coverage:
      return mean(
          [](const Label& of, const ScoredRow& row) { return is_covered(of, row) ? 1.0 : 0.0; });
    case Metric::deviance:
      return deviance(rows);
    case Metric::d2:
      return d2(rows);
    case Metric::gini:
      return gini(rows);
    case Metric::balance:
      return balance(rows);
    case Metric::automatic:
      break;
  }
  return NAN;
}

// The first metric is the default validation metric.
constexpr Metric kTwoClasses[] = {Metric::accuracy, Metric::log_loss, Metric::auc, Metric::brier};
constexpr Metric kGrades[] = {Metric::log_loss, Metric::accuracy, Metric::mae, Metric::rps,
                              Metric::clipped};
constexpr Metric kManyClasses[] = {Metric::log_loss, Metric::accuracy};
constexpr Metric kNumbers[] = {Metric::mse, Metric::rmse, Metric::mae, Metric::r2};
constexpr Metric kQuantiles[] = {Metric::pinball, Metric::coverage};
constexpr Metric kAmounts[] = {Metric::deviance, Metric::d2, Metric::gini, Metric::balance};

// Metrics that can select a model; the best value of the others is not at an end of their range.
bool ranks_models(Metric metric) {
  return metric != Metric::balance && metric != Metric::coverage && metric != Metric::clipped;
}

Metric metric_of(const Label& label) {
  switch (label.loss) {
    case Loss::log_loss:
      return Metric::log_loss;
    case Loss::absolute_error:
      return Metric::mae;
    case Loss::quantile:
      return Metric::pinball;
    case Loss::poisson:
    case Loss::gamma:
    case Loss::tweedie:
      return Metric::deviance;
    case Loss::squared_error:
    case Loss::automatic:
      break;
  }
  return Metric::mse;
}

}  // namespace

std::span<const Metric> metrics_of(const Label& label) {
  if (label.ordered) return kGrades;
  if (label.has_many_classes()) return kManyClasses;
  if (label.task() == Task::classification) return kTwoClasses;
  if (label.has_log_link()) return kAmounts;
  return label.loss == Loss::quantile ? std::span<const Metric>(kQuantiles) : kNumbers;
}

Metric settle_metric(Metric wanted, const Label& label) {
  if (wanted == Metric::automatic) return metric_of(label);
  const auto suitable = metrics_of(label);
  if (std::ranges::find(suitable, wanted) != suitable.end() && ranks_models(wanted)) return wanted;
  std::vector<std::string_view> words;
  for (const Metric metric : suitable) {
    if (ranks_models(metric)) words.push_back(to_word(metric));
  }
  throw Error(ErrorKind::argument,
              fmt::format("metric: {} does not suit {}; wanted {}", to_word(wanted),
                          label.task() == Task::classification ? "classification"
                          : label.loss == Loss::squared_error  ? "regression"
                                                               : to_word(label.loss),
                          fmt::join(words, ", ")));
}

bool larger_is_better(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::auc || metric == Metric::r2 ||
         metric == Metric::d2 || metric == Metric::gini;
}

double compute_metric(Metric metric, const Label& label, const ScoredRows& rows) {
  const DefaultFloats floats;
  const std::size_t size = rows.labels.size();
  const auto fits = [&](std::span<const float> beside) {
    return beside.empty() || beside.size() == size;
  };
  if (rows.scores.size() != size * label.num_scores() || !fits(rows.weights) ||
      !fits(rows.exposures)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("compute_metric: {} labels, {} scores, {} weights and {} exposures; wanted {} "
                    "score{} and one of each of the others per row, or no weights and exposures",
                    size, rows.scores.size(), rows.weights.size(), rows.exposures.size(),
                    label.num_scores(), label.num_scores() == 1 ? "" : "s"));
  }
  const auto suitable = metrics_of(label);
  if (std::ranges::find(suitable, metric) == suitable.end()) {
    throw Error(ErrorKind::argument,
                fmt::format("compute_metric: '{}' is no metric of this label", to_word(metric)));
  }
  return compute_suitable(metric, {label, rows});
}

double evaluate(Metric metric, const Label& label, const Dataset& data,
                std::span<const float> scores) {
  return compute_metric(metric, label,
                        {data.labels, scores, data.weights(), data.beside[Role::exposure]});
}

std::vector<MetricValue> all_metrics(const Label& label, const Dataset& data,
                                     std::span<const float> scores) {
  std::vector<MetricValue> metrics;
  for (const Metric metric : metrics_of(label))
    metrics.push_back({metric, evaluate(metric, label, data, scores)});
  return metrics;
}

}  // namespace espalier
