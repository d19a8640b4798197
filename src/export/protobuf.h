// SPDX-License-Identifier: Apache-2.0
// Writes the wire format of protocol buffers: a message is a list of fields, each a key (number and
// type) and a value. That is all that an ONNX file is made of.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace espalier {

class ProtobufMessage {
 public:
  ProtobufMessage& add(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtobufMessage& add(int field, float value) {
    static_assert(std::endian::native == std::endian::little);
    key(field, 5);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof bytes);
    return *this;
  }
  ProtobufMessage& add(int field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtobufMessage& add(int field, const ProtobufMessage& message) {
    return add(field, std::string_view(message.bytes_));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int type) { varint(static_cast<std::uint64_t>(field * 8 + type)); }

  // Seven bits a byte, the lowest first; the high bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace espalier
