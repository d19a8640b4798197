// SPDX-License-Identifier: Apache-2.0
// Of which rows of a table this process has the features. Alone it has all of them. Of several
// processes each has a stretch of neighbours, one process behind another, and what is to be known
// of a column is gathered from all: so names, types and words are those of the whole table
// everywhere, and so are the cells of the label and of the columns beside it.
//
// A table of many rows is read in parts, stretches of an eighth of it, and a process has whole
// parts. What is summed over rows is summed exactly, so that no sum depends on who has which rows.
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

/// From so many rows on all that follows the order of rows goes through the table from its
/// beginning to its end, a window at a time: the rows may lie on a disk. In memory too, so that
/// where rows lie changes no bit.
inline constexpr std::size_t kManyRows = std::size_t{1} << 22;

/// The parts of a table of many rows.
inline constexpr int kTableParts = 8;

/// Where a part begins; the last ends where the one behind it would begin.
std::uint64_t begin_of_part(int part, std::uint64_t num_rows);

/// The parts [first, last) of a rank; there may be none.
struct PartRange {
  int first;
  int last;
};
PartRange parts_of_rank(int rank, int num_ranks);

/// What each process says, in order.
using GatherTexts = std::function<std::vector<std::string>(std::string_view)>;

struct RankRows {
  bool is_divided = false;  // there are other processes
  std::uint64_t first = 0;  // the row that the columns of features begin with
  RowRange rows = {};       // that this process has
  GatherTexts gather;       // all processes call it in the same order
};

/// That of a process which has all rows, in one part.
RankRows whole_table(std::uint64_t num_rows);

/// Which places of an ascending list have rows of a range.
RowRange places_of(RowRange range, std::span<const std::uint64_t> rows);

}  // namespace espalier
