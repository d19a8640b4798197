// SPDX-License-Identifier: Apache-2.0
// Where results and talk go: standard output, standard error, or a file that is complete or absent.
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

/// Prints one line or some to standard error, other control characters escaped; nobody minds if
/// that fails.
void tell(std::string_view text) noexcept;

/// Warns of flags that have no effect: {"--seed", whether it was given}.
void warn_of_idle_flags(std::initializer_list<std::pair<std::string_view, bool>> flags,
                        std::string_view reason);

/// Writes a text to a file, which appears only when it is complete, or, for "-", to standard
/// output. Throws Error (file).
void write_text(std::string_view text, const std::string& path);

/// Prints to standard output. Throws Error (file) if that fails.
void print(std::string_view text);

/// The same for one JSON object; bytes that are not UTF-8 are replaced.
void print_json(const Json& json);

/// All of it on one line: tables would have a line per cell.
void print_json_line(const Json& json);

/// Writes a table as CSV to a file, which appears only when it is complete, or, for "-", to
/// standard output. Throws Error (file).
void write_table(const Table& table, const std::string& path);

/// The same for a table that comes in pieces: next(piece) gives the next one, false behind the
/// last.
void write_pieces(const std::function<bool(Table&)>& next, const std::string& path, int threads);

/// A column that --keep copies from a table which has the text of its cells. Throws Error (data) if
/// it is not there.
Column kept_column(const Table& table, const std::string& name);

}  // namespace espalier
