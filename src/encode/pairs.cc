// SPDX-License-Identifier: Apache-2.0
#include "encode/pairs.h"

#include <iterator>
#include <numeric>

namespace espalier {

namespace {

// Combinations with fewer rows are too rare for a code of their own.
constexpr std::size_t kFewRows = 4;

// Category codes are sorted by weight, so the first ones keep a bin each.
std::vector<float> edges_between_words(std::size_t num_codes, std::size_t bins) {
  std::vector<float> edges;
  for (std::size_t code = 1; code < std::min(num_codes, bins); ++code)
    edges.push_back(static_cast<float>(code));
  return edges;
}

// A value above `low` and at most `high`.
float between(float low, float high) {
  const float middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

std::vector<float> edges_between_values(const std::vector<float>& sorted, std::size_t bins) {
  std::vector<float> values, edges;
  std::ranges::unique_copy(sorted, std::back_inserter(values));
  if (values.size() <= bins) {
    for (std::size_t i = 1; i < values.size(); ++i)
      edges.push_back(between(values[i - 1], values[i]));
    return edges;
  }
  for (std::size_t b = 1; b < bins; ++b) {
    const float edge = sorted[b * sorted.size() / bins];
    if (edge > (edges.empty() ? sorted.front() : edges.back())) edges.push_back(edge);
  }
  return edges;
}

}  // namespace

float encode_pair(const Pair& pair, const float* features) noexcept {
  const std::size_t i = bin_of(pair.first.edges, features[pair.first.feature]);
  const std::size_t j = bin_of(pair.second.edges, features[pair.second.feature]);
  const std::size_t cell = i * pair.second.num_bins() + j;
  return static_cast<float>(pair.is_grid() ? static_cast<std::int32_t>(cell) : pair.codes[cell]);
}

void append_pairs(std::span<const Pair> pairs, Dataset& data) {
  if (pairs.empty()) return;
  const std::size_t before = data.num_features, after = before + pairs.size();
  const RowRange own = data.own_rows();
  LargeVector<float> cells(own.size() * after);
  float* cell = cells.data();
  for (std::uint64_t r = own.begin; r < own.end; ++r) {
    cell = std::copy_n(data.row(r), before, cell);
    for (const Pair& pair : pairs) *cell++ = encode_pair(pair, data.row(r));
  }
  data.cells = std::move(cells);
  data.num_features = after;
}

Pair::Side fit_side(const Schema& schema, std::size_t feature, int bins, const Dataset& data) {
  const Feature& own = schema.features[feature];
  const auto most = static_cast<std::size_t>(bins);
  Pair::Side side{.feature = feature};
  if (own.kind == FeatureKind::category) {
    side.edges = edges_between_words(own.categories.size() + 1, most);  // the last one is unseen
    return side;
  }
  std::vector<float> values;
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    if (const float value = data.row(r)[feature]; value >= 0) values.push_back(value);
  }
  std::ranges::sort(values);
  side.edges = edges_between_values(values, most);
  // The position of a missing value is negative, that of a number is not.
  if (values.size() < data.num_rows || side.edges.empty()) side.edges.insert(side.edges.begin(), 0);
  return side;
}

Pair fit_pair(const Schema& schema, std::size_t first, std::size_t second, int bins, int most_codes,
              const Dataset& data) {
  Pair pair{.first = fit_side(schema, first, bins, data),
            .second = fit_side(schema, second, bins, data)};
  const std::size_t num_cells = pair.first.num_bins() * pair.second.num_bins();
  std::vector<std::size_t> rows(num_cells);
  std::vector<double> weights(num_cells);
  double total = 0;
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    const float* const cells = data.row(r);
    const std::size_t cell = bin_of(pair.first.edges, cells[first]) * pair.second.num_bins() +
                             bin_of(pair.second.edges, cells[second]);
    ++rows[cell];
    weights[cell] += data.weight(r);
    total += data.weight(r);
  }
  std::vector<std::size_t> order;
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    if (rows[cell] >= kFewRows) order.push_back(cell);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t cell) { return weights[cell]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(most_codes) - 1));
  for (const std::size_t cell : order)
    pair.shares.push_back(static_cast<float>(weights[cell] / total));
  // All others share the next code; if there are none, it is the code of unseen combinations.
  pair.codes.assign(num_cells, static_cast<std::int32_t>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    pair.codes[order[i]] = static_cast<std::int32_t>(i);
    rows[order[i]] = 0;
    weights[order[i]] = 0;
  }
  if (std::ranges::any_of(rows, [](std::size_t count) { return count > 0; })) {
    const double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
    pair.shares.push_back(static_cast<float>(rest / total));
  }
  return pair;
}

bool needs_grid(const Schema& schema, std::size_t first, std::size_t second) {
  const auto has_direction = [&](std::size_t feature) {
    return schema.features[feature].monotonicity != Monotonicity::none;
  };
  return has_direction(first) || has_direction(second);
}

// Vertices are integers and steps are powers of two, so every edge is exact.
std::vector<float> grid_edges(std::span<const std::int32_t> vertices) {
  std::vector<float> edges;
  for (std::size_t k = 1; k < vertices.size(); ++k) {
    const auto lo = static_cast<float>(vertices[k - 1]), hi = static_cast<float>(vertices[k]);
    for (int s = 1; s <= kGridSteps; ++s)
      edges.push_back(lo + (hi - lo) * static_cast<float>(s) / kGridSteps);
  }
  return edges;
}

namespace {

Pair::Side grid_side(const Schema& schema, std::size_t feature, int most) {
  const Feature& own = schema.features[feature];
  Pair::Side side{.feature = feature, .edges = {}};
  if (own.learns_missing) side.vertices.push_back(-1);
  // A feature with one category also has the unseen category.
  const bool is_category = own.kind == FeatureKind::category;
  const auto places = static_cast<std::int32_t>(
      is_category ? std::max<std::size_t>(own.categories.size(), 2) : own.keypoints.size());
  const std::int32_t count = std::min(places, most);
  for (std::int32_t v = 0; v < count; ++v)
    side.vertices.push_back(is_category ? v : v * (places - 1) / (count - 1));
  side.edges = grid_edges(side.vertices);
  return side;
}

}  // namespace

Pair fit_grid(const Schema& schema, std::size_t first, std::size_t second, int vertices) {
  return {.first = grid_side(schema, first, vertices),
          .second = grid_side(schema, second, vertices)};
}

std::string name_of(const Pair& pair, const Schema& schema) {
  return schema.features[pair.first.feature].name + "*" + schema.features[pair.second.feature].name;
}

}  // namespace espalier
