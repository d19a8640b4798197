// SPDX-License-Identifier: Apache-2.0
// The runners of trees and forests.
#include "serve/forest_kernels.h"
#include "serve/runners.h"

namespace espalier {

namespace {

std::variant<LeafMasks, ForestWalk> laid_out(const DecisionForest& forest,
                                             const RankedColumns& ranked) {
  if (std::optional<LeafMasks> masks = leaf_masks(forest, ranked, mask_budget(forest)))
    return std::move(*masks);
  return ForestWalk(forest, ranked);
}

}  // namespace

void TreeRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  answers_of_tile(tiles_.splits().data(), tiles_.splits().size(), in, scratch);
  tiles_.run(scratch, step_.leaves.data(), out);
}

void TreeRunner::row(const float* in, float* out, float*) const noexcept {
  for (std::size_t g = 0; g < step_.num_outputs(); ++g)
    out[g] = step_.leaves[step_.plan.leaf(g, in, 1)];
}

ForestRunner::ForestRunner(const ForestStep& step)
    : ranked_(step), trees_(laid_out(step.forest, ranked_)) {}

std::size_t ForestRunner::scratch_size() const {
  if (const auto* walk = std::get_if<ForestWalk>(&trees_)) return walk->scratch_size();
  return masked_scratch_size(ranked_);
}

void ForestRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  if (const auto* masks = std::get_if<LeafMasks>(&trees_))
    return masked_tile(*masks, ranked_, in, scratch, out);
  const ForestWalk& walk = *std::get_if<ForestWalk>(&trees_);
  for (std::size_t r = 0; r < kTile; ++r) out[r] = walk.run(ranked_, in + r, kTile, scratch);
}

void ForestRunner::row(const float* in, float* out, float* scratch) const noexcept {
  if (const auto* masks = std::get_if<LeafMasks>(&trees_))
    return masked_row(*masks, ranked_, in, scratch, out);
  *out = std::get_if<ForestWalk>(&trees_)->run(ranked_, in, 1, scratch);
}

}  // namespace espalier
