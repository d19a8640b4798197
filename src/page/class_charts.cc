// SPDX-License-Identifier: Apache-2.0
#include "page/class_charts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "espalier/outputs.h"
#include "page/quality.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kClassCurvePoints = 100;  // of a curve
constexpr std::size_t kClassBars = 40;
constexpr std::size_t kMaxChartClasses = 12;

// Weights of rows by class.
struct Counts {
  double positive = 0;
  double negative = 0;

  double all() const { return positive + negative; }
  void add(bool is_positive, double weight) { (is_positive ? positive : negative) += weight; }
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void add_point(float threshold, const Counts& above, const Counts& total, Json& json) {
  json["threshold"].push_back(rounded(threshold));
  json["flagged"].push_back(rounded(share(above.all(), total.all())));
  json["recall"].push_back(rounded(share(above.positive, total.positive)));
  json["fall_out"].push_back(rounded(share(above.negative, total.negative)));
  json["precision"].push_back(rounded(share(above.positive, above.all())));
}

}  // namespace

Json sweep_json(const ScoredTable& all) {
  std::vector<std::uint64_t> order(all.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::uint64_t i) { return all.predictions[i]; });
  Counts total, above;
  for (std::size_t i = 0; i < all.size(); ++i) total.add(all.labels[i] > 0.5, all.weight(i));
  Json json;
  double next = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t i = order[k];
    above.add(all.labels[i] > 0.5, all.weight(i));
    const bool is_last = k + 1 == order.size();
    if (!is_last && all.predictions[order[k + 1]] == all.predictions[i]) continue;
    if (!is_last && above.all() < next) continue;
    add_point(all.predictions[i], above, total, json);
    next = above.all() + total.all() / static_cast<double>(kClassCurvePoints);
  }
  json["positives"] = rounded(share(total.positive, total.all()));
  return json;
}

Json class_histogram_json(const ScoredTable& all) {
  std::array<std::vector<double>, 2> bars{std::vector<double>(kClassBars),
                                          std::vector<double>(kClassBars)};
  std::array<double, 2> totals{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t own = all.labels[i] > 0.5 ? 1 : 0;
    const auto bar = static_cast<std::size_t>(all.predictions[i] * static_cast<float>(kClassBars));
    bars[own][std::min(bar, kClassBars - 1)] += all.weight(i);
    totals[own] += all.weight(i);
  }
  Json json = Json::array();
  for (std::size_t c = 0; c < 2; ++c) {
    for (double& bar : bars[c]) bar = share(bar, totals[c]);
    json.push_back(rounded_list(bars[c]));
  }
  return json;
}

Json confusion_json(const ScoredTable& all) {
  const std::size_t classes = all.label.classes.size();
  std::vector<std::vector<double>> table(classes, std::vector<double>(classes));
  double total = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    table[static_cast<std::size_t>(all.labels[i])][predicted_class(all.label, all.prediction(i))] +=
        all.weight(i);
    total += all.weight(i);
  }
  Json json = Json::array();
  for (std::vector<double>& row : table) {
    for (double& cell : row) cell = share(cell, total);
    json.push_back(rounded_list(row));
  }
  return json;
}

Json class_calibrations_json(const ScoredTable& all) {
  const std::vector<std::string> names = output_names(all.label);
  Json json = Json::array();
  for (std::size_t s = 0; s < std::min(names.size(), kMaxChartClasses); ++s) {
    std::vector<Comparison> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double label = all.labels[i], own = static_cast<double>(s);
      const bool is_seen = all.label.ordered ? label > own : label == own;
      rows.push_back({all.prediction(i)[s], is_seen ? 1.0 : 0.0, all.weight(i)});
    }
    Json calibration = calibration_json(std::move(rows), 10, MeanOf::rates);
    calibration["name"] = names[s];
    json.push_back(std::move(calibration));
  }
  return json;
}

}  // namespace espalier
