// SPDX-License-Identifier: Apache-2.0
// Where results go: standard output or a file that appears only when it is complete.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "espalier/certificate.h"
#include "espalier/metrics.h"
#include "espalier/table.h"

namespace espalier {

using Json = nlohmann::ordered_json;

/// JSON whose numbers are floats, so that they keep the fewest digits that read back.
using FloatJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       std::int64_t, std::uint64_t, float>;

Json json_of(std::span<const MetricValue> metrics);
Json json_of(const Certificate& certificate);
FloatJson json_of(const Column& column);

/// Prints a line to standard error; nobody minds if that fails.
void tell(std::string_view line) noexcept;

/// Prints to standard output. Throws Error (file) if that fails.
void print(std::string_view text);

/// The same for one JSON object; bytes that are not UTF-8 are replaced.
void print_json(const Json& json);
void print_json(const FloatJson& json);

/// Throws Error (file) if `path` cannot become a file: its folder is absent or not writable, it is
/// a directory, or it is `input`, which it would overwrite.
void check_output(const std::string& path, const std::string& input);

/// A file under a temporary name until close() gives it its own; "-" is standard output, and what
/// is no plain file (a device, a pipe) is written straight.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream();

  /// Throws Error (file) if anything could not be written.
  void close();

 private:
  std::string path_;
  std::string temporary_;  // empty: written straight
  std::ofstream file_;
};

}  // namespace espalier
