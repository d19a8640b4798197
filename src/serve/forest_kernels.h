// SPDX-License-Identifier: Apache-2.0
// Forests by their masks, for one row and for a tile, on every instruction set.
#pragma once

#include <cstddef>

#include "serve/leaf_masks.h"
#include "serve/ranks.h"

namespace espalier {

/// Floats of scratch that the functions below take.
std::size_t masked_scratch_size(const RankedColumns& ranked);

/// The output of a forest for one row, in: [inputs], and for a tile, in: [inputs][kTile].
void masked_row(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                float* scratch, float* out);
void masked_tile(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                 float* scratch, float* out);

}  // namespace espalier
