// SPDX-License-Identifier: Apache-2.0
#include "model/leaf_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "constraints/orders.h"
#include "core/float_rank.h"
#include "encode/encode.h"
#include "model/model_file.h"

namespace espalier {

namespace {

// 1 and -1: predictions never decrease, or never increase, with the feature; 0: it is free.
int direction_of(const Schema& schema, std::uint32_t feature) {
  if (feature >= schema.features.size()) return 1;  // the level
  const Feature& own = schema.features[feature];
  if (own.kind == FeatureKind::category) return 0;
  return own.monotonicity == Monotonicity::increasing   ? 1
         : own.monotonicity == Monotonicity::decreasing ? -1
                                                        : 0;
}

// The values of a number that a path admits: those from `lo` to before `hi`, as ranks of floats.
struct Interval {
  std::int32_t lo = -kInfinityRank;
  std::int32_t hi = kInfinityRank + 1;
  bool missing = true;

  bool is_empty() const { return lo >= hi; }
};

// For each leaf of a tree, which values of each feature its path admits.
class Regions {
 public:
  Regions(const DecisionForest& forest, const DecisionTree& tree, const Schema& schema) {
    for (const DecisionSplit& split : tree.splits) features_.push_back(split.feature);
    std::ranges::sort(features_);
    features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
    Region region{std::vector<Interval>(features_.size()), {}};
    for (const std::uint32_t feature : features_) {
      const std::size_t first = region.codes.size();
      const bool is_level = feature >= schema.features.size();
      const bool is_category = !is_level && schema.features[feature].kind == FeatureKind::category;
      const std::size_t codes = is_category ? num_own_categories(schema.features[feature]) + 1 : 0;
      region.codes.resize(first + words_of_set(codes), ~std::uint32_t{0});
      if (codes % 32 > 0) region.codes.back() = (std::uint32_t{1} << codes % 32) - 1;
      region.intervals[columns_.size()].missing = !is_level;
      columns_.push_back({direction_of(schema, feature), first, words_of_set(codes)});
    }
    add(forest, tree, tree.splits.empty() ? ~0 : 0, std::move(region));
  }

  // Whether a row can go from one leaf to another when constrained features move.
  bool leads(std::size_t from, std::size_t to) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!leads(columns_[c], c, leaves_[from], leaves_[to])) return false;
    }
    return true;
  }

 private:
  struct Column {
    int direction;
    std::size_t first_word;      // of the codes of a category
    std::size_t num_categories;  // 0: a number
  };
  struct Region {
    std::vector<Interval> intervals;   // of each column
    std::vector<std::uint32_t> codes;  // of all categories
  };

  std::size_t column_of(std::uint32_t feature) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(features_, feature) -
                                    features_.begin());
  }

  void add(const DecisionForest& forest, const DecisionTree& tree, std::int32_t at, Region region) {
    if (at < 0) {
      leaves_.push_back(std::move(region));
      return;
    }
    const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
    for (const int side : {0, 1}) {
      Region own = side == 0 ? region : std::move(region);
      narrow(forest, split, side, own);
      add(forest, tree, split.next[static_cast<std::size_t>(side)], std::move(own));
    }
  }

  void narrow(const DecisionForest& forest, const DecisionSplit& split, int side,
              Region& region) const {
    const std::size_t c = column_of(split.feature);
    const Column& column = columns_[c];
    if (column.num_categories > 0) {
      for (std::size_t w = 0; w < column.num_categories; ++w) {
        const std::uint32_t set = forest.sets[split.set + w];
        region.codes[column.first_word + w] &= side == 1 ? set : ~set;
      }
      return;
    }
    Interval& own = region.intervals[c];
    const auto cut = static_cast<std::int32_t>(rank_of(split.threshold));
    if (side == 1) {
      own.lo = std::max(own.lo, cut);
    } else {
      own.hi = std::min(own.hi, cut);
    }
    own.missing = own.missing && split.missing_right == (side == 1);
  }

  static bool leads(const Column& column, std::size_t c, const Region& from, const Region& to) {
    if (column.num_categories > 0) {
      for (std::size_t w = column.first_word; w < column.first_word + column.num_categories; ++w) {
        if (from.codes[w] & to.codes[w]) return true;
      }
      return false;
    }
    const Interval &a = from.intervals[c], &b = to.intervals[c];
    if (a.missing && b.missing) return true;
    if (a.is_empty() || b.is_empty()) return false;
    if (column.direction > 0) return a.lo < b.hi;
    if (column.direction < 0) return b.lo < a.hi;
    return std::max(a.lo, b.lo) < std::min(a.hi, b.hi);
  }

  std::vector<std::uint32_t> features_;
  std::vector<Column> columns_;
  std::vector<Region> leaves_;
};

