// SPDX-License-Identifier: Apache-2.0
// A file that is complete or absent.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace espalier {

/// Whatever happens, the path holds the old bytes or all of the new ones: a temporary file beside
/// it is written, synced and, by close(), renamed. Permission bits of an existing file and links to
/// it are kept. A device or a pipe, which renaming would replace, is written straight. All of them
/// throw Error (file).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // without close() nothing has changed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);

  /// Gives the file its name. Once, as the last call.
  void close();

  /// Deletes the temporary file, for a program that ends at once; any thread may.
  void discard() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
