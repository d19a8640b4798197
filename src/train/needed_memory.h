// SPDX-License-Identifier: Apache-2.0
// How much memory training takes when its rows lie on disk, before it begins.
//
//   network      P parameters: S sums of gradients, the moments, the best so far, each member; and
//   S
//                tiles of activations                      4 P (S + 8 + ensemble) + S * tiles
//   validation   of each validation row its scores and a metric's sort of them
//   words        of the categories, each up to three times
//   rest         the program, its threads, a column of the sample that keypoints are found in, and
//   the
//                windows of the order of many rows
//
// The sum is meant to be more than what is measured: tests/memory_test.py.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/table.h"
#include "train/problem.h"

namespace espalier {

/// In whole megabytes, rounded up, so that the parts of a message add up to its total.
struct NeededMemory {
  std::uint64_t network = 0;
  std::uint64_t validation = 0;
  std::uint64_t categories = 0;
  std::uint64_t rest = 0;

  std::uint64_t total() const { return network + validation + categories + rest; }
};

/// Of the words that a table has in memory.
std::uint64_t memory_of_categories(const Table& table);

/// `words` as memory_of_categories says of the table, of which nothing may be left.
NeededMemory needed_memory(const Problem& problem, std::uint64_t categories, int threads);

/// Throws Error (argument), which says how much is needed, if it is more than `most`.
void require_memory(const NeededMemory& needed, std::uint64_t most);

}  // namespace espalier
