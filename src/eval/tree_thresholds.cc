// SPDX-License-Identifier: Apache-2.0
#include "eval/tree_thresholds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/float_rank.h"
#include "encode/encode.h"
#include "serve/compile.h"
#include "serve/kernels.h"

namespace espalier {

namespace {

constexpr std::size_t kMaxCodesTried = 1024;  // of a category, to lead a row to a split

bool is_rising(const Feature& feature) {
  return feature.monotonicity != Monotonicity::none && feature.kind != FeatureKind::category;
}

}  // namespace

TreeThresholds::TreeThresholds(const Model& model)
    : features_(model.schema().features), members_(compile(model).members) {
  for (const std::vector<Step>& steps : members_) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (std::holds_alternative<TreeStep>(steps[s])) add_forest(steps, s);
    }
  }
  for (std::size_t f = 0; f < forests_.size(); ++f) add_splits(static_cast<std::uint32_t>(f));
}

void TreeThresholds::add_forest(const std::vector<Step>& steps, std::size_t at) {
  Forest forest{.trees = &std::get<TreeStep>(steps[at]), .readings = {}, .answers = {}};
  for (std::size_t f = 0; f < features_.size(); ++f) forest.readings.push_back({{f, nullptr}});
  for (std::size_t s = 0; s < at; ++s) {
    std::vector<std::optional<Reading>>& readings = forest.readings;
    if (const auto* gather = std::get_if<GatherStep>(&steps[s])) {
      std::vector<std::optional<Reading>> gathered;
      for (const std::size_t wire : gather->wires)
        gathered.push_back(wire < readings.size() ? readings[wire] : std::nullopt);
      readings = std::move(gathered);
    } else if (const auto* cells = std::get_if<CellStep>(&steps[s])) {
      readings.resize(cells->cells.size());
      for (std::size_t i = 0; i < readings.size(); ++i) {
        if (readings[i] && cells->cells[i].kind != CellTable::Kind::pass)
          readings[i]->table = &cells->cells[i];
      }
    } else {
      readings.clear();  // what other steps make of the features is not followed
    }
  }
  const std::vector<TreeQuestion>& questions = forest.trees->plan.questions;
  forest.answers.assign(questions.size(), -1);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (std::int32_t a = 0; a < 2; ++a) {
      if (const std::int32_t next = questions[q].next[a]; next >= 0)
        forest.answers[static_cast<std::size_t>(next)] = 2 * static_cast<std::int32_t>(q) + a;
    }
  }
  forests_.push_back(std::move(forest));
}

void TreeThresholds::add_splits(std::uint32_t forest) {
  const Forest& own = forests_[forest];
  const std::vector<TreeQuestion>& questions = own.trees->plan.questions;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const Reading* const reading = reading_of(own, questions[q]);
    if (reading == nullptr || !is_rising(features_[reading->feature])) continue;
    if (const auto rank = rank_below(questions[q], *reading))
      splits_.push_back({forest, static_cast<std::uint32_t>(q), *rank});
  }
}

// Null where the question reads no single feature.
const TreeThresholds::Reading* TreeThresholds::reading_of(const Forest& forest,
                                                          const TreeQuestion& question) {
  const auto wire = static_cast<std::size_t>(question.wire);
  if (wire >= forest.readings.size() || !forest.readings[wire]) return nullptr;
  return &*forest.readings[wire];
}

bool TreeThresholds::is_above(const TreeQuestion& question, const Reading& reading,
                              float cell) const {
  float value = encode_cell(features_[reading.feature], cell);
  if (reading.table != nullptr) {
    float read;
    cells_of_row({reading.table, 1}, &value, &read);
    value = read;
  }
  return value > question.above;
}

// Of numbers the ranks of floats, of ordered words their codes; both from the end at which the
// prediction is least.
float TreeThresholds::cell_of(std::size_t feature, std::int64_t rank) const {
  const Feature& own = features_[feature];
  const bool falls = own.monotonicity == Monotonicity::decreasing;
  if (own.kind == FeatureKind::number) return of_rank(falls ? -rank : rank);
  const auto last = static_cast<std::int64_t>(own.categories.size()) - 1;
  return static_cast<float>(falls ? last - rank : rank);
}

