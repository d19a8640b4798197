// SPDX-License-Identifier: Apache-2.0
// A forest in a model file; docs/model_format.md describes each byte.
//
//   u64 W, then W words of the sets of categories, u32 each
//   u64 T, then for each tree
//     u32 S, the number of splits
//     S splits in reading order, 8 bytes each:
//       u32  bits 0 and 1: whether the left and the right side is a split, else it is a leaf;
//            bit 2: whether missing values go right; bits 3 to 31: the feature
//       u32  of a category where its set begins; else the threshold, a float
//     S + 1 leaf values in reading order, floats
#pragma once

#include <string>

#include "core/bytes.h"
#include "model/forest.h"

namespace espalier {

inline constexpr std::size_t kMaxTreeLeaves = 256;

void put_forest(std::string& out, const DecisionForest& forest, const Schema& schema);

/// Throws through `reader` for what cannot be a forest on these features.
DecisionForest read_forest(Reader& reader, const Schema& schema);

}  // namespace espalier
