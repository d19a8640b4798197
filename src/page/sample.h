// SPDX-License-Identifier: Apache-2.0
// Random samples of rows, the same for the same seed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/random.h"
#include "encode/dataset.h"

namespace espalier {

/// At most `most` of the numbers below `count`, ascending; all sets of that size are equally
/// likely.
inline Rows sample_rows(std::size_t count, std::size_t most, Random random) {
  Rows rows;
  std::size_t wanted = std::min(count, most);
  rows.reserve(wanted);
  for (std::size_t i = 0; wanted > 0; ++i) {
    if (random.below(count - i) >= wanted) continue;
    rows.push_back(i);
    --wanted;
  }
  return rows;
}

}  // namespace espalier
