// SPDX-License-Identifier: Apache-2.0
// Gzip undone, at once or piece by piece.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// Whether bytes begin as gzip does.
bool is_gzip(std::string_view bytes);

// Undoes gzip, of one member or of several in a row. `name` stands for the file in messages.
class Inflater {
 public:
  explicit Inflater(std::string_view name);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends what the next bytes stand for. Throws Error (data) if they are damaged.
  void undo(std::string_view bytes, std::string& text);

  // To be called behind the last bytes. Throws Error (data) if there ought to be more.
  void finish() const;

 private:
  z_stream stream_{};
  std::string name_;
  std::string room_;
  bool is_whole_ = false;  // nothing but whole members so far
};

// Undoes all of it. Throws Error (data) if the bytes are damaged or cut short.
std::string gunzip(std::string_view bytes, std::string_view name);

}  // namespace espalier
