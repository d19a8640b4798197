// SPDX-License-Identifier: Apache-2.0
#include "eval/surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

// The value at a position among keypoints.
float value_at(const std::vector<float>& keypoints, double position) {
  const auto k = std::min(static_cast<std::size_t>(position), keypoints.size() - 2);
  const double lo = keypoints[k], hi = keypoints[k + 1];
  return static_cast<float>(lo + (position - static_cast<double>(k)) * (hi - lo));
}

// A raw cell of each vertex of a side; missing ones first, then as values rise.
std::vector<float> cells_of_vertices(const Pair::Side& side, const Feature& feature) {
  std::vector<float> cells;
  for (const std::int32_t vertex : side.vertices) {
    if (feature.kind == FeatureKind::category) {
      cells.push_back(static_cast<float>(vertex));
    } else if (vertex < 0) {
      cells.push_back(NAN);
    } else {
      const auto place = static_cast<std::size_t>(vertex), size = feature.keypoints.size();
      const bool reversed = feature.monotonicity == Monotonicity::decreasing;
      cells.push_back(feature.keypoints[reversed ? size - 1 - place : place]);
    }
  }
  if (feature.monotonicity == Monotonicity::decreasing)
    std::reverse(cells.begin() + (std::isnan(cells.front()) ? 1 : 0), cells.end());
  return cells;
}

// A raw cell of each bin of a side.
std::vector<float> cells_of(const Pair::Side& side, const Feature& feature) {
  if (!side.vertices.empty()) return cells_of_vertices(side, feature);
  std::vector<float> cells;
  for (std::size_t b = 0; b < side.num_bins(); ++b) {
    if (feature.kind == FeatureKind::category) {
      const auto unseen = static_cast<float>(feature.categories.size());
      cells.push_back(b == 0 ? 0 : std::clamp(std::ceil(side.edges[b - 1]), 0.0f, unseen));
      continue;
    }
    const double last = static_cast<double>(feature.keypoints.size() - 1);
    const double begin = b == 0 ? 0 : side.edges[b - 1];
    const double end = b + 1 == side.num_bins() ? last : side.edges[b];
    const double middle = std::clamp((begin + end) / 2, 0.0, last);
    const bool is_missing = b == 0 && side.edges[0] <= 0;
    float cell = is_missing ? NAN : value_at(feature.keypoints, middle);
    if (feature.kind == FeatureKind::ordered) cell = std::round(cell);
    cells.push_back(cell);
  }
  return cells;
}

std::string text_of(float cell, const Feature& feature) {
  if (std::isnan(cell)) return "";
  if (feature.kind == FeatureKind::number) return fmt::format("{:.6g}", cell);
  const auto code = static_cast<std::size_t>(cell);
  return code < feature.categories.size() ? feature.categories[code] : "(unseen)";
}

// The weight of each cell of the surface: that of its code, shared by the cells that have it; those
// of a table weigh the same.
std::vector<double> weights_of(const Pair& pair, const Surface& surface) {
  if (pair.is_grid()) return std::vector<double>(surface.scores.size(), 1);
  std::vector<double> cells_with(pair.shares.size() + 1), weights;
  for (const std::int32_t code : pair.codes) ++cells_with[static_cast<std::size_t>(code)];
  for (const std::int32_t each : pair.codes) {
    const auto code = static_cast<std::size_t>(each);
    weights.push_back(code < pair.shares.size() ? pair.shares[code] / cells_with[code] : 0);
  }
  return weights;
}

// Subtracts from each row, or column, its weighted mean.
void centre(std::vector<double>& table, const std::vector<double>& weights, std::size_t rows,
            std::size_t columns, bool each_row) {
  const std::size_t outer = each_row ? rows : columns, inner = each_row ? columns : rows;
  const std::size_t outer_step = each_row ? columns : 1, inner_step = each_row ? 1 : columns;
  for (std::size_t i = 0; i < outer; ++i) {
    double sum = 0, weight = 0;
    for (std::size_t j = 0; j < inner; ++j) {
      const std::size_t at = i * outer_step + j * inner_step;
      sum += weights[at] * table[at];
      weight += weights[at];
    }
    if (!(weight > 0)) continue;
    for (std::size_t j = 0; j < inner; ++j) table[i * outer_step + j * inner_step] -= sum / weight;
  }
}

// Centring rows and columns in turn leaves what no sum of two curves explains.
double strength_of(const Surface& surface, const Pair& pair) {
  constexpr int kTurns = 20;
  const std::vector<double> weights = weights_of(pair, surface);
  std::vector<double> rest(surface.scores.begin(), surface.scores.end());
  for (int turn = 0; turn < 2 * kTurns; ++turn)
    centre(rest, weights, surface.first.size(), surface.second.size(), turn % 2 == 0);
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    sum += weights[i] * rest[i] * rest[i];
    total += weights[i];
  }
  return total > 0 ? std::sqrt(sum / total) : 0;
}

}  // namespace

Surface surface_of(const Predictor& predictor, const Pair& pair) {
  const std::vector<Feature>& features = predictor.model().schema().features;
  std::vector<float> row;
  for (const Feature& feature : features)
    row.push_back(feature.kind == FeatureKind::category ? 0 : feature.typical);
  row.resize(predictor.num_cells());  // an offset of 0; scores do not read the exposure
  const std::vector<float> first = cells_of(pair.first, features[pair.first.feature]);
  const std::vector<float> second = cells_of(pair.second, features[pair.second.feature]);
  Surface surface;
  for (const float cell : first)
    surface.first.push_back(text_of(cell, features[pair.first.feature]));
  for (const float cell : second)
    surface.second.push_back(text_of(cell, features[pair.second.feature]));
  Predictor::Scratch scratch(predictor);
  std::vector<float> scores(predictor.num_scores());
  for (const float a : first) {
    for (const float b : second) {
      row[pair.first.feature] = a;
      row[pair.second.feature] = b;
      predictor.predict(row, scores, scratch, Output::score);
      surface.scores.push_back(scores.front());
    }
  }
  surface.strength = strength_of(surface, pair);
  return surface;
}

}  // namespace espalier
