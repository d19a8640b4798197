// SPDX-License-Identifier: Apache-2.0
// Grows a tree from the gradients and hessians of the loss of each row: the next split is always
// the best one of any leaf. The values of the finished tree are projected onto the orders between
// its leaves, so that they never decrease along monotone columns.
//
// The loss of a quantile has a corner and no hessian. Its rows count by their weight instead, and
// the value of a leaf is the quantile of the residuals of its rows, shrunk to 0 as other values
// are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/bins.h"
#include "boost/gradient_sums.h"
#include "boost/histogram.h"
#include "boost/partition.h"
#include "boost/row_blocks.h"
#include "boost/split_search.h"
#include "boost/tree.h"
#include "core/thread_pool.h"

namespace espalier {

/// A label less its prediction, and the share of such rows that should lie below the prediction.
struct Residual {
  float value = 0;
  float quantile = 0;
  float weight = 1;
};

struct Growth {
  int leaves = 31;
  double rate = 0.1;    // leaf values are multiplied by it
  double max_step = 0;  // of a leaf, before the rate; 0: any
  LeafScore score = {};
  std::span<const Residual> residuals{};  // of every row where values are quantiles; else empty
};

/// Grows trees on the rows of one dataset. The number of threads does not change them.
class TreeGrower {
 public:
  /// Columns, bins and threads outlive it.
  TreeGrower(std::span<const ColumnBins> columns, const BinnedRows& bins, ThreadPool& pool);

  /// A tree with splits on the candidate columns, which ascend. It has fewer leaves than it may
  /// where no further split improves the loss. gradients: of every row.
  Tree grow(std::span<const GradientPair> gradients, std::span<const std::size_t> candidates,
            const Growth& growth);

  /// Adds the values of the tree that was grown last to the sum of each row.
  void add_values(const Tree& tree, std::span<float> sums) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Where a node hangs: left (0) or right (1) of a split.
  struct Place {
    std::int32_t split = -1;  // -1: it is the root
    int side = 0;
  };
  // Its rows are [begin, end) of the partition.
  struct Leaf {
    std::size_t begin = 0;
    std::size_t end = 0;
    GradientSums total;
    std::size_t histogram = kNone;  // none if it will not be split
    SplitChoice best;
    Place place;

    std::size_t size() const { return end - begin; }
  };
  struct Node {
    TreeSplit split;
    std::array<std::int32_t, 2> next;  // a node, or the leaf ~next
  };

  void plant();
  void split_leaf(std::size_t index);
  TreeSplit split_of(const Leaf& leaf);
  void find_splits(Leaf& small, Leaf& large);
  void keep_best(Leaf& leaf, int side);
  template <class Search>
  void for_columns(Search&& search);
  Tree finished();
  void set_values(Tree& tree, std::span<const std::size_t> order);
  double step_of(const Leaf& leaf) const;

  std::span<const ColumnBins> columns_;
  const BinnedRows& bins_;
  ThreadPool& pool_;
  RowBlocks blocks_;
  RowPartition partition_;
  HistogramBuilder builder_;
  HistogramPool histograms_;
  Growth growth_;
  HistogramLayout layout_;
  std::span<const GradientPair> gradients_;
  std::vector<Leaf> leaves_;
  std::vector<Node> nodes_;
  std::vector<std::array<SplitChoice, 2>> found_;  // of each candidate column, for two leaves
  std::vector<std::size_t> leaf_begins_;           // of the tree grown last, in reading order
};

}  // namespace espalier