// The leaves behind each node of a tree lie in one stretch.
struct Stretch {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

Stretch stretch_of(const DecisionTree& tree, std::int32_t at) {
  const auto end_of = [&](std::int32_t node, int side) {
    while (node >= 0) node = tree.splits[static_cast<std::size_t>(node)].next[side];
    return static_cast<std::uint32_t>(~node);
  };
  return {end_of(at, 0), end_of(at, 1) + 1};
}

// Where each leaf stands when splits on decreasing features are read from the right.
void place_leaves(const DecisionTree& tree, const Schema& schema, std::int32_t at,
                  std::vector<std::uint32_t>& upwards) {
  if (at < 0) {
    upwards.push_back(static_cast<std::uint32_t>(~at));
    return;
  }
  const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
  const std::size_t low = direction_of(schema, split.feature) < 0 ? 1 : 0;
  for (const std::size_t side : {low, 1 - low})
    place_leaves(tree, schema, split.next[side], upwards);
}

}  // namespace

std::vector<Order> leaf_orders(const DecisionForest& forest, const DecisionTree& tree,
                               const Schema& schema) {
  if (std::ranges::none_of(tree.splits, [&](const DecisionSplit& split) {
        return direction_of(schema, split.feature) != 0;
      }))
    return {};
  const Regions regions(forest, tree, schema);
  std::vector<std::uint32_t> upwards, places(tree.leaves.size());
  place_leaves(tree, schema, 0, upwards);
  for (std::uint32_t place = 0; place < upwards.size(); ++place) places[upwards[place]] = place;
  std::vector<Order> orders;  // between places
  for (const DecisionSplit& split : tree.splits) {
    const int direction = direction_of(schema, split.feature);
    if (direction == 0) continue;
    const Stretch low = stretch_of(tree, split.next[direction > 0 ? 0 : 1]);
    const Stretch high = stretch_of(tree, split.next[direction > 0 ? 1 : 0]);
    for (std::uint32_t from = low.begin; from < low.end; ++from) {
      for (std::uint32_t to = high.begin; to < high.end; ++to) {
        if (regions.leads(from, to)) orders.push_back({places[from], places[to]});
      }
    }
  }
  std::ranges::sort(orders, {},
                    [](const Order& order) { return std::pair(order.low, order.high); });
  std::vector<Order> reduced = transitive_reduction(orders, tree.leaves.size());
  for (Order& order : reduced) order = {upwards[order.low], upwards[order.high]};
  return reduced;
}

Check check_forest(const DecisionForest& forest, const Schema& schema, const CulpritSink& sink) {
  Check total;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const DecisionTree& tree = forest.trees[t];
    const auto tell = [&](const Culprit& culprit) {
      sink(describe("tree", static_cast<int>(t), "leaf", culprit));
    };
    total += check_orders(tree.leaves, leaf_orders(forest, tree, schema), tell);
    total += check_finite(tree.leaves, tell);
  }
  const double largest = largest_output(forest);
  if (largest <= kLargestOutput) return total;
  sink(fmt::format("its output may reach {:.3g}, wanted at most {:.3g}", largest, kLargestOutput));
  return total += {.inequalities = 1, .violations = 1};
}

std::size_t count_leaf_orders(const DecisionForest& forest, const Schema& schema) {
  std::size_t count = 0;
  for (const DecisionTree& tree : forest.trees) count += leaf_orders(forest, tree, schema).size();
  return count;
}

double largest_output(const DecisionForest& forest) {
  double largest = 0;
  for (const DecisionTree& tree : forest.trees) largest += largest_of(tree.leaves);
  return largest;
}

}  // namespace espalier
