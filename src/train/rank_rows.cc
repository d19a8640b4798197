// SPDX-License-Identifier: Apache-2.0
#include "train/rank_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/large_vector.h"
#include "espalier/error.h"
#include "train/batches.h"
#include "train/gradient_sum.h"

namespace espalier {
namespace {

RowRange overlap(const RowRange& a, const RowRange& b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// What lies in an array of `width` numbers a row, the first of which is `first`.
template <class T>
std::span<T> rows_in(std::span<T> array, std::uint64_t first, const RowRange& rows,
                     std::size_t width) {
  return array.subspan((rows.begin - first) * width, rows.size() * width);
}

// The cells of a column from all ranks, each of which has those of its rows.
template <class T>
LargeVector<T> gather_cells(Ranks& ranks, const std::vector<RowRange>& have,
                            std::span<const T> own) {
  LargeVector<T> all(have.back().end);
  std::vector<std::span<std::byte>> receive;
  for (const RowRange& rows : have)
    receive.push_back(std::as_writable_bytes(rows_in(std::span(all), 0, rows, 1)));
  tell_all(ranks, std::as_bytes(own), receive);
  return all;
}

// The columns that were gathered, and what the others borrow from.
struct Gathered {
  std::shared_ptr<const void> others;
  std::vector<LargeVector<float>> numbers = {};
  std::vector<LargeVector<double>> exact = {};
  std::vector<LargeVector<std::int32_t>> codes = {};
};

void complete_column(Ranks& ranks, const std::vector<RowRange>& have, Gathered& memory,
                     Column& column) {
  if (column.type == ColumnType::category) {
    memory.codes.push_back(gather_cells(ranks, have, column.category_codes()));
    column.codes.clear();
    column.borrowed_codes = memory.codes.back();
    return;
  }
  const bool has_doubles = !column.doubles().empty();
  const std::vector<char> doubles = gather_values(ranks, static_cast<char>(has_doubles));
  if (std::ranges::count(doubles, 1) > 0) {
    const std::vector<double> widened(column.values().begin(), column.values().end());
    memory.exact.push_back(
        gather_cells(ranks, have, has_doubles ? column.doubles() : std::span(widened)));
    column.exact.clear();
    column.borrowed_exact = memory.exact.back();
  }
  memory.numbers.push_back(gather_cells(ranks, have, column.values()));
  column.numbers.clear();
  column.borrowed = memory.numbers.back();
}

// Moves cells so that each rank has those of the rows that it wants.
void move_cells(const std::vector<RowRange>& wanted, Ranks& ranks, Dataset& data) {
  const RowRange own = data.own_rows();
  const RowRange& to_have = wanted[static_cast<std::size_t>(ranks.rank())];
  const std::vector<RowRange> have = gather_values(ranks, own);
  LargeVector<float> cells(to_have.size() * data.num_features);
  std::vector<std::span<const std::byte>> send;
  std::vector<std::span<std::byte>> receive;
  for (std::size_t q = 0; q < have.size(); ++q) {
    const RowRange out = overlap(own, wanted[q]), in = overlap(have[q], to_have);
    const bool sends = out.size() > 0, receives = in.size() > 0;
    send.push_back(sends ? std::as_bytes(rows_in(std::span<const float>(data.cells), own.begin, out,
                                                 data.num_features))
                         : std::span<const std::byte>());
    receive.push_back(receives ? std::as_writable_bytes(rows_in(std::span(cells), to_have.begin, in,
                                                                data.num_features))
                               : std::span<std::byte>());
  }
  ranks.exchange(send, receive);
  data.cells = std::move(cells);
  data.first = to_have.begin;
}

}  // namespace

RankRows share_of(Ranks* ranks, std::size_t many_rows, const std::vector<std::string>& in_full,
                  Table& table) {
  RowRange own{0, table.num_rows};
  std::vector<RowRange> have{own};
  if (ranks != nullptr) {
    own = {table.first_row, table.first_row + table.num_rows};
    have = gather_values(*ranks, own);
  }
  const bool is_whole = std::ranges::count(have, RowRange{0, have.front().end}) ==
                        static_cast<std::ptrdiff_t>(have.size());
  const std::uint64_t num_rows = have.back().end;
  RankRows share = whole_table(num_rows);
  if (num_rows < many_rows && is_whole) return share;
  if (ranks == nullptr) return share;
  const auto [first, last] = rows_of_rank(*ranks, num_rows);
  share.is_divided = true;
  share.rows = {first, last};
  share.gather = [ranks](std::string_view text) { return gather(ranks, text); };
  if (is_whole) return share;
  if (num_rows < many_rows || own != RowRange{first, last}) {
    throw Error(
        ErrorKind::argument,
        fmt::format("{}: rows {} to {} of {}: a rank has all rows, or those of rows_of_rank",
                    table.name, own.begin, own.end, num_rows));
  }
  const auto memory = std::make_shared<Gathered>(Gathered{table.memory});
  for (Column& column : table.columns) {
    if (std::ranges::find(in_full, column.name) != in_full.end())
      complete_column(*ranks, have, *memory, column);
  }
  table.memory = memory;
  table.num_rows = num_rows;
  table.first_row = 0;
  share.first = own.begin;
  return share;
}

Table borrowed(const Table& table) {
  Table view{.name = table.name, .num_rows = table.num_rows, .first_row = table.first_row};
  for (const Column& column : table.columns) {
    view.columns.push_back({.name = column.name,
                            .type = column.type,
                            .borrowed = column.values(),
                            .categories = column.categories,
                            .missing = column.missing,
                            .not_missing = column.not_missing,
                            .borrowed_exact = column.doubles(),
                            .borrowed_codes = column.category_codes()});
  }
  return view;
}

std::vector<RowRange> training_parts(std::uint64_t num_rows, int batch_size,
                                     std::size_t many_rows) {
  if (num_rows < many_rows) return {{0, num_rows}};
  std::vector<RowRange> parts;
  for (int shard = 0; shard < num_shards_of(batch_size); ++shard)
    parts.push_back(part_of({shard, shard + 1}, num_rows, batch_size));
  return parts;
}

void divide_cells(int batch_size, std::size_t many_rows, Ranks* ranks, Dataset& data) {
  if (ranks == nullptr || !data.is_divided) return;
  if (data.num_rows < many_rows) return complete_cells(ranks, data);
  std::vector<RowRange> wanted;
  for (int rank = 0; rank < ranks->size(); ++rank)
    wanted.push_back(part_of(shards_of(rank, ranks->size(), num_shards_of(batch_size)),
                             data.num_rows, batch_size));
  move_cells(wanted, *ranks, data);
}

void complete_cells(Ranks* ranks, Dataset& data) {
  if (ranks == nullptr || !data.is_divided) return;
  const auto size = static_cast<std::size_t>(ranks->size());
  move_cells(std::vector<RowRange>(size, {0, data.num_rows}), *ranks, data);
  data.is_divided = false;
}

Dataset subset(const Dataset& data, const Rows& rows, Ranks* ranks) {
  if (ranks == nullptr || !data.is_divided) return subset(data, rows);
  Dataset part = subset_without_cells(data, rows);
  part.is_divided = true;
  const RowRange places = places_of(data.own_rows(), rows);
  part.first = places.begin;
  for (std::uint64_t i = places.begin; i < places.end; ++i)
    part.cells.insert(part.cells.end(), data.row(rows[i]), data.row(rows[i] + 1));
  complete_cells(ranks, part);
  return part;
}

}  // namespace espalier
