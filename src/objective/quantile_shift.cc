// SPDX-License-Identifier: Apache-2.0
// A shift d of one level costs sum w pinball_q(r - d) over the residuals r. Its minimum is the
// q-quantile of the residuals. Levels whose shifts are out of order get a common shift: the sum of
// their costs is least at the quantile of all their residuals at the mean of their q. Pooling
// neighbors until none are out of order gives the best ordered shifts, as for any sum of convex
// costs.
//
// Of n rows, a new label is below the i-th residual with probability i / (n + 1). The quantile is
// therefore at position q (n + 1) among the residuals, interpolated, rather than at q n.
#include "objective/quantile_shift.h"

#include <algorithm>
#include <vector>

namespace espalier {

namespace {

struct Residual {
  double value;
  double weight;
};

// Neighboring levels with a common shift.
struct Block {
  std::vector<Residual> residuals;
  double shares;  // the sum of their q
  std::size_t levels;
  double shift;
};

// The residual at the mean q. A residual of weight w is in the middle of its weight. The new row
// counts as a residual of the mean weight, half before and half after all others.
double best_shift(const Block& block) {
  double total = 0, squares = 0;
  for (const Residual& residual : block.residuals) {
    total += residual.weight;
    squares += residual.weight * residual.weight;
  }
  const double new_weight = squares / total;
  const double wanted = (total + new_weight) * block.shares / static_cast<double>(block.levels);
  double below = new_weight / 2, place_before = 0, before = block.residuals.front().value;
  for (const Residual& residual : block.residuals) {
    const double place = below + residual.weight / 2;
    if (place >= wanted) {
      const double share = (wanted - place_before) / (place - place_before);
      return before + share * (residual.value - before);
    }
    below += residual.weight;
    place_before = place;
    before = residual.value;
  }
  return block.residuals.back().value;
}

Block block_of(const Dataset& data, std::span<const float> scores, const Label& label,
               std::size_t level) {
  Block block{.residuals = {}, .shares = label.quantiles[level], .levels = 1, .shift = 0};
  for (std::size_t i = 0; i < data.num_rows; ++i) {
    const double score = scores[i * label.num_scores() + level];
    if (data.weight(i) > 0) block.residuals.push_back({data.labels[i] - score, data.weight(i)});
  }
  std::ranges::stable_sort(block.residuals, {}, &Residual::value);
  if (!block.residuals.empty()) block.shift = best_shift(block);
  return block;
}

Block merged(const Block& low, const Block& high) {
  Block block{.residuals = std::vector<Residual>(low.residuals.size() + high.residuals.size()),
              .shares = low.shares + high.shares,
              .levels = low.levels + high.levels,
              .shift = 0};
  std::ranges::merge(low.residuals, high.residuals, block.residuals.begin(), {}, &Residual::value,
                     &Residual::value);
  block.shift = best_shift(block);
  return block;
}

}  // namespace

void shift_quantiles(const Dataset& valid_rows, std::span<const float> scores, Label& label) {
  std::vector<Block> blocks;
  for (std::size_t level = 0; level < label.quantiles.size(); ++level) {
    blocks.push_back(block_of(valid_rows, scores, label, level));
    while (blocks.size() > 1 && blocks[blocks.size() - 2].shift > blocks.back().shift) {
      Block both = merged(blocks[blocks.size() - 2], blocks.back());
      blocks.pop_back();
      blocks.back() = std::move(both);
    }
  }
  std::size_t level = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.levels; ++i) label.offsets[level++] += block.shift;
  }
}

std::vector<float> cross_fitted_scores(const Dataset& valid_rows, std::span<const float> scores,
                                       const Label& label) {
  constexpr std::size_t kParts = 10;
  const std::size_t levels = label.num_scores();
  std::vector<float> fitted(scores.begin(), scores.end());
  for (std::size_t part = 0; part < kParts; ++part) {
    Rows others;
    std::vector<float> scores_of_others;
    for (std::size_t i = 0; i < valid_rows.num_rows; ++i) {
      if (i % kParts == part) continue;
      others.push_back(i);
      for (std::size_t l = 0; l < levels; ++l) scores_of_others.push_back(scores[i * levels + l]);
    }
    Label shifted = label;
    shift_quantiles(subset_without_cells(valid_rows, others), scores_of_others, shifted);
    for (std::size_t i = part; i < valid_rows.num_rows; i += kParts) {
      for (std::size_t l = 0; l < levels; ++l)
        fitted[i * levels + l] += static_cast<float>(shifted.offsets[l] - label.offsets[l]);
    }
  }
  return fitted;
}

}  // namespace espalier
