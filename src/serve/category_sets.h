// SPDX-License-Identifier: Apache-2.0
// Trees ask about categories through tables that give 0 or 1 for each word, one for every set of
// words that some question is about, and there may be thousands. When a program is laid out for the
// CPU such a question goes to the code itself, with the same answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/program.h"

namespace espalier {

/// What a table says of each code, and which wire has the code.
struct CategorySet {
  std::size_t wire = 0;
  std::size_t num_codes = 0;        // the unseen one is the last
  std::vector<std::uint64_t> bits;  // a bit a code

  bool has(std::size_t code) const { return (bits[code / 64] >> code % 64 & 1) != 0; }
};

/// Of `gather cal tree`: the gather and the tables without those of categories, whose codes pass
/// once, and trees whose questions about wire -1 - i are whether sets[i] has the row's code. Sets
/// of the same column stand together. A table that questions compare with several numbers stays a
/// table.
struct CodeTrees {
  GatherStep gather;
  CellStep cells;
  TreeStep trees;
  std::vector<CategorySet> sets;
};
CodeTrees ask_codes(const GatherStep& gather, const CellStep& cells, TreeStep trees);

}  // namespace espalier
