// SPDX-License-Identifier: Apache-2.0
#include "serve/word_sets.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

// Those whose value in the table is above a number; the value is as CellTable says.
WordSet set_of(std::size_t wire, const CellTable& cell, float above) {
  WordSet set{.wire = wire,
              .num_codes = cell.table.size(),
              .words = std::vector<std::uint64_t>((cell.table.size() + 63) / 64)};
  for (std::size_t code = 0; code < cell.table.size(); ++code) {
    const float y = std::fma(cell.back.range, cell.table[code] - 1, cell.back.low);
    if (y > above) set.words[code / 64] |= std::uint64_t{1} << code % 64;
  }
  return set;
}

}  // namespace

CodeTrees ask_codes(const GatherStep& gather, const CellStep& cells, TreeStep trees) {
  CodeTrees made;
  const auto add_wire = [&](std::size_t from, const CellTable& cell) {
    made.gather.wires.push_back(from);
    made.cells.cells.push_back(cell);
    return made.gather.wires.size() - 1;
  };
  std::vector<std::size_t> wires(cells.cells.size());
  std::map<std::size_t, std::size_t> codes;  // the wire of a column's code
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const std::size_t column = gather.wires[i];
    if (cells.cells[i].kind != CellTable::Kind::category) {
      wires[i] = add_wire(column, cells.cells[i]);
    } else {
      const auto [at, is_new] = codes.try_emplace(column, 0);
      if (is_new) at->second = add_wire(column, CellTable());
      wires[i] = at->second;
    }
  }
  // The sets that are asked for, and their numbers: by wire, then by table and number.
  std::map<std::tuple<std::size_t, std::int32_t, float>, std::int32_t> sets;
  const auto is_category = [&](const TreeQuestion& question) {
    return cells.cells[static_cast<std::size_t>(question.wire)].kind == CellTable::Kind::category;
  };
  const auto key_of = [&](const TreeQuestion& question) {
    return std::tuple(wires[static_cast<std::size_t>(question.wire)], question.wire,
                      question.above);
  };
  for (const TreeQuestion& question : trees.plan.questions) {
    if (is_category(question)) sets.emplace(key_of(question), 0);
  }
  for (auto& [key, number] : sets) {
    const auto [wire, table, above] = key;
    number = ~static_cast<std::int32_t>(made.sets.size());
    made.sets.push_back(set_of(wire, cells.cells[static_cast<std::size_t>(table)], above));
  }
  for (TreeQuestion& question : trees.plan.questions) {
    question.wire = is_category(question)
                        ? sets.at(key_of(question))
                        : static_cast<std::int32_t>(wires[static_cast<std::size_t>(question.wire)]);
  }
  made.trees = std::move(trees);
  return made;
}

}  // namespace espalier
