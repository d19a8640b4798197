// SPDX-License-Identifier: Apache-2.0
// Atomic file output.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace espalier {

/// Writes a file atomically: the path always has the old bytes or all of the new ones. The bytes go
/// to a temporary file in the same folder, which close() syncs and renames. Permission bits of an
/// existing file and links to it are kept. Devices and pipes are written directly. All functions
/// may throw Error (file).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // without close(), the old file stays
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);

  /// Renames the file. Call it once, last.
  void close();

  /// Deletes the temporary file before the program exits. Any thread may call it.
  void discard() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
