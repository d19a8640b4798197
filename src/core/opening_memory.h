// SPDX-License-Identifier: Apache-2.0
// The promise of SECURITY.md: opening an input of `size` bytes (a model file, a configuration, the
// head of a data file, ...) takes at most kMemoryPerByte * size + kSpareMemory bytes of memory.
//
// Readers keep it by themselves where each byte gives at most a few values. A network has parts
// that little text asks for (wires, orders between leaves): they are counted before they are made
// (model/builder.h), and may take half of it.
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
