// SPDX-License-Identifier: Apache-2.0
// For tests: floating-point modes that a program may have set for its threads.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier {

struct FloatMode {
  std::string_view name;
  std::uint64_t word;  // of MXCSR, FPCR
};

#if defined(__SSE2__)
inline std::uint64_t float_mode() {
  std::uint32_t word;
  __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word & 0xffc0;  // without the flags of exceptions
}
inline void set_float_mode(std::uint64_t mode) {
  const auto word = static_cast<std::uint32_t>(mode);
  __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
inline std::vector<FloatMode> odd_float_modes() {
  return {{"results and operands flushed to zero", 0x9fc0},
          {"results flushed to zero", 0x9f80},
          {"operands flushed to zero", 0x1fc0},
          {"rounding up", 0x5f80},
          {"rounding down and flushing", 0xbfc0}};
}
#elif defined(__aarch64__)
inline std::uint64_t float_mode() {
  std::uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return word;
}
inline void set_float_mode(std::uint64_t mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}
inline std::vector<FloatMode> odd_float_modes() {
  return {{"flushed to zero", 1u << 24}, {"rounding up", 1u << 22}, {"rounding down", 2u << 22}};
}
#endif

/// While it lives, this thread computes in another mode.
class OddFloats {
 public:
  explicit OddFloats(const FloatMode& mode) : before_(float_mode()) { set_float_mode(mode.word); }
  ~OddFloats() { set_float_mode(before_); }
  OddFloats(const OddFloats&) = delete;
  OddFloats& operator=(const OddFloats&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace espalier
