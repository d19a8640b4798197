// SPDX-License-Identifier: Apache-2.0
#include "page/pair_maps.h"

#include <algorithm>
#include <cmath>

#include "espalier/outputs.h"
#include "page/text.h"

namespace espalier {

namespace {

constexpr std::size_t kSide = 8;        // cells along each feature
constexpr std::size_t kMovedRows = 40;  // rows per cell of the grid
constexpr std::size_t kShown = 6;
constexpr double kWeakest = 1e-6;

struct PairMap {
  std::size_t first = 0;
  std::size_t second = 0;
  std::string kind;  // of a pair of the model: crossed, or a table
  std::vector<float> first_cells;
  std::vector<float> second_cells;
  std::vector<double> scores;  // [first][second]
  std::vector<double> means;   // of predictions
  double strength = 0;
};

std::vector<PairMap> candidate_pairs(const Schema& schema,
                                     const std::vector<std::size_t>& columns) {
  std::vector<PairMap> pairs;
  const auto add = [&](std::size_t a, std::size_t b, std::string kind) {
    const auto [first, second] = std::minmax(a, b);
    for (const PairMap& pair : pairs) {
      if (pair.first == first && pair.second == second) return;
    }
    pairs.push_back({.first = first, .second = second, .kind = std::move(kind)});
  };
  for (const Pair& pair : schema.pairs)
    add(pair.first.feature, pair.second.feature, pair.is_grid() ? "table" : "crossed");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) add(columns[k], columns[i], "");
  }
  return pairs;
}

// Subtracting row and column means leaves the interaction: what a sum of two curves cannot explain.
double strength_of(const PairMap& map) {
  const std::size_t rows = map.first_cells.size(), columns = map.second_cells.size();
  std::vector<double> by_row(rows), by_column(columns);
  double mean = 0;
  for (std::size_t i = 0; i < map.scores.size(); ++i) {
    by_row[i / columns] += map.scores[i] / static_cast<double>(columns);
    by_column[i % columns] += map.scores[i] / static_cast<double>(rows);
    mean += map.scores[i] / static_cast<double>(map.scores.size());
  }
  double sum = 0;
  for (std::size_t i = 0; i < map.scores.size(); ++i) {
    const double rest = map.scores[i] - by_row[i / columns] - by_column[i % columns] + mean;
    sum += rest * rest;
  }
  return std::sqrt(sum / static_cast<double>(map.scores.size()));
}

// The mean of the main output over the rows, with both values set.
double mean_of(const Predictor& predictor, std::span<const float> cells, Output output,
               std::vector<float>& out, Predictor::Scratch& scratch) {
  predictor.predict(cells, out, scratch, output);
  const std::size_t scores = predictor.num_scores();
  double sum = 0;
  for (std::size_t i = main_output(predictor.model().schema().label); i < out.size(); i += scores)
    sum += out[i];
  return sum / static_cast<double>(out.size() / scores);
}

void fill_map(const Predictor& predictor, const SampledRows& rows, PairMap& map) {
  Predictor::Scratch scratch(predictor);
  std::vector<float> cells = rows.cells, out(rows.size() * predictor.num_scores());
  for (const float a : map.first_cells) {
    for (const float b : map.second_cells) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        cells[i * rows.width + map.first] = a;
        cells[i * rows.width + map.second] = b;
      }
      map.scores.push_back(mean_of(predictor, cells, Output::score, out, scratch));
      map.means.push_back(mean_of(predictor, cells, Output::prediction, out, scratch));
    }
  }
  map.strength = strength_of(map);
}

}  // namespace

Json pair_maps_json(const Predictor& predictor, const SampledRows& sample,
                    const std::vector<std::size_t>& candidates, ThreadPool& pool) {
  const Schema& schema = predictor.model().schema();
  std::vector<PairMap> maps = candidate_pairs(schema, candidates);
  const SampledRows rows = rows_to_move(sample, predictor, kMovedRows);
  pool.run(static_cast<int>(maps.size()), [&](int index) {
    PairMap& map = maps[static_cast<std::size_t>(index)];
    map.first_cells = spread_cells(schema.features[map.first], map.first, sample, kSide);
    map.second_cells = spread_cells(schema.features[map.second], map.second, sample, kSide);
    fill_map(predictor, rows, map);
  });
  std::erase_if(maps, [](const PairMap& map) { return !(map.strength > kWeakest); });
  std::ranges::stable_sort(maps, std::ranges::greater(), &PairMap::strength);
  maps.resize(std::min(maps.size(), kShown));
  Json list = Json::array();
  for (const PairMap& map : maps) {
    list.push_back({{"first", map.first},
                    {"second", map.second},
                    {"kind", map.kind},
                    {"strength", rounded(map.strength)},
                    {"first_cells", rounded_list(map.first_cells)},
                    {"second_cells", rounded_list(map.second_cells)},
                    {"means", rounded_list(map.means)}});
  }
  return {{"rows", rows.size()},
          {"output", output_names(schema.label)[main_output(schema.label)]},
          {"list", list}};
}

}  // namespace espalier
