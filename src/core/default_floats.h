// SPDX-License-Identifier: Apache-2.0
// The floating-point mode that the library computes in. A program may have set another one for its
// threads: flushing subnormal numbers to zero (-Ofast, audio and game loops), another rounding, or
// traps. Entry points and worker threads switch to the default mode, and back when they are done.
//
// header.cc copies what stands between the two marked lines into every exported header, so it needs
// nothing but the standard library, in C++17.
#pragma once

#include <cstdint>

namespace espalier {

// begin of the copied part
// While it lives, this thread rounds to nearest, keeps subnormal numbers and does not trap. Then it
// has the mode and the exception flags that it had before. Without effect where neither SSE nor
// arm64 computes, and with compilers that are neither GCC nor clang.
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
  static constexpr Word kMode = 0xffc0;     // but for the flags of exceptions
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
