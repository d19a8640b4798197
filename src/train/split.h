// SPDX-License-Identifier: Apache-2.0
// Which rows are trained on and which are held out: one splitter for validation rows, for the
// networks of an ensemble and for folds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/random.h"
#include "encode/dataset.h"
#include "table/rank_rows.h"

namespace espalier {

/// Both parts in ascending order.
struct Split {
  Rows train;
  Rows valid;
};

/// Holds out `count` rows of an order, from place `first` on and round its end. count is at most
/// the number of rows.
Split hold_out(const Rows& order, std::size_t first, std::size_t count);

/// Holds out a share of the rows, drawn at random. Of many rows each is drawn by itself, by its
/// place in the list, and about a million at most: more do not choose an epoch better.
Split hold_out_share(Rows rows, double fraction, Random random, std::size_t many_rows = kManyRows);

/// Splits that hold out every row once, with about the same labels in each; labels has one per row.
/// 1 <= count <= rows.size().
std::vector<Split> deal_folds(const Rows& rows, const std::vector<double>& labels,
                              std::size_t count, Random random);

}  // namespace espalier
