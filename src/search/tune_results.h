// SPDX-License-Identifier: Apache-2.0
// The file of a search: a line of JSON that says what was searched, then one per finished run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "espalier/metrics.h"
#include "espalier/tune.h"
#include "train/checkpoint.h"

namespace espalier {

std::string format_run(const TuneRun& run, Metric metric);

/// Throws Error (format) for a line that format_run has not written; `place` stands for it in
/// messages.
TuneRun parse_run(std::string_view line, const std::string& place);

std::string format_fingerprint(const Fingerprint& fingerprint);
Fingerprint parse_fingerprint(std::string_view line, const std::string& place);

class TuneResults {
 public:
  /// Reads what an earlier search left. An empty path: no file. Throws Error: argument if that was
  /// another search, format if it is no file of one, file if it cannot be used.
  TuneResults(const std::string& path, const Fingerprint& fingerprint);

  const std::vector<TuneRun>& earlier() const { return earlier_; }

  /// Throws Error (file).
  void append(const TuneRun& run, Metric metric);

 private:
  std::optional<LineLog> log_;
  std::vector<TuneRun> earlier_;
};

}  // namespace espalier
