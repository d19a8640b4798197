// SPDX-License-Identifier: Apache-2.0
#include "boost/tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "constraints/orders.h"
#include "layers/trees.h"

namespace espalier {

GoesRight TreeSplit::goes_right() const {
  GoesRight table{};
  std::ranges::copy(right, table.begin());
  return table;
}

std::size_t Tree::leaf(const BinnedRows& bins, std::size_t row) const {
  std::int32_t at = splits.empty() ? ~0 : 0;
  while (at >= 0) {
    const auto split = static_cast<std::size_t>(at);
    at = next[split][splits[split].right[bins.column(splits[split].column)[row]]];
  }
  return static_cast<std::size_t>(~at);
}

// In reading order a child on the left comes right behind its parent, and leaves come in order.
bool fits(const Tree& tree, std::span<const ColumnBins> columns) {
  if (tree.next.size() != tree.splits.size() || tree.values.size() != tree.splits.size() + 1)
    return false;
  std::int32_t split = 0, leaf = 0;
  std::vector<std::int32_t> waiting;  // the right sides of splits whose left side is being read
  const auto is_next = [&](std::int32_t at) { return at == split || at == ~leaf; };
  std::int32_t at = tree.splits.empty() ? ~0 : 0;
  while (true) {
    if (!is_next(at)) return false;
    if (at >= 0) {
      const auto own = static_cast<std::size_t>(split++);
      if (own >= tree.splits.size()) return false;
      const TreeSplit& node = tree.splits[own];
      if (node.column >= columns.size()) return false;
      if (node.right.size() != columns[node.column].num_bins) return false;
      if (std::ranges::any_of(node.right, [](std::uint8_t side) { return side > 1; })) return false;
      waiting.push_back(tree.next[own][1]);
      at = tree.next[own][0];
      continue;
    }
    ++leaf;
    if (waiting.empty()) break;
    at = waiting.back();
    waiting.pop_back();
  }
  return static_cast<std::size_t>(split) == tree.splits.size();
}

void put_trees(std::string& out, std::span<const Tree> trees) {
  put(out, static_cast<std::uint64_t>(trees.size()));
  for (const Tree& tree : trees) {
    put(out, static_cast<std::uint64_t>(tree.splits.size()));
    for (std::size_t s = 0; s < tree.splits.size(); ++s) {
      put(out, static_cast<std::uint64_t>(tree.splits[s].column));
      put_text(out, raw_bytes(std::span<const std::uint8_t>(tree.splits[s].right)));
      put(out, tree.next[s]);
    }
    put_floats(out, tree.values);
  }
}

std::vector<Tree> read_trees(Reader& reader) {
  std::vector<Tree> trees;
  for (auto left = reader.get<std::uint64_t>("trees"); left > 0; --left) {
    Tree& tree = trees.emplace_back();
    for (auto splits = reader.get<std::uint64_t>("splits"); splits > 0; --splits) {
      TreeSplit& split = tree.splits.emplace_back();
      split.column = reader.get<std::uint64_t>("column of a split");
      split.right = numbers_of<std::uint8_t>(reader.text("bins of a split"));
      tree.next.push_back(reader.get<std::array<std::int32_t, 2>>("sides of a split"));
    }
    tree.values = reader.floats("leaf values");
  }
  return trees;
}

std::vector<TreeNode> nodes_of(const Tree& tree,
                               const std::function<TreeNode(const TreeSplit&)>& node_of) {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> waiting = {tree.splits.empty() ? ~0 : 0};
  while (!waiting.empty()) {
    const std::int32_t at = waiting.back();
    waiting.pop_back();
    if (at < 0) {
      nodes.emplace_back();
      continue;
    }
    const auto split = static_cast<std::size_t>(at);
    nodes.push_back(node_of(tree.splits[split]));
    for (const int answer : {1, 0}) waiting.push_back(tree.next[split][answer]);
  }
  return nodes;
}

// All cuts of a column of numbers lie on one wire, except the split that divides missing values
// from all others: as network_of has it.
std::vector<Order> leaf_orders(const Tree& tree, std::span<const ColumnBins> columns) {
  using Reading = std::pair<std::size_t, std::vector<std::uint8_t>>;
  std::map<Reading, int> wires;
  std::vector<bool> is_monotone;
  const std::vector<TreeNode> nodes = nodes_of(tree, [&](const TreeSplit& split) {
    const ColumnBins& column = columns[split.column];
    Reading reading = {split.column, {}};
    float above = 0.5;
    if (column.is_category) {
      reading.second = split.right;
    } else {
      const auto left =
          std::count(split.right.begin() + static_cast<std::ptrdiff_t>(column.first_value()),
                     split.right.end(), 0);
      if (column.has_missing)
        reading.second = {split.right[0], static_cast<std::uint8_t>(left == 0)};
      above += static_cast<float>(left);
    }
    const auto [at, is_new] = wires.emplace(std::move(reading), static_cast<int>(wires.size()));
    if (is_new) is_monotone.push_back(column.monotone);
    return TreeNode{at->second, above};
  });
  return leaf_orders(nodes, [&](int wire) { return is_monotone[static_cast<std::size_t>(wire)]; });
}

// Divides the rows as the tree does, split by split.
void add_values(const Tree& tree, const BinnedRows& bins, std::size_t begin,
                std::span<float> sums) {
  using Row = std::uint16_t;
  struct Part {
    std::size_t begin, end;
  };
  std::array<Row, kMaxRowsAtOnce> rows, right;
  std::iota(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(sums.size()), Row{0});
  std::vector<Part> of_split(std::max<std::size_t>(tree.splits.size(), 1));
  const auto arrive = [&](std::int32_t at, Part own) {
    if (at >= 0) {
      of_split[static_cast<std::size_t>(at)] = own;
      return;
    }
    const float value = tree.values[static_cast<std::size_t>(~at)];
    for (std::size_t k = own.begin; k < own.end; ++k) sums[rows[k]] += value;
  };
  arrive(tree.splits.empty() ? ~0 : 0, {0, sums.size()});
  for (std::size_t s = 0; s < tree.splits.size(); ++s) {
    const TreeSplit& split = tree.splits[s];
    const Part own = of_split[s];
    Row* const first = rows.data() + own.begin;
    const std::size_t left =
        divide_rows(first, own.end - own.begin, bins.column(split.column) + begin,
                    split.goes_right(), first, right.data());
    std::copy_n(right.data(), own.end - own.begin - left, first + left);
    arrive(tree.next[s][0], {own.begin, own.begin + left});
    arrive(tree.next[s][1], {own.begin + left, own.end});
  }
}

}  // namespace espalier
