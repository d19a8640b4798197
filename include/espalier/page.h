// SPDX-License-Identifier: Apache-2.0
// A model and a table as one page for people: an HTML file that needs no network and holds no row
// of the table.
//
//   espalier::write_page(model, espalier::read_csv("test.csv", ...), "report.html");
//
// docs/report.md tells what is on the page and how its numbers are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "espalier/model.h"
#include "espalier/table.h"

namespace espalier {

struct PageOptions {
  /// The column whose values make groups that are evaluated one by one; any column of the table.
  /// Empty: no groups. Needs labels.
  std::string by = {};
  /// Pairs of rows that the search for a counter-example tries.
  std::size_t pairs = 100'000;
  std::uint64_t seed = 1;  ///< draws the pairs, the resamples and the rows of the curves
  int threads = 0;         ///< 0 uses all cores; the page does not depend on it
  /// Gets the share of the work that is done and what comes next, from the calling thread; an
  /// exception that it throws leaves the function.
  std::function<void(double share, std::string_view next)> progress = {};
};

/// The bytes of the page. A table without the column of the label, or without a label in any row,
/// gives a page without quality, which says so. Throws Error (data) if the table does not fit the
/// model, Error (argument) for groups without labels.
std::string page_html(const Model& model, const Table& table, const PageOptions& options = {});

/// Writes it to a file, which appears only when it is complete. Throws also Error (file).
void write_page(const Model& model, const Table& table, const std::string& path,
                const PageOptions& options = {});

}  // namespace espalier
