// SPDX-License-Identifier: Apache-2.0
// A boosted tree: splits, each of which divides the rows of one leaf, and leaf values that never
// decrease along monotone columns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boost/bins.h"
#include "boost/partition.h"
#include "constraints/inequalities.h"
#include "core/bytes.h"
#include "espalier/architecture.h"

namespace espalier {

/// A row goes right if `right` is 1 for its bin.
struct TreeSplit {
  std::size_t column = 0;           // of the bins
  std::vector<std::uint8_t> right;  // of each bin

  GoesRight goes_right() const;

  friend bool operator==(const TreeSplit&, const TreeSplit&) = default;
};

/// Splits and leaves, each in reading order: a split, then what lies left of it, then what lies
/// right.
struct Tree {
  std::vector<TreeSplit> splits;
  /// Left and right of each split: a split, or the leaf ~next.
  std::vector<std::array<std::int32_t, 2>> next;
  std::vector<float> values;  // of the leaves

  std::size_t leaf(const BinnedRows& bins, std::size_t row) const;

  friend bool operator==(const Tree&, const Tree&) = default;
};

/// Whether it could have been grown on such columns.
bool fits(const Tree& tree, std::span<const ColumnBins> columns);

/// Trees as the bytes of a checkpoint, and back. What is read is a list of trees of any columns.
void put_trees(std::string& out, std::span<const Tree> trees);
std::vector<Tree> read_trees(Reader& reader);

/// The tree as an architecture has it; node_of translates a split.
std::vector<TreeNode> nodes_of(const Tree& tree,
                               const std::function<TreeNode(const TreeSplit&)>& node_of);

/// Which leaves must be in order, where every way in which a category or missing values are divided
/// is a wire of its own, as in a network.
std::vector<Order> leaf_orders(const Tree& tree, std::span<const ColumnBins> columns);

/// Adds the leaf values of the rows [begin, begin + sums.size()), at most kMaxRowsAtOnce, to sums.
inline constexpr std::size_t kMaxRowsAtOnce = 8192;
void add_values(const Tree& tree, const BinnedRows& bins, std::size_t begin, std::span<float> sums);

}  // namespace espalier
