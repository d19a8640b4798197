// SPDX-License-Identifier: Apache-2.0
// Several ranks read one text together: each reads its rows, and types and categories follow from
// all rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "espalier/csv.h"
#include "espalier/ranks.h"
#include "table/division.h"
#include "table/rank_rows.h"
#include "table/stored_table.h"

namespace espalier {

/// Reads the rows of this rank into the files of a folder, or into memory without one. Types,
/// categories and whether a column has doubles follow from all rows. All ranks call it. Throws as
/// store_table does.
StoredTable read_rank_text(const DividedText& text, const RankText& share, CsvOptions options,
                           const std::string& folder, std::size_t piece_bytes, Ranks& ranks);

/// read_csv_of_rank for tables of at least `many_rows` rows.
std::optional<Table> read_csv_of_rank(const std::string& path, const CsvOptions& options,
                                      const DiskFolder& to, Ranks& ranks, std::size_t piece_bytes,
                                      std::size_t many_rows);

}  // namespace espalier
