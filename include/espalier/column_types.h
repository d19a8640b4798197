// SPDX-License-Identifier: Apache-2.0
// For code that fills a Table without read_csv: which texts mean "missing" and which columns are
// numeric. With these functions a model reads the same values from every source.
#pragma once

#include <string>
#include <vector>

#include "espalier/table.h"

namespace espalier {

/// The numbers among the values that mean "missing" in a column.
std::vector<double> missing_numbers(const std::vector<std::string>& missing);

/// Converts a categorical column into the numeric column that read_csv reads from the same values.
/// Does nothing for a numeric column or an absent one. Throws Error (data) for a value that is not
/// a number.
void read_as_numbers(Table& table, const std::string& column);

}  // namespace espalier
