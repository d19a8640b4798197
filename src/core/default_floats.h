// SPDX-License-Identifier: Apache-2.0
// The floating-point mode of the library. A program may have set another mode for its threads:
// flushing subnormal numbers to zero (-Ofast, audio and game loops), another rounding, or traps.
// Entry points and worker threads switch to the default mode and restore the previous one.
//
// header.cc copies the code between the two markers into every exported header, so it may use only
// the C++17 standard library.
#pragma once

#include <cstdint>

namespace espalier {

// begin of the copied part
// During its lifetime, this thread rounds to nearest, keeps subnormal numbers and does not trap.
// The destructor restores the previous mode and exception flags. It has no effect on CPUs other
// than x86 and arm64, and with compilers other than GCC and clang.
class DefaultFloats {
 public:
  DefaultFloats() noexcept : before_(read()) {
    if ((before_ & kMode) != kDefault) write((before_ & ~kMode) | kDefault);
  }
  ~DefaultFloats() {
    if ((before_ & kMode) != kDefault) write(before_);
  }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
#if defined(__GNUC__) && defined(__SSE2__)
  using Word = std::uint32_t;               // MXCSR
  static constexpr Word kMode = 0xffc0;     // without the exception flags
  static constexpr Word kDefault = 0x1f80;  // all exceptions masked

  static Word read() noexcept {
    Word word;
    __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
  }
  static void write(Word word) noexcept { __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
#elif defined(__GNUC__) && defined(__aarch64__)
  using Word = std::uint64_t;                // FPCR
  static constexpr Word kMode = 0x07c89f07;  // flushing, rounding, traps, formats
  static constexpr Word kDefault = 0;

  static Word read() noexcept {
    Word word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
    return word;
  }
  static void write(Word word) noexcept {
    __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
  }
#else
  using Word = std::uint32_t;
  static constexpr Word kMode = 0;
  static constexpr Word kDefault = 0;

  static Word read() noexcept { return 0; }
  static void write(Word) noexcept {}
#endif

  Word before_;
};
// end of the copied part

}  // namespace espalier
