// SPDX-License-Identifier: Apache-2.0
// The columns that stand beside the features and the label of a row. Whoever carries rows about
// goes through all of them, so that a new role needs its enumerator in espalier/schema.h, its
// option, and its lines here.
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

/// Those that the options name. Throws Error (argument) if one of them is the label or has two
/// roles.
SideColumns side_columns(const TrainOptions& options);

/// Those of them that a prediction reads, in the order of their cells.
std::vector<std::pair<Role, std::string>> prediction_columns(const SideColumns& columns);

/// What a column is to a model with these options.
Role role_of(const std::string& column, const TrainOptions& options);

/// What a number of the role must be, as a text; empty if it is.
std::string_view wanted_of(Role role, float number);

/// The rows that count: all, except those whose weight is 0. An empty name: all. Throws Error
/// (data) if all rows have weight 0.
Rows weighted_rows(const Table& table, const std::string& weight);

/// One number per row, for training and evaluation. Throws Error (data) for one that the role does
/// not allow: a weight that is missing, negative or not finite, or weights that are all 0; an
/// exposure that is not positive.
LargeVector<float> encode_side_column(Role role, const std::string& column, const Table& table,
                                      const Rows& rows);

/// The same to predict, where any number will do: objective/link.h says what it counts as.
LargeVector<float> any_side_column(const std::string& column, const Table& table);

/// All rows of a table with the columns that a prediction reads; the exposure may be absent.
Dataset encode_to_predict(const Schema& schema, const Table& table);

/// Sets all columns beside the features.
void encode_beside(const SideColumns& columns, const Table& table, const Rows& rows, Dataset& data);

}  // namespace espalier
