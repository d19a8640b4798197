// SPDX-License-Identifier: Apache-2.0
// The label: its meaning, and its values as numbers.
#pragma once

#include <vector>

#include "encode/dataset.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "table/rank_rows.h"

namespace espalier {

/// Determines the label: its loss, classes or quantiles. Offsets and scale are not fitted yet.
/// Throws Error (argument, data) for a label that is absent, has a single value or does not match
/// the options, and for contradictory options.
Label build_label(const Table& table, const TrainOptions& options);

/// The rows (of all rows, or of some) whose label is not missing.
Rows labelled_rows(const Label& label, const Table& table);
Rows labelled_rows(const Label& label, const Table& table, Rows rows);

/// One label per row: the number, or the index of its class. Throws Error (data) for a value that
/// is not a class, or that the loss does not allow.
LargeVector<double> encode_labels(const Label& label, const Table& table, const Rows& rows);

/// Features, labels and side columns.
Dataset encode_labelled(const Schema& schema, const Table& table, const Rows& rows);

/// The same for several lists of rows, see encode_and_free.
std::vector<Dataset> encode_labelled_and_free(const Schema& schema, Table table,
                                              const RankRows& share,
                                              const std::vector<const Rows*>& lists);

}  // namespace espalier
