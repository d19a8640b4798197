// SPDX-License-Identifier: Apache-2.0
// A boosted tree: questions about columns, each of which divides the rows of one leaf, and values
// of the leaves that never fall along monotone columns.
//
// A tree is grown from the slopes g and curvatures h of the loss of each row. A leaf of rows with
// the sums G and H gets the value -G / (H + pull), which lowers the loss by G^2 / (H + pull) / 2.
// The next question is the one that lowers it most, of all that any leaf could ask. Sides of a
// monotone column that would fall are not divided, and the values of the finished tree are
// projected onto the orders between its leaves.
//
// A quantile's loss has a corner and no curvature: rows count by their weight instead, and the
// value of a leaf is the quantile of what its rows lack, drawn to 0 as others are.
//
// Sums are whole numbers, so that their order, and with it the number of threads, does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boost/bins.h"
#include "constraints/inequalities.h"
#include "core/thread_pool.h"
#include "espalier/architecture.h"

namespace espalier {

/// One question. A row whose bin is `right` answers 1.
struct TreeSplit {
  std::size_t column = 0;           // of the bins
  std::vector<std::uint8_t> right;  // of each bin

  friend bool operator==(const TreeSplit&, const TreeSplit&) = default;
};

/// Questions and leaves, each in the order in which one reads them: a question, then what follows
/// the answer 0, then what follows the answer 1.
struct Tree {
  std::vector<TreeSplit> splits;
  /// Of each split and answer: a split, or the leaf ~next.
  std::vector<std::array<std::int32_t, 2>> next;
  std::vector<float> values;  // of the leaves

  std::size_t leaf(const BinnedRows& bins, std::size_t row) const;
};

/// The same as an architecture has it; node_of says how a question is asked there.
std::vector<TreeNode> nodes_of(const Tree& tree,
                               const std::function<TreeNode(const TreeSplit&)>& node_of);

/// Which leaves must be in order, where every way in which a category or missing cells are divided
/// is a wire of its own, as in a network.
std::vector<Order> leaf_orders(const Tree& tree, std::span<const ColumnBins> columns);

/// Slope and curvature of a row's loss, in units that all rows share.
struct Newton {
  std::int32_t slope = 0;
  std::int32_t curvature = 0;
};

/// What a row lacks: its label less its prediction, and the share of such rows that should lie
/// below.
struct Lack {
  float value = 0;
  float share = 0;
  float weight = 1;
};

struct Growth {
  int leaves = 31;
  double rate = 0.1;              // values are multiplied by it
  double pull = 0;                // in units of the curvature
  double longest_step = 0;        // of a leaf, before the rate; 0: any
  double slope_unit = 1;          // of Newton
  double curvature_unit = 1;      // of Newton
  std::span<const Lack> lacks{};  // of every row where values are quantiles; else empty
};

/// Grows trees on the rows of one table. What it makes does not depend on the number of threads.
class TreeGrower {
 public:
  /// Columns, bins and threads outlive it.
  TreeGrower(std::span<const ColumnBins> columns, const BinnedRows& bins, ThreadPool& pool);

  /// A tree that asks for some columns; it has fewer leaves than it may where no further question
  /// lowers the loss. newton: of every row.
  Tree grow(std::span<const Newton> newton, std::span<const std::size_t> asked,
            const Growth& growth);

 private:
  struct OwnRow {
    std::uint32_t row;
    Newton newton;
  };
  struct Sums {
    std::int64_t slope = 0;
    std::int64_t curvature = 0;

    Sums& operator+=(const Sums& other) {
      slope += other.slope;
      curvature += other.curvature;
      return *this;
    }
    Sums operator-(const Sums& other) const {
      return {slope - other.slope, curvature - other.curvature};
    }
    bool is_zero() const { return slope == 0 && curvature == 0; }
  };
  using Histogram = std::vector<Sums>;  // of each bin of a column

  // The best question of a leaf, or of a column.
  struct Found {
    double gain = 0;  // 0: none lowers the loss
    TreeSplit split;
  };
  struct Place {                 // of a leaf: behind this answer
    std::int32_t question = -1;  // -1: nothing was asked yet
    int answer = 0;
  };
  // Its rows are [begin, end) of those below.
  struct Leaf {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<Histogram> histograms;  // of each column asked for
    Found best;
    Place place;

    std::size_t size() const { return end - begin; }
  };
  // A question that was asked, and what follows: a question, or the leaf ~next.
  struct Question {
    TreeSplit split;
    std::array<std::int32_t, 2> next;
  };

  double slope(const Sums& sums) const;
  double room(const Sums& sums) const;
  double gain(const Sums& sums) const;
  double gain_of(const Sums& left, const Sums& right, bool rises) const;

  void plant(std::span<const std::size_t> asked);
  void ask(std::size_t leaf, std::span<const std::size_t> asked);
  std::size_t divide(const Leaf& leaf);
  Histogram histogram_of(std::size_t column, const Leaf& leaf) const;
  std::vector<std::size_t> order_of(const ColumnBins& column, const Histogram& sums) const;
  Found best_of_column(std::size_t index, const Histogram& sums) const;
  TreeSplit split_of(std::size_t index, const std::vector<std::size_t>& order, std::size_t left,
                     bool missing_right) const;
  double step_of(const Leaf& leaf, const Sums& sums) const;
  Tree finished();
  void set_values(const std::vector<std::size_t>& leaf_order, Tree& tree) const;

  std::span<const ColumnBins> columns_;
  const BinnedRows& bins_;
  ThreadPool& pool_;
  Growth growth_;
  LargeVector<OwnRow> rows_;  // ordered by leaf
  LargeVector<OwnRow> right_;
  std::vector<Leaf> leaves_;
  std::vector<Question> questions_;
};

/// Adds the value of each row.
void add_values(const Tree& tree, const BinnedRows& bins, std::span<float> sums, ThreadPool& pool);

}  // namespace espalier
