// SPDX-License-Identifier: Apache-2.0
// Decompresses gzip, at once or in pieces.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// Whether bytes begin with the gzip magic number.
bool is_gzip(std::string_view bytes);

// Decompresses one or several consecutive gzip members. `name` is the file in messages.
class Inflater {
 public:
  explicit Inflater(std::string_view name);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends the decompressed bytes. Throws Error (data) if the input is damaged.
  void undo(std::string_view bytes, std::string& text);

  // Call it after the last bytes. Throws Error (data) if the stream is incomplete.
  void finish() const;

 private:
  z_stream stream_{};
  std::string name_;
  std::string room_;
  bool is_whole_ = false;  // only complete members so far
};

// Decompresses all bytes. Throws Error (data) if they are damaged or incomplete.
std::string gunzip(std::string_view bytes, std::string_view name);

}  // namespace espalier
