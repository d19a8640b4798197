// SPDX-License-Identifier: Apache-2.0
#include "serve/ranks.h"

#include <limits>

namespace espalier {

namespace {

constexpr float kBeyond = std::numeric_limits<float>::max();  // above every cell

}  // namespace

RankedColumns::RankedColumns(const ForestStep& step) : of_wire(step.inputs.size(), kNone) {
  std::vector<std::vector<float>> thresholds(step.inputs.size());
  std::vector<bool> is_read(step.inputs.size());
  for (const DecisionTree& tree : step.forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      is_read[split.feature] = true;
      if (step.inputs[split.feature].num_codes == 0)
        thresholds[split.feature].push_back(split.threshold);
    }
  }
  for (std::size_t wire = 0; wire < step.inputs.size(); ++wire) {
    if (!is_read[wire]) continue;
    const ForestStep::Input& input = step.inputs[wire];
    of_wire[wire] = static_cast<std::uint32_t>(columns.size());
    RankedColumn& column = columns.emplace_back(
        RankedColumn{.wire = static_cast<std::uint32_t>(wire), .is_category = input.num_codes > 0});
    if (column.is_category) {
      column.num_ranks = static_cast<std::uint32_t>(input.num_codes);
      continue;
    }
    std::vector<float>& own = thresholds[wire];
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    column.num_ranks = static_cast<std::uint32_t>(own.size() + 2);
    column.first = static_cast<std::uint32_t>(firsts.size());
    column.cuts = static_cast<std::uint32_t>(cuts.size());
    firsts.push_back(0);
    for (int k = 0; k < input.keypoints; ++k) {
      const auto at = std::ranges::upper_bound(own, static_cast<float>(k));
      const auto next = std::ranges::lower_bound(own, static_cast<float>(k + 1));
      firsts.push_back(static_cast<std::uint32_t>(1 + (at - own.begin())));
      column.most =
          std::max(column.most, static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(next - at, 0)));
    }
    cuts.push_back(kBeyond);
    cuts.insert(cuts.end(), own.begin(), own.end());
    cuts.insert(cuts.end(), column.most, kBeyond);
  }
}

std::uint32_t RankedColumns::first_right(const DecisionSplit& split) const {
  const RankedColumn& column = column_of(split);
  const auto begin = cuts.begin() + static_cast<std::ptrdiff_t>(column.cuts) + 1;
  const auto end = begin + static_cast<std::ptrdiff_t>(column.num_ranks) - 2;
  return static_cast<std::uint32_t>(std::lower_bound(begin, end, split.threshold) - begin) + 2;
}

bool RankedColumns::goes_right(const DecisionForest& forest, const DecisionSplit& split,
                               std::uint32_t rank) const {
  if (column_of(split).is_category) return forest.has(split.set, rank);
  return rank == 0 ? split.missing_right : rank >= first_right(split);
}

}  // namespace espalier
