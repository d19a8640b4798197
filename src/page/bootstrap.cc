// SPDX-License-Identifier: Apache-2.0
#include "page/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "page/sample.h"

namespace espalier {

namespace {

std::vector<double> metrics_with(const ScoredTable& all, const std::vector<float>& weights) {
  ScoredRows rows = all.scored();
  rows.weights = weights;
  std::vector<double> values;
  for (const Metric metric : metrics_of(all.label))
    values.push_back(compute_metric(metric, all.label, rows));
  return values;
}

// [sample][metric], from the number of times that each row is drawn.
std::vector<std::vector<double>> resample(const ScoredTable& rows, int resamples,
                                          const Random& random, ThreadPool& pool) {
  std::vector<std::vector<double>> values(static_cast<std::size_t>(resamples));
  pool.run(resamples, [&](int r) {
    Random own = random.split(static_cast<std::uint64_t>(r));
    std::vector<float> weights(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) ++weights[own.below(rows.size())];
    for (std::size_t i = 0; i < rows.size(); ++i) weights[i] *= static_cast<float>(rows.weight(i));
    values[static_cast<std::size_t>(r)] = metrics_with(rows, weights);
  });
  return values;
}

// Whether each row is a hit.
bool is_rate(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::clipped || metric == Metric::coverage;
}

RowCount count_rows(const ScoredTable& all) {
  RowCount rows;
  for (std::size_t i = 0; i < all.size(); ++i) rows.add(all.weight(i));
  return rows;
}

// Centers the deviations of samples on the metric of all rows.
Interval interval_of(double value, std::vector<double> drawn, double center, double narrowed) {
  std::erase_if(drawn, [](double own) { return !std::isfinite(own); });
  if (drawn.empty() || !std::isfinite(value)) return {};
  std::ranges::sort(drawn);
  return {value + (quantile_of(drawn, 0.025) - center) * narrowed,
          value + (quantile_of(drawn, 0.975) - center) * narrowed};
}

}  // namespace

double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return NAN;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::vector<Estimate> estimate_metrics(const ScoredTable& all, const BootstrapPlan& plan,
                                       const Random& random, ThreadPool& pool) {
  const bool is_sampled = all.size() > plan.most_rows;
  const Rows indices = sample_rows(all.size(), plan.most_rows, random.split(0));
  const ScoredTable sample = is_sampled ? subset(all, indices) : ScoredTable();
  const ScoredTable& rows = is_sampled ? sample : all;
  const auto metrics = metrics_of(all.label);
  std::vector<Estimate> estimates;
  for (const Metric metric : metrics)
    estimates.push_back({metric, compute_metric(metric, all.label, all.scored())});
  const RowCount count = count_rows(all);
  if (!count.has_interval()) return estimates;
  const std::vector<double> centers = metrics_with(rows, rows.weights);
  const auto drawn = resample(rows, plan.resamples, random.split(1), pool);
  const double narrowed =
      std::sqrt(static_cast<double>(rows.size()) / static_cast<double>(all.size()));
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    if (is_rate(metrics[m])) {
      estimates[m].interval = rate_interval(estimates[m].value, count);
      continue;
    }
    std::vector<double> own;
    for (const std::vector<double>& values : drawn) own.push_back(values[m]);
    estimates[m].interval = interval_of(estimates[m].value, std::move(own), centers[m], narrowed);
  }
  return estimates;
}

}  // namespace espalier
