// SPDX-License-Identifier: Apache-2.0
// The report page: one HTML file about a model and its quality on a table. It needs no network and
// contains no row of the table.
//
//   espalier::write_page(model, espalier::read_csv("test.csv", ...), "report.html");
//
// docs/report.md describes the page and its numbers.
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
  /// A column of the table whose groups are evaluated separately. Requires labels. Empty: no
  /// groups.
  std::string by = {};
  /// Pairs of rows of the counter-example search.
  std::size_t pairs = 100'000;
  std::uint64_t seed = 1;  ///< of pairs, bootstrap samples and sampled rows
  int threads = 0;         ///< 0 uses all cores; the page does not depend on it
  /// Called from the calling thread with the fraction of the work done and the next step. Its
  /// exceptions pass through.
  std::function<void(double share, std::string_view next)> progress = {};
};

/// The bytes of the page. Without labels the page has no section on quality and says so. Throws
/// Error (data) if the table does not fit the model, and Error (argument) for groups without
/// labels.
std::string page_html(const Model& model, const Table& table, const PageOptions& options = {});

/// Writes the page to a file, which appears only when it is complete. Also throws Error (file).
void write_page(const Model& model, const Table& table, const std::string& path,
                const PageOptions& options = {});

}  // namespace espalier
