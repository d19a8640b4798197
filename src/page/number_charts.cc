// SPDX-License-Identifier: Apache-2.0
#include "page/number_charts.h"

#include <algorithm>
#include <numeric>

#include "page/bootstrap.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kMinRowsPerPoint = 40;  // of a bin: its outer points tell of no single row
constexpr std::size_t kMaxBins = 20;
constexpr std::size_t kResidualBars = 41;
constexpr std::size_t kNumberCurvePoints = 100;  // of a curve
constexpr double kFan[] = {0.1, 0.25, 0.5, 0.75, 0.9};

std::vector<std::uint64_t> order_by_prediction(const ScoredTable& all) {
  std::vector<std::uint64_t> order(all.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return compare(all, i).predicted; });
  return order;
}

void add_fan_bin(const ScoredTable& all, std::span<const std::uint64_t> bin, Json& json) {
  std::vector<Mean> predicted(all.label.num_scores());
  Mean seen;
  std::vector<double> labels;
  for (const std::uint64_t i : bin) {
    for (std::size_t s = 0; s < predicted.size(); ++s)
      predicted[s].add(all.prediction(i)[s], all.weight(i));
    seen.add(all.labels[i], all.weight(i));
    labels.push_back(all.labels[i]);
  }
  std::ranges::sort(labels);
  std::vector<double> means, points;
  for (const Mean& mean : predicted) means.push_back(mean.value());
  for (const double share : kFan) points.push_back(quantile_of(labels, share));
  json.push_back({{"predicted", rounded_list(means)},
                  {"seen", rounded(seen.value())},
                  {"points", rounded_list(points)},
                  {"rows", bin.size()}});
}

}  // namespace

Json fan_json(const ScoredTable& all) {
  const std::vector<std::uint64_t> order = order_by_prediction(all);
  const std::size_t bins = std::clamp<std::size_t>(all.size() / kMinRowsPerPoint, 1, kMaxBins);
  Json json = Json::array();
  for (std::size_t b = 0; b < bins; ++b) {
    const std::size_t begin = b * all.size() / bins, end = (b + 1) * all.size() / bins;
    add_fan_bin(all, std::span(order).subspan(begin, end - begin), json);
  }
  return json;
}

Json residuals_json(const ScoredTable& all) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < all.size(); ++i)
    residuals.push_back(all.labels[i] - static_cast<double>(all.prediction(i)[0]));
  std::ranges::sort(residuals);
  const double low = quantile_of(residuals, 0.01), high = quantile_of(residuals, 0.99);
  std::vector<double> bars(kResidualBars), points;
  for (const double residual : residuals) {
    const double place = high > low ? (residual - low) / (high - low) : 0;
    const double bar = std::clamp(place, 0.0, 1.0) * static_cast<double>(kResidualBars);
    bars[std::min(static_cast<std::size_t>(bar), kResidualBars - 1)] += 1;
  }
  for (double& bar : bars) bar /= static_cast<double>(residuals.size());
  for (const double share : kFan) points.push_back(quantile_of(residuals, share));
  return {{"low", rounded(low)},
          {"high", rounded(high)},
          {"bars", rounded_list(bars)},
          {"points", rounded_list(points)}};
}

Json coverage_json(const ScoredTable& all) {
  Json json = Json::array();
  for (std::size_t s = 0; s < all.label.num_scores(); ++s) {
    Mean below;
    for (std::size_t i = 0; i < all.size(); ++i)
      below.add(all.labels[i] <= all.prediction(i)[s] ? 1.0 : 0.0, all.weight(i));
    const Interval interval = below.interval(MeanOf::rates);
    json.push_back({{"quantile", all.label.quantiles[s]},
                    {"seen", rounded(below.value())},
                    {"low", rounded(interval.low)},
                    {"high", rounded(interval.high)}});
  }
  return json;
}

Json lorenz_json(const ScoredTable& all) {
  double exposure = 0, labels = 0, predictions = 0;
  const auto add = [&](std::uint64_t i) {
    const Comparison row = compare(all, i);
    exposure += row.weight;
    labels += row.weight * row.seen;
    predictions += row.weight * row.predicted;
  };
  const std::vector<std::uint64_t> order = order_by_prediction(all);
  for (const std::uint64_t i : order) add(i);
  const double all_exposure = exposure, all_labels = labels, all_predictions = predictions;
  exposure = labels = predictions = 0;
  Json json;
  double next = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    add(order[k]);
    if (exposure < next && k + 1 < order.size()) continue;
    json["exposure"].push_back(rounded(exposure / all_exposure));
    json["labels"].push_back(rounded(all_labels > 0 ? labels / all_labels : 0));
    json["predictions"].push_back(rounded(predictions / all_predictions));
    next = exposure + all_exposure / static_cast<double>(kNumberCurvePoints);
  }
  return json;
}

}  // namespace espalier
