// SPDX-License-Identifier: Apache-2.0
// Side columns: weight, exposure and offset. A new role needs an enumerator in espalier/schema.h,
// an option, and its lines in this file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encode/dataset.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"

namespace espalier {

/// The side columns of the options. Throws Error (argument) if one of them is the label or has two
/// roles.
SideColumns side_columns(const TrainOptions& options);

/// The side columns that predictions read, in the order of a row.
std::vector<std::pair<Role, std::string>> prediction_columns(const SideColumns& columns);

/// The role of a column under these options.
Role role_of(const std::string& column, const TrainOptions& options);

/// The required values of a role as text, if the number is not valid; else empty.
std::string_view wanted_of(Role role, float number);

/// The rows with nonzero weight; all rows if the name is empty. Throws Error (data) if all weights
/// are 0.
Rows weighted_rows(const Table& table, const std::string& weight);

/// The values of a side column for training and evaluation. Throws Error (data) for invalid values:
/// a weight that is missing, negative or not finite; weights that are all 0; an exposure that is
/// not positive.
LargeVector<float> encode_side_column(Role role, const std::string& column, const Table& table,
                                      const Rows& rows);

/// The same for prediction, which accepts any number: see objective/link.h.
LargeVector<float> any_side_column(const std::string& column, const Table& table);

/// Encodes all rows of a table with the columns that predictions read; the exposure may be absent.
Dataset encode_to_predict(const Schema& schema, const Table& table);

/// Sets all side columns.
void encode_beside(const SideColumns& columns, const Table& table, const Rows& rows, Dataset& data);

}  // namespace espalier
