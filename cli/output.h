// SPDX-License-Identifier: Apache-2.0
// Output of commands: standard output, standard error, and atomically written files.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/certificate.h"
#include "espalier/json.h"
#include "espalier/metrics.h"
#include "espalier/table.h"

namespace espalier {

Json json_of(std::span<const MetricValue> metrics);
Json json_of(const Certificate& certificate);
Json json_of(const Column& column);

/// Prints lines to standard error, with other control characters escaped. Ignores failures.
void tell(std::string_view text) noexcept;

/// Warns about flags without effect: {"--seed", whether it was given}.
void warn_of_idle_flags(std::initializer_list<std::pair<std::string_view, bool>> flags,
                        std::string_view reason);

/// Writes text to a file, which appears only when it is complete, or to standard output for "-".
/// Throws Error (file).
void write_text(std::string_view text, const std::string& path);

/// Prints to standard output. Throws Error (file) on failure.
void print(std::string_view text);

/// Prints a JSON object; bytes that are not UTF-8 are replaced.
void print_json(const Json& json);

/// Prints a JSON object on one line: a table would have one line per value otherwise.
void print_json_line(const Json& json);

/// Writes a table as CSV to a file, which appears only when it is complete, or to standard output
/// for "-". Throws Error (file).
void write_table(const Table& table, const std::string& path);

/// The same for a table in pieces: next(piece) returns the next piece, or false at the end.
void write_pieces(const std::function<bool(Table&)>& next, const std::string& path, int threads);

/// A column for --keep, from a table that has the text of its values. Throws Error (data) if the
/// table does not have the column.
Column kept_column(const Table& table, const std::string& name);

}  // namespace espalier
