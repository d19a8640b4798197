// SPDX-License-Identifier: Apache-2.0
// The column that is predicted: what it means, and its numbers.
#pragma once

#include <vector>

#include "encode/dataset.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "table/rank_rows.h"

namespace espalier {

/// The label: its loss, its classes or quantiles; offsets and scale are not yet fitted. Throws
/// Error (argument, data) for a label that is not there, has one value only, or does not suit the
/// options, and for options that contradict each other.
Label build_label(const Table& table, const TrainOptions& options);

/// The rows whose label is not missing, of all or of some.
Rows labelled_rows(const Label& label, const Table& table);
Rows labelled_rows(const Label& label, const Table& table, Rows rows);

/// One label per row: the number, or the index of its class. Throws Error (data) for one that is no
/// class, or that the loss does not allow.
LargeVector<double> encode_labels(const Label& label, const Table& table, const Rows& rows);

/// Features, labels, and the columns beside them.
Dataset encode_labelled(const Schema& schema, const Table& table, const Rows& rows);

/// The same for several lists of rows, see encode_and_free.
std::vector<Dataset> encode_labelled_and_free(const Schema& schema, Table table,
                                              const RankRows& share,
                                              const std::vector<const Rows*>& lists);

}  // namespace espalier
