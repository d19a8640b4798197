// SPDX-License-Identifier: Apache-2.0
// Which rows each network of an ensemble holds out to choose its epoch on: another part of the
// table for each. So no row is lost to training, and every row is judged by networks that have not
// seen it.
#pragma once

#include <span>
#include <vector>

#include "encode/dataset.h"
#include "espalier/ranks.h"
#include "train/prepare.h"

namespace espalier {

/// What networks say of the rows that they have not seen, summed over them.
struct HeldOutSums {
  std::vector<double> sums;  // [row][num_scores]
  std::vector<int> counts;   // of networks, for each row
};

/// Rows that were held out, and the mean of the outputs of the networks that held them out.
struct HeldOutRows {
  Dataset rows;                 // without cells
  std::vector<double> outputs;  // [row][num_scores]
};

class Rotation {
 public:
  /// Of the training and validation rows together; `prepared` outlives it.
  explicit Rotation(const Prepared& prepared);

  struct Part {
    Dataset train;
    Dataset valid;
  };
  /// For a network, counted from 1; the first holds out the validation rows of `prepared`. All ranks
  /// that have the rows between them call it, and its rows are divided as those of `prepared`.
  Part part(int network, Ranks* ranks = nullptr) const;

  /// Adds what a network says of the rows that it held out, its part's `valid`; outputs:
  /// [row][num_scores].
  void judge(int network, std::span<const float> outputs, HeldOutSums& sums) const;

  /// All rows that were held out.
  HeldOutRows judged(const HeldOutSums& sums) const;

 private:
  Split split(int network) const;
  Dataset rows_of(const Rows& rows, bool to_train, Ranks* ranks) const;
  void append_cells(std::uint64_t row, Dataset& data) const;
  void append(std::uint64_t row, bool to_train, Dataset& data) const;

  const Prepared& prepared_;
  Rows order_;  // train's rows are 0, 1, ...; valid's come behind them
};

}  // namespace espalier
