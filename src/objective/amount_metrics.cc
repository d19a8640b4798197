// SPDX-License-Identifier: Apache-2.0
#include "objective/amount_metrics.h"

#include <cmath>

#include "core/math.h"
#include "objective/link.h"

namespace espalier {

namespace {

double prediction_of(const Label& label, const ScoredRow& row) {
  float predicted = row.scores[0];
  apply_link(Link::exponential, static_cast<float>(label.unit), static_cast<float>(row.exposure),
             {&predicted, 1});
  return predicted;
}

// The deviance of a rate y with mean m, for the power p of the variance.
double unit_deviance(double p, double y, double m) {
  const auto power = [](double x, double exponent) {
    return x > 0 ? portable_exp(exponent * portable_log(x)) : 0;
  };
  if (p == 1) return 2 * ((y > 0 ? y * portable_log(y / m) : 0) - y + m);
  if (p == 2) return 2 * (y / m - 1 - portable_log(y / m));
  return 2 * (power(y, 2 - p) / ((1 - p) * (2 - p)) - y * power(m, 1 - p) / (1 - p) +
              power(m, 2 - p) / (2 - p));
}

// The deviance of rates, weighted by exposure; `mean` returns the prediction of a row.
template <class Mean>
double deviance(const ScoredView& rows, const Mean& mean) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScoredRow row = rows[i];
    const double weight = row.weight * row.exposure;
    sum += weight *
           unit_deviance(rows.label.power, row.label / row.exposure, mean(row) / row.exposure);
    total += weight;
  }
  return sum / total;
}

struct Totals {
  double labels = 0;
  double predictions = 0;
  double exposure = 0;
};

Totals totals_of(const ScoredView& rows) {
  Totals totals;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScoredRow row = rows[i];
    totals.labels += row.weight * row.label;
    totals.predictions += row.weight * prediction_of(rows.label, row);
    totals.exposure += row.weight * row.exposure;
  }
  return totals;
}

}  // namespace

double deviance(const ScoredView& rows) {
  return deviance(rows, [&](const ScoredRow& row) { return prediction_of(rows.label, row); });
}

double d2(const ScoredView& rows) {
  const Totals totals = totals_of(rows);
  const double rate = totals.labels / totals.exposure;
  const double base = deviance(rows, [&](const ScoredRow& row) { return rate * row.exposure; });
  return base > 0 ? 1 - deviance(rows) / base : NAN;
}

// 1 - 2 * the area under the Lorenz curve: rows sorted by predicted rate, cumulative exposure
// against cumulative labels.
double gini(const ScoredView& rows) {
  const Totals totals = totals_of(rows);
  if (!(totals.labels > 0)) return NAN;
  double area = 0, labels = 0;
  for (const Tie& tie : ties_of(rows, [](const ScoredRow& row) {
         return Tie{row.weight * row.exposure, row.weight * row.label};
       })) {
    area += tie.first / totals.exposure * (labels + tie.second / 2) / totals.labels;
    labels += tie.second;
  }
  return 1 - 2 * area;
}

double balance(const ScoredView& rows) {
  const Totals totals = totals_of(rows);
  return totals.predictions / totals.labels;
}

}  // namespace espalier
