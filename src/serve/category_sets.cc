// SPDX-License-Identifier: Apache-2.0
#include "serve/category_sets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace espalier {

namespace {

// Those whose value in the table is above a number; the value is as CellTable says.
CategorySet set_of(std::size_t wire, const CellTable& cell, float above) {
  CategorySet set{.wire = wire,
                  .num_codes = cell.table.size(),
                  .bits = std::vector<std::uint64_t>((cell.table.size() + 63) / 64)};
  for (std::size_t code = 0; code < cell.table.size(); ++code) {
    const float y = std::fma(cell.back.range, cell.table[code] - 1, cell.back.low);
    if (y > above) set.bits[code / 64] |= std::uint64_t{1} << code % 64;
  }
  return set;
}

}  // namespace

CodeTrees ask_codes(const GatherStep& gather, const CellStep& cells, TreeStep trees) {
  // Of each table that all questions compare with the same number, this number.
  std::vector<std::optional<float>> above(cells.cells.size());
  std::vector<bool> passes;
  for (const CellTable& cell : cells.cells)
    passes.push_back(cell.kind == CellTable::Kind::category);
  for (const TreeQuestion& question : trees.plan.questions) {
    const auto table = static_cast<std::size_t>(question.wire);
    if (above[table].value_or(question.above) != question.above) passes[table] = false;
    above[table] = question.above;
  }
  CodeTrees made;
  const auto add_wire = [&](std::size_t from, const CellTable& cell) {
    made.gather.wires.push_back(from);
    made.cells.cells.push_back(cell);
    return made.gather.wires.size() - 1;
  };
  std::vector<std::size_t> by_column(passes.size());
  std::iota(by_column.begin(), by_column.end(), std::size_t{0});
  std::ranges::stable_sort(by_column, {}, [&](std::size_t i) { return gather.wires[i]; });
  std::vector<std::int32_t> wires(passes.size());  // of each table, or its set as ~number
  std::map<std::size_t, std::size_t> codes;        // the wire of a column's code
  for (const std::size_t i : by_column) {
    if (!passes[i]) {
      wires[i] = static_cast<std::int32_t>(add_wire(gather.wires[i], cells.cells[i]));
      continue;
    }
    const auto [at, is_new] = codes.try_emplace(gather.wires[i], 0);
    if (is_new) at->second = add_wire(gather.wires[i], CellTable());
    wires[i] = ~static_cast<std::int32_t>(made.sets.size());
    made.sets.push_back(set_of(at->second, cells.cells[i], above[i].value_or(0)));
  }
  for (TreeQuestion& question : trees.plan.questions)
    question.wire = wires[static_cast<std::size_t>(question.wire)];
  made.trees = std::move(trees);
  return made;
}

}  // namespace espalier
