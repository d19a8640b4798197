// SPDX-License-Identifier: Apache-2.0
#include "boost/decision_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "encode/encode.h"

namespace espalier {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Where a threshold divides what lies between two rows: near the middle, but where values with few
// digits do not lie, which would be on either side by a rounding.
constexpr float kBetween = 0.5147f;

class Converter {
 public:
  Converter(const Forest& forest, const Schema& schema)
      : columns_(forest.columns), schema_(schema) {}

  DecisionForest convert(std::span<const Tree> trees) {
    for (const Tree& tree : trees) {
      DecisionTree& own = forest_.trees.emplace_back();
      add(tree, tree.splits.empty() ? ~0 : 0, own);
    }
    return std::move(forest_);
  }

 private:
  // As the trees have it, a row goes right if its position is larger.
  struct Answer {
    DecisionSplit split;
    bool swapped = false;  // rows that went right go left: the feature falls
  };

  std::int32_t add(const Tree& tree, std::int32_t at, DecisionTree& to) {
    if (at < 0) {
      to.leaves.push_back(tree.values[static_cast<std::size_t>(~at)]);
      return ~static_cast<std::int32_t>(to.leaves.size() - 1);
    }
    const auto index = static_cast<std::size_t>(at);
    const auto [split, swapped] = answer(tree.splits[index]);
    const std::size_t own = to.splits.size();
    to.splits.push_back(split);
    for (const std::size_t side : {0, 1}) {
      const std::int32_t next = add(tree, tree.next[index][swapped ? 1 - side : side], to);
      to.splits[own].next[side] = next;
    }
    return static_cast<std::int32_t>(own);
  }

  Answer answer(const TreeSplit& split) {
    const ColumnBins& column = columns_[split.column];
    if (column.is_level) return of_level(split, column);
    const Feature& feature = schema_.features[column.wire];
    Answer answer = column.is_category ? of_category(split, column, feature)
                                       : of_number(split, column, feature);
    answer.split.feature = static_cast<std::uint32_t>(column.wire);
    return answer;
  }

  // The first bin of values that goes right; those behind it do too.
  static std::size_t first_right(const TreeSplit& split, const ColumnBins& column) {
    const auto values = split.right.begin() + static_cast<std::ptrdiff_t>(column.first_value());
    return static_cast<std::size_t>(std::find(values, split.right.end(), 1) - split.right.begin());
  }

  Answer of_level(const TreeSplit& split, const ColumnBins& column) const {
    return {{.feature = static_cast<std::uint32_t>(schema_.features.size()),
             .threshold = column.least[first_right(split, column)]}};
  }

  static Answer of_number(const TreeSplit& split, const ColumnBins& column,
                          const Feature& feature) {
    const std::size_t right = first_right(split, column);
    Answer answer;
    if (right == column.first_value()) {  // all values that are not missing
      answer.split.threshold = -kInfinity;
      return answer;
    }
    const float low = column.largest[right - 1], high = column.least[right];
    float between = low + (high - low) * kBetween;
    if (between >= high) between = low;  // neighboring floats
    answer.split.threshold = threshold_above(feature, between);
    const bool missing_right =
        feature.learns_missing ? split.right[0] == 1 : encode_number(feature, NAN) > between;
    answer.swapped = feature.monotonicity == Monotonicity::decreasing;
    answer.split.missing_right = missing_right != answer.swapped;
    return answer;
  }

  Answer of_category(const TreeSplit& split, const ColumnBins& column, const Feature& feature) {
    const std::size_t unseen = feature.shares.size();
    std::vector<std::uint32_t> set(words_of_set(unseen + 1));
    const auto add_code = [&](std::size_t code) {
      set[code / 32] |= std::uint32_t{1} << code % 32;
    };
    double right = 0, all = 0;
    for (std::size_t code = 0; code < unseen; ++code) {
      all += feature.shares[code];
      if (split.right[column.of_code[code]] == 0) continue;
      right += feature.shares[code];
      add_code(code);
    }
    if (2 * right > all) add_code(unseen);
    const auto [at, is_new] =
        sets_.try_emplace(std::move(set), static_cast<std::uint32_t>(forest_.sets.size()));
    if (is_new) forest_.sets.insert(forest_.sets.end(), at->first.begin(), at->first.end());
    return {{.set = at->second}};
  }

  std::span<const ColumnBins> columns_;
  const Schema& schema_;
  DecisionForest forest_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets_;
};

}  // namespace

DecisionForest decision_forest(const Forest& forest, const Schema& schema) {
  return Converter(forest, schema).convert(forest.trees);
}

}  // namespace espalier
