// SPDX-License-Identifier: Apache-2.0
#include "eval/tree_thresholds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/float_rank.h"
#include "encode/encode.h"
#include "model/model_data.h"

namespace espalier {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kMaxCodesTried = 1024;  // of a category, to lead a row to a split

bool is_rising(const Feature& feature) {
  return feature.monotonicity != Monotonicity::none && feature.kind != FeatureKind::category;
}

// The value, or code of an ordered feature, that lies so many places above the least one that goes
// right.
float beside(const Feature& feature, float threshold, std::int64_t places) {
  if (feature.kind == FeatureKind::number) return of_rank(rank_of(threshold) + places);
  const auto last = static_cast<float>(feature.categories.size() - 1);
  return std::clamp(std::ceil(threshold) + static_cast<float>(places), 0.0f, last);
}

}  // namespace

TreeThresholds::TreeThresholds(const Model& model) : features_(model.schema().features) {
  for (const ModelMember& member : model.data().members) {
    if (!member.is_network()) forests_.push_back(member.forest());
  }
  for (std::uint32_t f = 0; f < forests_.size(); ++f) {
    for (std::uint32_t t = 0; t < forests_[f].trees.size(); ++t) {
      const std::vector<DecisionSplit>& splits = forests_[f].trees[t].splits;
      for (std::size_t s = 0; s < splits.size(); ++s) {
        const bool reads_feature = splits[s].feature < features_.size();
        if (reads_feature && is_rising(features_[splits[s].feature]) &&
            splits[s].threshold > -kInfinity)
          splits_.push_back({f, t, static_cast<std::int32_t>(s)});
      }
    }
  }
}

ThresholdStep TreeThresholds::step(std::size_t split) const {
  const Split& own = splits_[split];
  const DecisionSplit& at =
      forests_[own.forest].trees[own.tree].splits[static_cast<std::size_t>(own.split)];
  const Feature& feature = features_[at.feature];
  const bool falls = feature.monotonicity == Monotonicity::decreasing;
  ThresholdStep step{.feature = at.feature};
  for (std::int64_t i = 0; i < 3; ++i)
    step.cells[static_cast<std::size_t>(i)] = beside(feature, at.threshold, falls ? 1 - i : i - 2);
  return step;
}

std::vector<TreeThresholds::Condition> TreeThresholds::path_to(const Split& split) const {
  const DecisionTree& tree = forests_[split.forest].trees[split.tree];
  std::vector<Condition> path;
  std::int32_t at = split.split;
  for (std::size_t s = static_cast<std::size_t>(at);
       s-- > 0;) {  // a split comes before what follows
    const std::array<std::int32_t, 2>& next = tree.splits[s].next;
    if (next[0] != at && next[1] != at) continue;
    if (tree.splits[s].feature < features_.size()) path.push_back({&tree.splits[s], next[1] == at});
    at = static_cast<std::int32_t>(s);
  }
  return path;
}

// Cells of the feature that some conditions read, on both sides of each of their thresholds: one of
// these meets all conditions if any number does.
std::vector<float> TreeThresholds::candidates(std::span<const Condition> conditions) const {
  const Feature& feature = features_[conditions.front().split->feature];
  std::vector<float> cells = {std::numeric_limits<float>::quiet_NaN()};
  if (feature.kind == FeatureKind::category) {
    for (std::size_t code = 0; code <= std::min(feature.categories.size(), kMaxCodesTried); ++code)
      cells.push_back(static_cast<float>(code));
    return cells;
  }
  cells.insert(cells.end(), {-kInfinity, kInfinity});
  if (feature.kind == FeatureKind::ordered)
    cells = {cells[0], 0, static_cast<float>(feature.categories.size() - 1)};
  for (const Condition& condition : conditions) {
    for (const std::int64_t places : {-1, 0})
      cells.push_back(beside(feature, condition.split->threshold, places));
  }
  return cells;
}

void TreeThresholds::lead_to(std::size_t split, std::span<float> row) const {
  const std::size_t stepped = step(split).feature;
  const DecisionForest& forest = forests_[splits_[split].forest];
  std::vector<Condition> path = path_to(splits_[split]);
  const auto feature_of = [](const Condition& condition) { return condition.split->feature; };
  std::ranges::stable_sort(path, {}, feature_of);
  for (auto begin = path.begin(), end = begin; begin != path.end(); begin = end) {
    const std::size_t index = feature_of(*begin);
    const Feature& feature = features_[index];
    end = std::ranges::upper_bound(begin, path.end(), index, {}, feature_of);
    const std::span<const Condition> conditions(begin, end);
    const auto meets_all = [&](float cell) {
      const float value = feature.kind == FeatureKind::category ? encode_cell(feature, cell) : cell;
      return std::ranges::all_of(conditions, [&](const Condition& condition) {
        return goes_right(forest, *condition.split, &feature, value) == condition.right;
      });
    };
    if (index == stepped || meets_all(row[index])) continue;
    const std::vector<float> cells = candidates(conditions);
    if (const auto found = std::ranges::find_if(cells, meets_all); found != cells.end())
      row[index] = *found;
  }
}

}  // namespace espalier
