// SPDX-License-Identifier: Apache-2.0
// The column that is predicted: what it means, its numbers, and the units in which a network learns
// them.
#pragma once

#include <vector>

#include "data/dataset.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"

namespace espalier {

/// The label: its task and, for classification, its two values; offset and scale are not yet
/// fitted. Throws Error (argument, data) for a label that is not there, has one value only, or does
/// not suit the task.
Label build_label(const Table& table, const TrainOptions& options);

/// The rows whose label is not missing.
Rows labelled_rows(const Label& label, const Table& table);

/// One label per row: 0 or 1, or the number. Throws Error (data) if one is neither class.
std::vector<double> encode_labels(const Label& label, const Table& table, const Rows& rows);

/// Features, labels, and the columns beside them.
Dataset encode_labelled(const Schema& schema, const Table& table, const Rows& rows);

/// The same for several parts of the rows, see encode_and_free.
std::vector<Dataset> encode_labelled_and_free(const Schema& schema, Table table,
                                              const std::vector<const Rows*>& parts);

/// Sets the offset and scale of the label from the training rows.
void fit_label(const Dataset& train, Label& label);

}  // namespace espalier
