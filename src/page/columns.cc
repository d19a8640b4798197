// SPDX-License-Identifier: Apache-2.0
#include "page/columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "encode/encode.h"
#include "page/bootstrap.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kColumnBars = 40;
// Points of a curve: half of them evenly spaced, half at quantiles of the rows; the total over all
// curves is limited.
constexpr std::size_t kSmallestGrid = 4, kLargestGrid = 16, kAllGrids = 4000;
constexpr std::size_t kMaxCategoriesShown = 30;  // that are shown
// The limit of predictions for all curves.
constexpr std::size_t kPredictions = 400'000;
constexpr std::size_t kFewestMoved = 10, kMaxMoved = 400;
constexpr double kSpread[] = {0.1, 0.25, 0.75, 0.9};

// The values of a number that are not missing, sorted.
std::vector<double> values_of(const SampledRows& sample, std::size_t f) {
  std::vector<double> values;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const float cell = sample.row(i)[f];
    if (std::isfinite(cell)) values.push_back(cell);
  }
  std::ranges::sort(values);
  return values;
}

struct ValueRange {
  double low = 0;
  double high = 0;
};

bool are_whole(const std::vector<double>& values) {
  return !values.empty() &&
         std::ranges::all_of(values, [](double value) { return value == std::floor(value); });
}

// The central 99 % of the values; the training range if they are constant or absent.
ValueRange range_of(const Feature& feature, const std::vector<double>& values) {
  ValueRange range{quantile_of(values, 0.005), quantile_of(values, 0.995)};
  if (are_whole(values)) range = {std::floor(range.low), std::ceil(range.high)};
  if (!values.empty() && !(range.low < range.high)) range = {values.front(), values.back()};
  if (!(range.low < range.high)) range = {feature.keypoints.front(), feature.keypoints.back()};
  return range;
}

// `values` are those of values_of, here and below.
Json number_density(const Feature& feature, const std::vector<double>& values, std::size_t rows) {
  const ValueRange range = range_of(feature, values);
  const bool is_whole = are_whole(values);
  const double span = range.high - range.low;
  const bool is_counted = is_whole && span < static_cast<double>(kColumnBars);
  const std::size_t bars = is_counted ? static_cast<std::size_t>(span) + 1 : kColumnBars;
  std::vector<double> shares(bars);
  for (const double value : values) {
    const double place =
        is_counted ? value - range.low : (value - range.low) / span * static_cast<double>(bars);
    const double last = static_cast<double>(bars - 1);
    shares[static_cast<std::size_t>(std::clamp(place, 0.0, last))] += 1 / static_cast<double>(rows);
  }
  const double missing = 1 - static_cast<double>(values.size()) / static_cast<double>(rows);
  return {
      {"low", rounded(range.low)}, {"high", rounded(range.high)},  {"whole", is_whole},
      {"counted", is_counted},     {"bars", rounded_list(shares)}, {"missing", rounded(missing)}};
}

// Fractions of the rows by category, then unseen (categorical) or missing (ordered).
Json word_density(const Feature& feature, const SampledRows& sample, std::size_t f) {
  const std::size_t own = num_own_categories(feature);
  std::vector<double> shares(own + 1);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const float cell = sample.row(i)[f];
    const bool is_known = cell >= 0 && cell < static_cast<float>(own);
    shares[is_known ? static_cast<std::size_t>(cell) : own] +=
        1 / static_cast<double>(sample.size());
  }
  const double last = shares.back();
  shares.resize(std::min(own, kMaxCategoriesShown));
  return {{"bars", rounded_list(shares)},
          {feature.kind == FeatureKind::category ? "unseen" : "missing", rounded(last)}};
}

// The codes of the first categories.
std::vector<float> codes_of(const Feature& feature, std::size_t most) {
  std::vector<float> cells;
  for (std::size_t code = 0; code < std::min(num_own_categories(feature), most); ++code)
    cells.push_back(static_cast<float>(code));
  return cells;
}

