// SPDX-License-Identifier: Apache-2.0
// For makers of tables other than read_csv: what words mean in a column, so that a model reads the
// same cells alike wherever they come from.
#pragma once

#include <string>
#include <vector>

#include "espalier/table.h"

namespace espalier {

/// The numbers among the words that mean "missing" in a column.
std::vector<double> missing_numbers(const std::vector<std::string>& missing);

/// Makes a column of words the number column that read_csv makes of the same cells; a number column
/// stays as it is, as does a table without that column. Throws Error (data) for a word that is not
/// a number.
void read_as_numbers(Table& table, const std::string& column);

}  // namespace espalier
