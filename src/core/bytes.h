// SPDX-License-Identifier: Apache-2.0
// Serialization of numbers and texts. Numbers are little-endian, without padding. Lists and texts
// begin with their length, a u64. A file begins with a magic word and a version, a u32, and ends
// with a checksum of all bytes before it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

// XXH64 with seed 0.
std::uint64_t checksum(std::string_view bytes);

template <class Number>
void put(std::string& out, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_text(std::string& out, std::string_view text);
void put_floats(std::string& out, std::span<const float> values);

// The bytes of a contiguous array of numbers.
template <class Number>
std::string_view raw_bytes(std::span<const Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The numbers in bytes of our own.
template <class Number>
std::vector<Number> numbers_of(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// Reads untrusted bytes from the front. A length is accepted only if that many bytes are left.
class Reader {
 public:
  // In messages, `place` is the file and `thing` its expected content; both must outlive the
  // reader.
  Reader(std::string_view bytes, const std::string& place, const char* thing)
      : bytes_(bytes), place_(place), thing_(thing) {}

  // Throws Error (format).
  [[noreturn]] void fail(std::string_view message) const;

  template <class Number>
  Number get(std::string_view what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view take(std::uint64_t size, std::string_view what);
  std::string_view text(std::string_view what);
  std::vector<float> floats(std::string_view what);
  std::size_t left() const { return bytes_.size(); }

  // Reads the magic word and the version, removes the checksum at the end, and fails if one of them
  // is wrong. Returns the version, from 1 to the newest.
  std::uint32_t open_frame(std::string_view magic, std::uint32_t newest);

 private:
  std::string_view bytes_;
  const std::string& place_;
  const char* thing_;
};

}  // namespace espalier