std::pair<std::int64_t, std::int64_t> TreeThresholds::ends_of(std::size_t feature) const {
  const Feature& own = features_[feature];
  if (own.kind == FeatureKind::number) return {-kInfinityRank, kInfinityRank};
  return {0, static_cast<std::int64_t>(own.categories.size()) - 1};
}

// The last cell with the answer of the lowest one; nothing if the highest one answers the same.
std::optional<std::int64_t> TreeThresholds::rank_below(const TreeQuestion& question,
                                                       const Reading& reading) const {
  const auto answer = [&](std::int64_t rank) {
    return is_above(question, reading, cell_of(reading.feature, rank));
  };
  auto [low, high] = ends_of(reading.feature);
  const bool at_low = answer(low);
  if (answer(high) == at_low) return std::nullopt;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (answer(middle) == at_low ? low : high) = middle;
  }
  return low;
}

ThresholdStep TreeThresholds::step(std::size_t split) const {
  const Split& own = splits_[split];
  const Forest& forest = forests_[own.forest];
  const std::size_t feature =
      reading_of(forest, forest.trees->plan.questions[own.question])->feature;
  const std::int64_t least = ends_of(feature).first;
  return {.feature = feature,
          .cells = {cell_of(feature, std::max(least, own.rank - 1)), cell_of(feature, own.rank),
                    cell_of(feature, own.rank + 1)}};
}

// Of the splits above that read single features.
std::vector<TreeThresholds::Condition> TreeThresholds::path_to(const Split& split) const {
  const Forest& forest = forests_[split.forest];
  std::vector<Condition> path;
  for (std::int32_t from = forest.answers[split.question]; from >= 0;
       from = forest.answers[static_cast<std::size_t>(from / 2)]) {
    const TreeQuestion& question = forest.trees->plan.questions[static_cast<std::size_t>(from / 2)];
    if (const Reading* const reading = reading_of(forest, question))
      path.push_back({&question, *reading, from % 2 == 1});
  }
  return path;
}

// Cells of the feature that some conditions read, on both sides of each of their thresholds. Where
// its tables rise, as those of trained trees do, one of these meets all conditions if any number
// does.
std::vector<float> TreeThresholds::candidates(std::span<const Condition> conditions) const {
  const std::size_t feature = conditions.front().reading.feature;
  const Feature& own = features_[feature];
  std::vector<float> cells = {std::numeric_limits<float>::quiet_NaN()};
  if (own.kind == FeatureKind::category) {
    for (std::size_t code = 0; code <= std::min(own.categories.size(), kMaxCodesTried); ++code)
      cells.push_back(static_cast<float>(code));
    return cells;
  }
  const auto [low, high] = ends_of(feature);
  cells.insert(cells.end(), {cell_of(feature, low), cell_of(feature, high)});
  for (const Condition& condition : conditions) {
    if (const auto rank = rank_below(*condition.question, condition.reading))
      cells.insert(cells.end(), {cell_of(feature, *rank), cell_of(feature, *rank + 1)});
  }
  return cells;
}

void TreeThresholds::lead_to(std::size_t split, std::span<float> row) const {
  const std::size_t stepped = step(split).feature;
  std::vector<Condition> path = path_to(splits_[split]);
  const auto feature_of = [](const Condition& condition) { return condition.reading.feature; };
  std::ranges::stable_sort(path, {}, feature_of);
  for (auto begin = path.begin(), end = begin; begin != path.end(); begin = end) {
    const std::size_t feature = feature_of(*begin);
    end = std::ranges::upper_bound(begin, path.end(), feature, {}, feature_of);
    const std::span<const Condition> conditions(begin, end);
    const auto meets_all = [&](float cell) {
      return std::ranges::all_of(conditions, [&](const Condition& condition) {
        return is_above(*condition.question, condition.reading, cell) == condition.is_above;
      });
    };
    if (feature == stepped || meets_all(row[feature])) continue;
    const std::vector<float> cells = candidates(conditions);
    if (const auto found = std::ranges::find_if(cells, meets_all); found != cells.end())
      row[feature] = *found;
  }
}

}  // namespace espalier
