// SPDX-License-Identifier: Apache-2.0
// The encoded cells of a table as small whole numbers, column by column: what histograms count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_vector.h"
#include "core/thread_pool.h"
#include "data/dataset.h"
#include "layers/layer.h"

namespace espalier {

inline constexpr std::size_t kMostBins = 254;  // of the values of a column

/// How the cells of one column fall into bins: numbers by their position, in order, and before them
/// missing cells in a bin of their own; categories by their word, the rarest of very many together,
/// and words that the schema does not have in the last bin.
struct ColumnBins {
  std::size_t wire = 0;
  bool monotone = false;
  bool is_category = false;
  bool is_level = false;     // the level at which a network is asked, and no column of the table
  bool has_missing = false;  // bin 0 is that of missing cells
  std::size_t num_bins = 0;
  std::vector<float> least;           // numbers: of the training rows in each bin; not of bin 0 if
  std::vector<float> largest;         // that is the missing one
  std::vector<std::uint8_t> of_code;  // categories: the bin of each word, then of an unseen one

  std::size_t first_value() const { return has_missing ? 1 : 0; }
  std::uint8_t bin_of(float cell) const;
};

/// [column][row]; of a label with levels each row comes once a level, one after another.
class BinnedRows {
 public:
  BinnedRows(std::span<const ColumnBins> columns, const Dataset& data, const Label& label,
             ThreadPool& pool);

  std::size_t num_rows() const { return num_rows_; }
  const std::uint8_t* column(std::size_t index) const { return bins_.data() + index * num_rows_; }

 private:
  std::size_t num_rows_;
  LargeVector<std::uint8_t> bins_;
};

/// The columns of a dataset that have more than one bin. wires: those of the features, in order.
std::vector<ColumnBins> fit_bins(std::span<const Wire> wires, const Dataset& train,
                                 ThreadPool& pool);

/// Those of the level, one a level, in the order of their positions. wire: its number in a network.
ColumnBins bins_of_levels(const Label& label, std::size_t wire);

}  // namespace espalier
