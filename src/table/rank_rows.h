// SPDX-License-Identifier: Apache-2.0
// The rows of a table whose features this process has. A single process has all rows. With several
// processes, each has a range of rows, in the order of ranks. Facts about a column are collected
// from all ranks, so that names, types and categories are those of the whole table everywhere. All
// ranks have the label and the side columns of all rows.
//
// A large table is divided into eight parts, and a process has whole parts. Sums over rows are
// exact, so that they do not depend on the division.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/row_range.h"

namespace espalier {

/// From this many rows on, training reads the table in order, from start to end, a window at a
/// time, because the rows may be on disk. It does so for tables in memory too, so that the place of
/// the rows does not change a bit.
inline constexpr std::size_t kManyRows = std::size_t{1} << 22;

/// The number of parts of a large table.
inline constexpr int kTableParts = 8;

/// The first row of a part; the last part ends where the next one would begin.
std::uint64_t begin_of_part(int part, std::uint64_t num_rows);

/// The parts [first, last) of a rank; possibly none.
struct PartRange {
  int first;
  int last;
};
PartRange parts_of_rank(int rank, int num_ranks);

/// Collects the text of each process, in order.
using GatherTexts = std::function<std::vector<std::string>(std::string_view)>;

struct RankRows {
  bool is_divided = false;  // whether there are other processes
  std::uint64_t first = 0;  // the first row of the feature columns
  RowRange rows = {};       // the rows of this process
  GatherTexts gather;       // all processes must call it in the same order
};

/// A process that has all rows, in one part.
RankRows whole_table(std::uint64_t num_rows);

/// The indices in an ascending list of rows whose rows are in a range.
RowRange places_of(RowRange range, std::span<const std::uint64_t> rows);

}  // namespace espalier
