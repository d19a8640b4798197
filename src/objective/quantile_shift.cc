// SPDX-License-Identifier: Apache-2.0
// A shift d of one level costs sum w pinball_q(r - d) over the residuals r, which is least at their
// q-quantile. Levels whose shifts are not in order share one: the sum of their costs is least at the
// quantile of all their residuals at the mean of their q. Pooling such neighbours until none is left
// gives the best shifts in order, as for any sum of convex costs.
#include "objective/quantile_shift.h"

#include <algorithm>
#include <vector>

namespace espalier {

namespace {

struct Residual {
  double value;
  double weight;
};

// Neighbouring levels that share a shift.
struct Block {
  std::vector<Residual> residuals;
  double shares;  // the sum of their q
  std::size_t levels;
  double shift;
};

// The least residual up to which the mean share of the weight lies.
double best_shift(const Block& block) {
  double total = 0, below = 0;
  for (const Residual& residual : block.residuals) total += residual.weight;
  const double wanted = total * block.shares / static_cast<double>(block.levels);
  for (const Residual& residual : block.residuals) {
    below += residual.weight;
    if (below >= wanted) return residual.value;
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

void shift_quantiles(const Dataset& held_out, std::span<const float> scores, Label& label) {
  std::vector<Block> blocks;
  for (std::size_t level = 0; level < label.quantiles.size(); ++level) {
    blocks.push_back(block_of(held_out, scores, label, level));
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

}  // namespace espalier
