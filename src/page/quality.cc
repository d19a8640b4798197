// SPDX-License-Identifier: Apache-2.0
#include "page/quality.h"

#include <algorithm>
#include <cmath>

#include "page/class_charts.h"
#include "page/number_charts.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kMinRowsPerBin = 20;  // of a bin, so that it tells of no single row
constexpr std::size_t kBins = 10;

std::vector<Comparison> comparisons_of(const ScoredTable& all) {
  std::vector<Comparison> rows;
  for (std::size_t i = 0; i < all.size(); ++i) rows.push_back(compare(all, i));
  return rows;
}

void add_charts(const ScoredTable& all, Json& json) {
  const Label& label = all.label;
  if (label.ordered || label.has_many_classes()) {
    json["confusion"] = confusion_json(all);
    json["calibrations"] = class_calibrations_json(all);
  } else if (label.task() == Task::classification) {
    json["sweep"] = sweep_json(all);
    json["calibration"] = calibration_json(comparisons_of(all), kBins, mean_compared(label));
    json["histogram"] = class_histogram_json(all);
  } else if (label.has_log_link()) {
    json["lorenz"] = lorenz_json(all);
    json["calibration"] = calibration_json(comparisons_of(all), kBins, mean_compared(label));
  } else if (label.loss == Loss::quantile) {
    json["coverage"] = coverage_json(all);
    json["fan"] = fan_json(all);
  } else {
    json["fan"] = fan_json(all);
    json["residuals"] = residuals_json(all);
  }
}

}  // namespace

Json json_of(const std::vector<Estimate>& estimates) {
  Json list = Json::array();
  for (const Estimate& estimate : estimates) {
    list.push_back({{"name", to_word(estimate.metric)},
                    {"value", rounded(estimate.value)},
                    {"low", rounded(estimate.interval.low)},
                    {"high", rounded(estimate.interval.high)}});
  }
  return list;
}

Json calibration_json(std::vector<Comparison> rows, std::size_t most, MeanOf what) {
  std::ranges::stable_sort(rows, {}, &Comparison::predicted);
  double total = 0;
  for (const Comparison& row : rows) total += row.weight;
  const std::size_t bins = std::clamp<std::size_t>(rows.size() / kMinRowsPerBin, 1, most);
  Json json = {{"predicted", Json::array()},
               {"seen", Json::array()},
               {"low", Json::array()},
               {"high", Json::array()},
               {"share", Json::array()}};
  Mean predicted, seen;
  double done = 0;
  std::size_t in_bin = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    predicted.add(rows[i].predicted, rows[i].weight);
    seen.add(rows[i].seen, rows[i].weight);
    done += rows[i].weight;
    ++in_bin;
    // Rows with equal predictions stay in one bin; the last bin takes the rest.
    const bool is_last = i + 1 == rows.size();
    const bool is_tied = !is_last && rows[i + 1].predicted == rows[i].predicted;
    const auto number = static_cast<double>(json["share"].size() + 1);
    const bool is_full = done >= total * number / static_cast<double>(bins) &&
                         in_bin >= kMinRowsPerBin && rows.size() - i > kMinRowsPerBin;
    if (!is_last && (is_tied || !is_full)) continue;
    if (seen.weight() > 0) {
      const Interval interval = seen.interval(what);
      json["predicted"].push_back(rounded(predicted.value()));
      json["seen"].push_back(rounded(seen.value()));
      json["low"].push_back(rounded(interval.low));
      json["high"].push_back(rounded(interval.high));
      json["share"].push_back(rounded(seen.weight() / total));
    }
    predicted = seen = Mean();
    in_bin = 0;
  }
  return json;
}

Json quality_json(const ScoredTable& all, const Random& random, ThreadPool& pool) {
  const BootstrapPlan plan;
  Json json = {{"rows", all.size()},
               {"weighted", !all.weights.empty()},
               {"resamples", plan.resamples},
               {"resampled_rows", std::min(all.size(), plan.most_rows)},
               {"metrics", json_of(estimate_metrics(all, plan, random, pool))}};
  add_charts(all, json);
  return json;
}

}  // namespace espalier
