// SPDX-License-Identifier: Apache-2.0
// Random forests for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/random.h"
#include "encode/encode.h"
#include "model/forest.h"
#include "model/leaf_orders.h"

namespace espalier {

// Draws trees that split on the features of a schema and on its level.
class RandomForest {
 public:
  RandomForest(const Schema& schema, Random random) : schema_(schema), random_(random) {}

  // Any leaf values: the forest need not be monotonic.
  DecisionForest draw(std::size_t trees, int depth) {
    for (std::size_t t = 0; t < trees; ++t) {
      DecisionTree& tree = forest_.trees.emplace_back();
      add(tree, depth);
    }
    return std::move(forest_);
  }

 private:
  std::int32_t add(DecisionTree& tree, int depth) {
    if (depth == 0 || random_.uniform() < 0.1) {
      tree.leaves.push_back(static_cast<float>(random_.normal()));
      return ~static_cast<std::int32_t>(tree.leaves.size() - 1);
    }
    const std::size_t own = tree.splits.size();
    tree.splits.push_back(split());
    for (const std::size_t side : {0, 1}) {
      const std::int32_t next = add(tree, depth - 1);
      tree.splits[own].next[side] = next;
    }
    return static_cast<std::int32_t>(own);
  }

  DecisionSplit split() {
    const std::size_t features = schema_.features.size(), levels = schema_.label.num_levels();
    const auto feature = static_cast<std::uint32_t>(random_.below(features + (levels > 1 ? 1 : 0)));
    DecisionSplit split{.feature = feature};
    if (feature == features) {
      split.threshold = static_cast<float>(1 + random_.below(levels - 1));
      return split;
    }
    const Feature& own = schema_.features[feature];
    if (own.kind == FeatureKind::category) {
      const std::size_t codes = num_own_categories(own) + 1;
      split.set = static_cast<std::uint32_t>(forest_.sets.size());
      forest_.sets.resize(forest_.sets.size() + words_of_set(codes));
      for (std::size_t code = 0; code < codes; ++code) {
        if (random_.uniform() < 0.5)
          forest_.sets[split.set + code / 32] |= std::uint32_t{1} << code % 32;
      }
      return split;
    }
    const auto last = static_cast<double>(own.keypoints.size() - 1);
    const double place = random_.uniform() * last;
    split.threshold = threshold_above(
        own, static_cast<float>(random_.uniform() < 0.3 ? std::floor(place) : place));
    if (random_.uniform() < 0.1) split.threshold = -INFINITY;
    // Where missing values have no output of their own they count as the typical one.
    split.missing_right =
        own.learns_missing ? random_.uniform() < 0.5 : own.typical >= split.threshold;
    return split;
  }

  const Schema& schema_;
  Random random_;
  DecisionForest forest_;
};

}  // namespace espalier
