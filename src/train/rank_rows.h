// SPDX-License-Identifier: Apache-2.0
// Rows that are divided among ranks. Of a table of many rows each rank has the features of some
// parts (table/rank_rows.h), and of the encoded training rows those that its shards of a batch draw
// from (train/batches.h); the labels and the columns beside them all ranks have in full, and so all
// of the validation rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/bytes.h"
#include "encode/dataset.h"
#include "espalier/ranks.h"
#include "espalier/table.h"
#include "table/gather.h"
#include "table/rank_rows.h"

namespace espalier {

// All ranks call the functions below, in the same order. Null: this process is alone.

/// The share of this rank, of a table that each rank has whole or of which each has its own rows.
/// Then `in_full` names the columns that all need: their cells are gathered, and `table` has as
/// many rows as all have together. Throws Error (argument) for rows that are not the rank's.
RankRows share_of(Ranks* ranks, std::size_t many_rows, const std::vector<std::string>& in_full,
                  Table& table);

/// A table of the same columns that borrows the cells of another, which outlives it.
Table borrowed(const Table& table);

/// The stretches of training rows that are worked on by themselves: one for each shard of a batch
/// if they are many.
std::vector<RowRange> training_parts(std::uint64_t num_rows, int batch_size, std::size_t many_rows);

/// Gives each rank the cells of the parts of its shards; of few rows it gives all cells to all.
void divide_cells(int batch_size, std::size_t many_rows, Ranks* ranks, Dataset& data);

/// Gives all cells to all ranks.
void complete_cells(Ranks* ranks, Dataset& data);

/// Some rows in ascending order, as a dataset of its own that all ranks have.
Dataset subset(const Dataset& data, const Rows& rows, Ranks* ranks);

/// What `work` makes of each part of the rows, in order. A rank works on those that it has.
template <class Work>
auto of_parts(const std::vector<RowRange>& parts, const Dataset& data, Ranks* ranks,
              const Work& work) {
  using Result = std::invoke_result_t<Work, const RowRange&>;
  static_assert(std::is_trivially_copyable_v<Result>);
  const RowRange own = data.own_rows();
  std::vector<Result> results;
  for (const RowRange& part : parts) {
    if (part.size() > 0 && own.begin <= part.begin && part.end <= own.end)
      results.push_back(work(part));
  }
  if (ranks == nullptr || !data.is_divided) return results;
  std::vector<Result> all;
  for (const std::string& bytes : gather(ranks, raw_bytes(std::span<const Result>(results)))) {
    for (const Result& result : numbers_of<Result>(bytes)) all.push_back(result);
  }
  return all;
}

}  // namespace espalier