std::vector<float> spread_values(const Feature& feature, const std::vector<double>& values,
                                 std::size_t most) {
  if (values.empty()) return {feature.keypoints.front(), feature.keypoints.back()};
  // Without the extreme values, which may be far away.
  const double low = quantile_of(values, 0.01), high = quantile_of(values, 0.99);
  std::vector<float> cells;
  std::vector<double> inner;
  std::ranges::copy_if(values, std::back_inserter(inner),
                       [&](double value) { return value >= low && value <= high; });
  std::vector<double> among = inner;
  among.erase(std::unique(among.begin(), among.end()), among.end());
  if (among.size() > most) among = std::move(inner);
  const std::size_t count = std::min(among.size(), most);
  for (std::size_t k = 0; k < count; ++k)
    cells.push_back(
        static_cast<float>(among[k * (among.size() - 1) / std::max<std::size_t>(count - 1, 1)]));
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

// The points of a numeric feature: evenly spaced, and at quantiles of the rows.
std::vector<float> grid_of(const Feature& feature, const std::vector<double>& values,
                           std::size_t points) {
  const ValueRange range = range_of(feature, values);
  std::vector<float> grid = spread_values(feature, values, points);
  for (std::size_t k = 0; k < points; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(points - 1);
    grid.push_back(static_cast<float>(range.low + share * (range.high - range.low)));
  }
  std::erase_if(grid, [&](float x) { return x < range.low || x > range.high; });
  std::ranges::sort(grid);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

// The predictions of the rows with a value of the feature: the mean of each output, and quantiles
// of the main one.
struct Moved {
  std::vector<double> means;
  std::vector<double> points;
};

class Mover {
 public:
  Mover(const Predictor& predictor, const SampledRows& rows)
      : predictor_(predictor),
        scratch_(predictor),
        cells_(rows.cells),
        width_(rows.width),
        out_(rows.size() * predictor.num_scores()) {}

  Moved move(std::size_t feature, float cell) {
    std::vector<float> kept;
    for (std::size_t i = feature; i < cells_.size(); i += width_) {
      kept.push_back(cells_[i]);
      cells_[i] = cell;
    }
    predictor_.predict(cells_, out_, scratch_);
    for (std::size_t i = 0; i < kept.size(); ++i) cells_[i * width_ + feature] = kept[i];
    return summary();
  }

 private:
  Moved summary() const {
    const std::size_t scores = predictor_.num_scores();
    Moved moved{.means = std::vector<double>(scores)};
    std::vector<double> values;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      moved.means[i % scores] += out_[i] / static_cast<double>(out_.size() / scores);
      if (i % scores == main_output(predictor_.model().schema().label)) values.push_back(out_[i]);
    }
    std::ranges::sort(values);
    for (const double share : kSpread) moved.points.push_back(quantile_of(values, share));
    return moved;
  }

  const Predictor& predictor_;
  Predictor::Scratch scratch_;
  std::vector<float> cells_;
  std::size_t width_;
  std::vector<float> out_;
};

Json curve_json(Mover& mover, std::size_t f, const std::vector<float>& cells) {
  Json means = Json::array(), points = Json::array();
  for (const float cell : cells) {
    const Moved moved = mover.move(f, cell);
    means.push_back(rounded_list(moved.means));
    points.push_back(rounded_list(moved.points));
  }
  return {{"cells", rounded_list(cells)}, {"means", means}, {"points", points}};
}

Json column_json(const Feature& feature, std::size_t f, const SampledRows& sample,
                 std::size_t points, Mover& mover) {
  Json json = {{"name", feature.name},
               {"kind", to_word(feature.kind)},
               {"direction", to_word(feature.monotonicity)}};
  const bool has_categories = feature.kind != FeatureKind::number;
  if (has_categories) {
    json["density"] = word_density(feature, sample, f);
    json["curve"] = curve_json(mover, f, codes_of(feature, kMaxCategoriesShown));
  } else {
    const std::vector<double> values = values_of(sample, f);
    json["density"] = number_density(feature, values, sample.size());
    json["curve"] = curve_json(mover, f, grid_of(feature, values, points));
  }
  const bool is_learned = has_categories
                              ? feature.kind == FeatureKind::ordered && feature.learns_missing
                              : feature.learns_missing;
  if (is_learned) json["curve"]["missing"] = curve_json(mover, f, {NAN});
  if (feature.kind == FeatureKind::category) {
    const auto unseen = static_cast<float>(num_own_categories(feature));
    json["curve"]["unseen"] = curve_json(mover, f, {unseen});
  }
  return json;
}

}  // namespace

std::size_t main_output(const Label& label) {
  return label.has_many_classes() ? 0 : label.num_scores() / 2;
}

SampledRows rows_to_move(const SampledRows& sample, const Predictor& predictor, std::size_t most) {
  SampledRows rows{.width = sample.width};
  const std::size_t count = std::min(sample.size(), most);
  for (std::size_t k = 0; k < count; ++k) {
    const auto row = sample.row(k * sample.size() / count);
    rows.cells.insert(rows.cells.end(), row.begin(), row.end());
    if (predictor.model().schema().beside.contains(Role::exposure))
      rows.cells[k * rows.width + predictor.model().schema().features.size()] = 1;
  }
  return rows;
}

std::vector<float> spread_cells(const Feature& feature, std::size_t index,
                                const SampledRows& sample, std::size_t most) {
  if (feature.kind != FeatureKind::number) return codes_of(feature, most);
  return spread_values(feature, values_of(sample, index), most);
}

Json columns_json(const Predictor& predictor, const SampledRows& sample, ThreadPool& pool,
                  const std::function<void(double)>& report) {
  const std::vector<Feature>& features = predictor.model().schema().features;
  const std::size_t points = std::clamp(kAllGrids / features.size(), kSmallestGrid, kLargestGrid);
  const std::size_t moved =
      std::clamp(kPredictions / (features.size() * 2 * points), kFewestMoved, kMaxMoved);
  const SampledRows rows = rows_to_move(sample, predictor, moved);
  std::vector<Json> columns(features.size());
  const std::size_t at_once = 4 * static_cast<std::size_t>(pool.size());
  for (std::size_t first = 0; first < features.size(); first += at_once) {
    const std::size_t count = std::min(at_once, features.size() - first);
    pool.run(static_cast<int>(count), [&](int index) {
      const std::size_t f = first + static_cast<std::size_t>(index);
      Mover mover(predictor, rows);
      columns[f] = column_json(features[f], f, sample, points, mover);
    });
    report(static_cast<double>(first + count) / static_cast<double>(features.size()));
  }
  return {{"moved_rows", rows.size()}, {"sampled_rows", sample.size()}, {"list", columns}};
}

}  // namespace espalier
