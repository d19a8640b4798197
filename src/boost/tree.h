// SPDX-License-Identifier: Apache-2.0
// A symmetric tree: all nodes of a level ask the same question, so that a tree of depth D is D
// questions and a table of 2^D leaves; bit d of a leaf is the answer to question d. That is a lattice
// whose inputs are steps, and it never falls along the questions that ask for a monotone column.
//
// A tree is grown from the slopes g and curvatures h of the loss of each row. A leaf of rows with the
// sums G and H gets the value -G / (H + pull), which lowers the loss by G^2 / (H + pull) / 2; the
// question of a level is the one whose leaves lower it most. Sides of a monotone column that would
// fall are one leaf for that count, and the finished leaves are projected.
//
// Sums are whole numbers, so that their order, and with it the number of threads, does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/bins.h"
#include "core/random.h"
#include "core/thread_pool.h"

namespace espalier {

/// One question. A row whose bin is `right` answers 1.
struct TreeSplit {
  std::size_t column = 0;           // of the bins
  std::vector<std::uint8_t> right;  // of each bin

  friend bool operator==(const TreeSplit&, const TreeSplit&) = default;
};

struct Tree {
  std::vector<TreeSplit> splits;
  std::vector<float> leaves;  // [2^splits.size()]
};

/// Slope and curvature of a row's loss, in units that all rows share.
struct Newton {
  std::int32_t slope = 0;
  std::int32_t curvature = 0;
};

struct Growth {
  int depth = 6;
  double rate = 0.1;          // leaves are multiplied by it
  double pull = 0;            // in units of the curvature
  double longest_step = 0;    // of a leaf, before the rate; 0: any
  double slope_unit = 1;      // of Newton
  double curvature_unit = 1;  // of Newton
};

/// Grows trees on the rows of one table. What it makes does not depend on the number of threads.
class TreeGrower {
 public:
  /// Columns, bins and threads outlive it.
  TreeGrower(std::span<const ColumnBins> columns, const BinnedRows& bins, ThreadPool& pool);

  /// A tree that asks for some columns; it has fewer questions than its depth where no further one
  /// lowers the loss. newton: of every row.
  Tree grow(std::span<const Newton> newton, std::span<const std::size_t> asked,
            const Growth& growth);

 private:
  // The rows of a leaf are [begin, end) of those below.
  struct Leaf {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
  };
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
    Sums& operator-=(const Sums& other) {
      slope -= other.slope;
      curvature -= other.curvature;
      return *this;
    }
    bool is_zero() const { return slope == 0 && curvature == 0; }
    Sums operator-(const Sums& other) const {
      return {slope - other.slope, curvature - other.curvature};
    }
  };
  struct Found;

  double slope(const Sums& sums) const;
  double room(const Sums& sums) const;
  double gain(const Sums& sums) const;
  double gain_of(const Sums& left, const Sums& right, bool rises) const;

  TreeSplit best_split(std::span<const std::size_t> asked);
  Found best_of_column(std::size_t index, const std::vector<Sums>& sums) const;
  std::vector<Sums> next_histogram(std::size_t column, std::vector<Sums> before) const;
  std::vector<std::size_t> order_of(const ColumnBins& column, const std::vector<Sums>& sums) const;
  TreeSplit split_of(std::size_t index, const std::vector<std::size_t>& order, std::size_t left,
                     bool missing_right) const;
  void divide(const TreeSplit& split);
  std::vector<float> leaf_values(const std::vector<TreeSplit>& splits) const;

  std::span<const ColumnBins> columns_;
  const BinnedRows& bins_;
  ThreadPool& pool_;
  Growth growth_;
  LargeVector<OwnRow> rows_;  // ordered by leaf
  LargeVector<OwnRow> right_;
  std::vector<Leaf> leaves_;
  std::vector<std::vector<Sums>> histograms_;  // of each column asked for: [leaf][bin]
};

/// Adds the leaf of each row.
void add_leaves(const Tree& tree, const BinnedRows& bins, std::span<float> sums, ThreadPool& pool);

}  // namespace espalier
