// SPDX-License-Identifier: Apache-2.0
// Which rows each network of an ensemble holds out to choose its epoch on: another part of the
// table for each. So no row is lost to training, and every row is judged by networks that have not
// seen it.
#pragma once

#include <span>
#include <vector>

#include "data/dataset.h"
#include "espalier/metrics.h"
#include "model/network.h"
#include "train/prepare.h"
#include "train/team.h"

namespace espalier {

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

  /// Adds what a network says of the rows that it held out, its part's `valid`.
  void judge(int network, const Network& trained, const Dataset& valid, Team& team);

  struct Judged {
    Dataset rows;               // without cells
    std::vector<float> scores;  // [row][num_scores]
  };
  /// All rows that were held out, each scored by the networks that held it out, in the units of the
  /// finished model's label.
  Judged judged(const Label& label) const;

 private:
  Split split(int network) const;
  Dataset rows_of(const Rows& rows, bool to_train, Ranks* ranks) const;
  void append_cells(std::uint64_t row, Dataset& data) const;
  void append(std::uint64_t row, bool to_train, Dataset& data) const;

  const Prepared& prepared_;
  Rows order_;                // train's rows are 0, 1, ...; valid's come behind them
  std::vector<double> sums_;  // [row][num_scores], of the networks that held a row out
  std::vector<int> counts_;
};

}  // namespace espalier
