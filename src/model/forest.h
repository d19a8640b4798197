// SPDX-License-Identifier: Apache-2.0
// A forest whose splits test the features themselves, as plain values.
//
// A row is what a predictor reads: the value of a number, the code of an ordered feature or a
// category, NaN where the value is missing. With several levels, the level is one more input.
//
//   number, ordered, level   value >= threshold goes right; a missing value goes right if
//                            missing_right
//   category                 its code as encode_cell gives it (an unseen category is the code
//   behind
//                            the last one, a missing one is the code of the empty word or unseen)
//                            goes right if it is in the set
//
// The output of the forest is 0 + leaf of tree 0 + leaf of tree 1 + ..., in float.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "espalier/schema.h"
#include "model/network.h"

namespace espalier {

struct DecisionSplit {
  std::uint32_t feature = 0;   ///< of Schema::features; their number: the level
  float threshold = 0;         ///< -infinity: every value goes right
  std::uint32_t set = 0;       ///< category: where its words begin in DecisionForest::sets
  bool missing_right = false;  ///< number, ordered
  /// Left and right: a split of the same tree, or the leaf ~next.
  std::array<std::int32_t, 2> next = {};

  friend bool operator==(const DecisionSplit&, const DecisionSplit&) = default;
};

/// Splits and leaves, both in reading order: a split, all that lies left of it, all that lies
/// right. A tree has one leaf more than splits.
struct DecisionTree {
  std::vector<DecisionSplit> splits;
  std::vector<float> leaves;

  friend bool operator==(const DecisionTree&, const DecisionTree&) = default;
};

/// Words of a set of so many codes.
inline constexpr std::size_t words_of_set(std::size_t codes) { return (codes + 31) / 32; }

struct DecisionForest {
  std::vector<DecisionTree> trees;
  /// The sets of categories, 32 codes a word: bit c % 32 of sets[split.set + c / 32] is whether
  /// code c goes right. A set has num_own_categories + 1 codes; splits may share one.
  std::vector<std::uint32_t> sets;

  bool has(std::uint32_t set, std::size_t code) const {
    return (sets[set + code / 32] >> code % 32 & 1) != 0;
  }

  friend bool operator==(const DecisionForest&, const DecisionForest&) = default;
};

/// Whether a row whose feature has this value goes right; a category by its code as encode_cell
/// gives it. `feature` is null for the level.
bool goes_right(const DecisionForest& forest, const DecisionSplit& split, const Feature* feature,
                float value);

/// The threshold that divides the values of a number or an ordered feature where encode_cell passes
/// a position, which lies from that of the lowest end to before that of the highest end: all values
/// on one side of the threshold have larger positions, and no others have.
float threshold_above(const Feature& feature, float position);

/// The output for one row, split by split: the reference for all faster ways. cells: one for each
/// feature, or more.
float evaluate(const DecisionForest& forest, const Schema& schema, std::span<const float> cells,
               std::size_t level = 0);

/// A network `gather(...) cal(2) tree(...) sum` as a forest with the same output for every row of
/// floats. Splits that send every row the same way are left out. Where the old trees read a feature
/// that falls, left and right change places. Nothing for another network, and where a split reads
/// more than one feature or changes its answer more than once as the feature rises.
std::optional<DecisionForest> forest_of(const Network& network, const Schema& schema);

}  // namespace espalier
