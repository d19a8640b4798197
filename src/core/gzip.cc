// SPDX-License-Identifier: Apache-2.0
#include "core/gzip.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "espalier/error.h"

namespace espalier {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Inflater::Inflater(std::string_view name) : name_(name), room_(std::size_t{1} << 18, '\0') {
  if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&stream_); }

void Inflater::undo(std::string_view bytes, std::string& text) {
  constexpr std::size_t kMaxInput = 1 << 30;  // zlib counts in 32 bits
  for (bool has_more = false; !bytes.empty() || has_more;) {
    if (is_whole_) inflateReset(&stream_);  // another member follows
    const std::size_t given = std::min(bytes.size(), kMaxInput);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
    stream_.avail_out = static_cast<uInt>(room_.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream_.avail_in);
    text.append(room_, 0, room_.size() - stream_.avail_out);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      throw Error(ErrorKind::data, fmt::format("{}: gzip data is damaged", name_));
    is_whole_ = code == Z_STREAM_END;
    has_more = code == Z_OK && stream_.avail_out == 0;
  }
}

void Inflater::finish() const {
  if (is_whole_) return;
  throw Error(ErrorKind::data, fmt::format("{}: gzip data is cut short", name_));
}

std::string gunzip(std::string_view bytes, std::string_view name) {
  Inflater inflater(name);
  std::string text;
  inflater.undo(bytes, text);
  inflater.finish();
  return text;
}

}  // namespace espalier
