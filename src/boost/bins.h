// SPDX-License-Identifier: Apache-2.0
// The encoded values of a dataset as small integers, column by column. Trees split on these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_vector.h"
#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "layers/layer.h"

namespace espalier {

inline constexpr std::size_t kMaxBins = 254;  // of the values of a column

/// How the values of one column fall into bins. Numbers: by their position, in order, behind a bin
/// for missing values. Categories: a bin each, but the rarest of very many share one; unseen
/// categories are in the last bin.
struct ColumnBins {
  std::size_t wire = 0;
  bool monotone = false;
  bool is_category = false;
  bool is_level = false;     // the level of a quantile or grade, which is no column of the dataset
  bool has_missing = false;  // bin 0 is for missing values
  std::size_t num_bins = 0;
  std::vector<float> least;  // numbers: of the training rows in each bin
  std::vector<float> largest;
  std::vector<std::uint8_t> of_code;  // categories: the bin of each code, then of an unseen one

  std::size_t first_value() const { return has_missing ? 1 : 0; }
  /// Writes the bin of each value.
  void find(std::span<const float> values, std::uint8_t* bins) const;
};

/// [column][row]. With levels, each row comes once per level, one after another.
class BinnedRows {
 public:
  BinnedRows(std::span<const ColumnBins> columns, const Dataset& data, const Label& label,
             ThreadPool& pool);

  std::size_t num_rows() const { return num_rows_; }
  std::size_t num_columns() const { return num_columns_; }
  const std::uint8_t* column(std::size_t index) const { return bins_.data() + index * num_rows_; }

 private:
  std::size_t num_rows_;
  std::size_t num_columns_;
  LargeVector<std::uint8_t> bins_;
};

/// The columns of a dataset that have more than one bin. wires: those of the features, in order.
std::vector<ColumnBins> fit_bins(std::span<const Wire> wires, const Dataset& train,
                                 ThreadPool& pool);

/// The levels, a bin each, in the order of their positions. wire: its number in a network.
ColumnBins bins_of_levels(const Label& label, std::size_t wire);

}  // namespace espalier
