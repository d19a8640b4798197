// SPDX-License-Identifier: Apache-2.0
// Partial dependence: predictions of rows as functions of one feature.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/default_floats.h"
#include "espalier/error.h"
#include "espalier/explain.h"

namespace espalier {

namespace {

// The values of the feature.
std::vector<float> places_of(const Feature& feature, std::size_t points) {
  std::vector<float> cells;
  if (feature.kind != FeatureKind::number) {
    for (std::size_t i = 0; i < feature.categories.size(); ++i)
      cells.push_back(static_cast<float>(i));
  } else {
    const double first = feature.keypoints.front(), last = feature.keypoints.back();
    for (std::size_t i = 0; i < points; ++i) {
      const double share =
          points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0;
      cells.push_back(static_cast<float>(first + share * (last - first)));
    }
    if (feature.keypoints.size() <= points)
      cells.insert(cells.end(), feature.keypoints.begin(), feature.keypoints.end());
    std::ranges::sort(cells);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  }
  if (feature.learns_missing) cells.push_back(std::numeric_limits<float>::quiet_NaN());
  return cells;
}

// At most `most` rows, evenly spaced.
std::vector<float> thinned(std::span<const float> rows, std::size_t width, std::size_t most) {
  const std::size_t count = rows.size() / width, kept = std::min(count, most);
  std::vector<float> cells;
  for (std::size_t i = 0; i < kept; ++i) {
    const auto row = rows.subspan(i * count / kept * width, width);
    cells.insert(cells.end(), row.begin(), row.end());
  }
  return cells;
}

// The quantile of a sorted list.
float quantile(std::span<const float> sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void check(const Predictor& predictor, std::size_t cells, std::size_t feature,
           const DependenceOptions& options) {
  const std::size_t features = predictor.model().schema().features.size();
  const auto fail = [](const std::string& message) {
    throw Error(ErrorKind::argument, "partial_dependence: " + message);
  };
  if (feature >= features) fail(fmt::format("feature {}; the model has {}", feature, features));
  if (options.which >= predictor.num_scores())
    fail(fmt::format("output {}; the model has {}", options.which, predictor.num_scores()));
  if (cells == 0 || cells % predictor.num_cells() != 0)
    fail(fmt::format("{} cells; wanted {} for each row", cells, predictor.num_cells()));
  if (options.points == 0 || options.rows == 0) fail("wanted a point and a row at least");
}

}  // namespace

Dependence partial_dependence(const Predictor& predictor, std::span<const float> rows,
                              std::size_t feature, const DependenceOptions& options) {
  const DefaultFloats floats;
  check(predictor, rows.size(), feature, options);
  const std::size_t width = predictor.num_cells(), scores = predictor.num_scores();
  std::vector<float> moved = thinned(rows, width, options.rows);
  const std::size_t count = moved.size() / width;
  std::vector<float> out(count * scores), values(count);
  Dependence result{places_of(predictor.model().schema().features[feature], options.points)};
  for (const float cell : result.cells) {
    for (std::size_t r = 0; r < count; ++r) moved[r * width + feature] = cell;
    predictor.predict(moved, out, options.output, options.threads);
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r) sum += values[r] = out[r * scores + options.which];
    std::ranges::sort(values);
    result.mean.push_back(sum / static_cast<double>(count));
    result.low.push_back(quantile(values, 0.1));
    result.middle.push_back(quantile(values, 0.5));
    result.high.push_back(quantile(values, 0.9));
  }
  return result;
}

}  // namespace espalier
