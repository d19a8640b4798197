// SPDX-License-Identifier: Apache-2.0
// Histograms: the sums of the gradients of the rows of a leaf in each bin of each candidate column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/gradient_sums.h"
#include "boost/row_blocks.h"
#include "core/large_vector.h"
#include "core/thread_pool.h"

namespace espalier {

/// Where the bins of each candidate column begin in the histogram of a leaf.
struct HistogramLayout {
  std::vector<std::size_t> columns;        // ascending
  std::vector<std::size_t> offsets = {0};  // one more than columns

  HistogramLayout() = default;
  HistogramLayout(std::span<const std::size_t> candidates, std::span<const ColumnBins> bins);
  std::size_t num_columns() const { return columns.size(); }
  std::size_t num_bins() const { return offsets.back(); }
};

/// Histograms that are no longer needed give their memory to the next ones.
class HistogramPool {
 public:
  /// Takes back all histograms. num_bins: of each one from now on.
  void reset(std::size_t num_bins);
  /// The number of a histogram, whose sums are arbitrary.
  std::size_t take();
  void give_back(std::size_t index) { free_.push_back(index); }
  std::span<GradientSums> operator[](std::size_t index) {
    return {histograms_[index].data(), num_bins_};
  }

 private:
  std::size_t num_bins_ = 0;
  std::vector<LargeVector<GradientSums>> histograms_;
  std::vector<std::size_t> free_;
};

/// Adds up rows. Blocks of columns and pieces of the rows run in parallel.
class HistogramBuilder {
 public:
  /// They outlive it.
  HistogramBuilder(const RowBlocks& blocks, ThreadPool& pool) : blocks_(blocks), pool_(pool) {}

  /// For the calls of build that follow. gradients: of every row.
  void reset(const HistogramLayout& layout, std::span<const GradientPair> gradients);

  /// Overwrites the histogram with sums of the rows. Sums of some of the rows may lie elsewhere
  /// until complete() has added them, for one candidate column after another or for several at a
  /// time.
  void build(std::span<const std::uint32_t> rows, std::span<GradientSums> histogram);
  void complete(std::size_t column, std::span<GradientSums> histogram) const;

 private:
  // The candidate columns [first, last) of a block.
  struct BlockPart {
    std::size_t block;
    std::size_t first;
    std::size_t last;
  };

  void add_rows(const BlockPart& part, std::span<const std::uint32_t> rows,
                GradientSums* histogram) const;

  const RowBlocks& blocks_;
  ThreadPool& pool_;
  const HistogramLayout* layout_ = nullptr;
  std::span<const GradientPair> gradients_;
  std::vector<BlockPart> parts_;
  std::size_t pieces_ = 1;                          // of the rows, in the last build
  std::vector<LargeVector<GradientSums>> partial_;  // of the second and further pieces
};

}  // namespace espalier
