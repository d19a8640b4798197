// SPDX-License-Identifier: Apache-2.0
#include "page/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "page/sample.h"

namespace espalier {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNormal = 1.959963984540054;  // 97.5 % of a normal distribution

std::vector<double> metrics_with(const JudgedTable& all, const std::vector<float>& weights) {
  JudgedRows rows = all.judged();
  rows.weights = weights;
  std::vector<double> values;
  for (const Metric metric : metrics_of(all.label))
    values.push_back(compute_metric(metric, all.label, rows));
  return values;
}

// [resample][metric], by the number of times that each row is drawn.
std::vector<std::vector<double>> resample(const JudgedTable& rows, int resamples,
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

void set_interval(std::vector<double> drawn, double centre, double narrowed, Estimate& estimate) {
  std::erase_if(drawn, [](double value) { return !std::isfinite(value); });
  estimate.low = estimate.high = kNan;
  if (drawn.empty() || !std::isfinite(estimate.value)) return;
  std::ranges::sort(drawn);
  estimate.low = estimate.value + (quantile_of(drawn, 0.025) - centre) * narrowed;
  estimate.high = estimate.value + (quantile_of(drawn, 0.975) - centre) * narrowed;
}

}  // namespace

double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return kNan;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::vector<Estimate> estimate_metrics(const JudgedTable& all, const BootstrapPlan& plan,
                                       const Random& random, ThreadPool& pool) {
  const bool is_sampled = all.size() > plan.most_rows;
  const Rows indices = sample_rows(all.size(), plan.most_rows, random.split(0));
  const JudgedTable sample = is_sampled ? subset(all, indices) : JudgedTable();
  const JudgedTable& rows = is_sampled ? sample : all;
  const auto metrics = metrics_of(all.label);
  std::vector<Estimate> estimates;
  for (const Metric metric : metrics)
    estimates.push_back({metric, compute_metric(metric, all.label, all.judged())});
  const std::vector<double> centres = metrics_with(rows, rows.weights);
  const auto drawn = resample(rows, plan.resamples, random.split(1), pool);
  const double narrowed =
      std::sqrt(static_cast<double>(rows.size()) / static_cast<double>(all.size()));
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> own;
    for (const std::vector<double>& values : drawn) own.push_back(values[m]);
    set_interval(std::move(own), centres[m], narrowed, estimates[m]);
  }
  return estimates;
}

Estimate Mean::estimate() const {
  Estimate estimate{.value = value(), .low = kNan, .high = kNan};
  if (!(weight_ > 0)) return estimate;
  const double n = weight_ * weight_ / squared_weights_, z = kNormal, p = estimate.value;
  if (are_shares_) {
    const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    estimate.low = std::max(0.0, centre - half);
    estimate.high = std::min(1.0, centre + half);
    return estimate;
  }
  const double variance = std::max(0.0, squares_ / weight_ - p * p);
  const double half = n > 1 ? z * std::sqrt(variance / (n - 1)) : kNan;
  estimate.low = are_positive_ ? std::max(0.0, p - half) : p - half;
  estimate.high = p + half;
  return estimate;
}

}  // namespace espalier
