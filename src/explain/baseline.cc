// SPDX-License-Identifier: Apache-2.0
// The baseline row, and values as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/default_floats.h"
#include "csv/cell.h"
#include "encode/encode.h"
#include "espalier/error.h"
#include "espalier/explain.h"

namespace espalier {

namespace {

// The lower median of the values that are not missing.
float median_of(std::vector<float> cells) {
  std::erase_if(cells, [](float cell) { return std::isnan(cell); });
  if (cells.empty()) return NAN;
  const auto middle = cells.begin() + static_cast<std::ptrdiff_t>((cells.size() - 1) / 2);
  std::ranges::nth_element(cells, middle);
  return *middle;
}

// The most frequent value; the lowest of several; missing comes last.
float most_frequent(std::vector<float> cells) {
  std::ranges::sort(cells, [](float a, float b) { return !std::isnan(a) && !(a >= b); });
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  float best = NAN;
  std::size_t most = 0;
  for (std::size_t i = 0; i < cells.size();) {
    const std::size_t begin = i;
    while (i < cells.size() && same(cells[begin], cells[i])) ++i;
    if (i - begin <= most) continue;
    most = i - begin;
    best = cells[begin];
  }
  return best;
}

float heaviest_category(const Feature& feature) {
  const auto own =
      static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, num_own_categories(feature)));
  const auto begin = feature.shares.begin();
  return static_cast<float>(std::max_element(begin, begin + own) - begin);
}

}  // namespace

std::vector<float> baseline_row(const Model& model) {
  std::vector<float> row;
  for (const Feature& feature : model.schema().features)
    row.push_back(feature.kind == FeatureKind::category ? heaviest_category(feature)
                                                        : feature.typical);
  return row;
}

std::vector<float> baseline_row(const Model& model, const Table& table) {
  const DefaultFloats floats;
  if (table.num_rows == 0)
    throw Error(ErrorKind::data,
                fmt::format("{}: no rows; wanted one for the baseline", table.name));
  const std::vector<Feature>& features = model.schema().features;
  const Dataset data = read_features(model.schema(), table);
  std::vector<float> row;
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::vector<float> cells;
    for (std::size_t r = 0; r < data.num_rows; ++r) cells.push_back(data.row(r)[f]);
    row.push_back(features[f].kind == FeatureKind::category ? most_frequent(std::move(cells))
                                                            : median_of(std::move(cells)));
  }
  return row;
}

std::string cell_text(const Feature& feature, float cell) {
  const DefaultFloats floats;
  if (std::isnan(cell)) return "";
  if (feature.kind == FeatureKind::number) return fmt::format("{}", cell);
  const bool is_known = cell >= 0 && cell < static_cast<float>(feature.categories.size());
  return is_known ? feature.categories[static_cast<std::size_t>(cell)] : "(unseen)";
}

}  // namespace espalier
