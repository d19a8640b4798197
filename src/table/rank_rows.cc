// SPDX-License-Identifier: Apache-2.0
#include "table/rank_rows.h"

#include "espalier/ranks.h"

namespace espalier {

std::uint64_t begin_of_part(int part, std::uint64_t num_rows) {
  constexpr std::uint64_t kParts = kTableParts;
  const auto own = static_cast<std::uint64_t>(part);
  return num_rows / kParts * own + num_rows % kParts * own / kParts;
}

PartRange parts_of_rank(int rank, int num_ranks) {
  return {rank * kTableParts / num_ranks, (rank + 1) * kTableParts / num_ranks};
}

std::pair<std::uint64_t, std::uint64_t> rows_of_rank(const Ranks& ranks, std::uint64_t num_rows) {
  const PartRange parts = parts_of_rank(ranks.rank(), ranks.size());
  return {begin_of_part(parts.first, num_rows), begin_of_part(parts.last, num_rows)};
}

RankRows whole_table(std::uint64_t num_rows) {
  return {.rows = {0, num_rows},
          .gather = [](std::string_view own) { return std::vector{std::string(own)}; }};
}

RowRange places_of(RowRange range, std::span<const std::uint64_t> rows) {
  const auto place = [&](std::uint64_t row) {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(rows, row) - rows.begin());
  };
  return {place(range.begin), place(range.end)};
}

}  // namespace espalier
