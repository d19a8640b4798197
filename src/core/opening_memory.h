// SPDX-License-Identifier: Apache-2.0
// The guarantee of SECURITY.md: opening an input of `size` bytes (a model file, a configuration,
// the head of a data file, ...) takes at most kMemoryPerByte * size + kSpareMemory bytes of memory.
//
// Readers satisfy it if each byte makes at most a few values. Networks have parts that short text
// can multiply (wires, orders between leaves). They are counted before they are created
// (model/builder.h) and may take half of the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier {

inline constexpr std::uint64_t kMemoryPerByte = 512;
inline constexpr std::uint64_t kSpareMemory = std::uint64_t{16} << 20;

inline constexpr std::uint64_t opening_memory(std::uint64_t size) {
  return kMemoryPerByte * size + kSpareMemory;
}

}  // namespace espalier
