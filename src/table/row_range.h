// SPDX-License-Identifier: Apache-2.0
// Rows of a table: a list or a range.
#pragma once

#include <cstdint>

#include "core/large_vector.h"

namespace espalier {

/// Row indices, in order.
using Rows = LargeVector<std::uint64_t>;

/// The rows [begin, end).
struct RowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

}  // namespace espalier
