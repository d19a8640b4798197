// SPDX-License-Identifier: Apache-2.0
// Which rows each member of an ensemble holds out to choose its epoch on: other rows for each. So
// every row trains some members, and is predicted by members that have not seen it.
#pragma once

#include <span>
#include <vector>

#include "encode/dataset.h"
#include "espalier/ranks.h"
#include "train/problem.h"

namespace espalier {

/// What members predict for the rows that they have not seen, summed over them.
struct OutOfFoldSums {
  std::vector<double> sums;  // [row][num_scores]
  std::vector<int> counts;   // of members, for each row
};

/// Rows that were held out, and the mean of the outputs of the members that held them out.
struct OutOfFoldRows {
  Dataset rows;                 // without cells
  std::vector<double> outputs;  // [row][num_scores]
};

class Rotation {
 public:
  /// Of the training and validation rows together; `problem` outlives it.
  explicit Rotation(const Problem& problem);

  /// The problem of a member, counted from 1; the first holds out the validation rows of `problem`.
  /// All ranks that have the rows between them call it, and its rows are divided as those of
  /// `problem`.
  Problem part(int member, Ranks* ranks = nullptr) const;

  /// Adds what a member predicts for the rows that it held out, its part's `valid`; outputs:
  /// [row][num_scores].
  void add(int member, std::span<const float> outputs, OutOfFoldSums& sums) const;

  /// All rows that were held out.
  OutOfFoldRows mean_of(const OutOfFoldSums& sums) const;

 private:
  Split split(int member) const;
  Dataset rows_of(const Rows& rows, bool to_train, Ranks* ranks) const;
  void append_cells(std::uint64_t row, Dataset& data) const;
  void append(std::uint64_t row, bool to_train, Dataset& data) const;

  const Problem& problem_;
  Rows order_;  // train's rows are 0, 1, ...; valid's come behind them
};

}  // namespace espalier
