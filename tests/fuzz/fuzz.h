// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target is a function of bytes that libFuzzer calls; anything but a
// return or an Error of the library is a crash, so laws are checked by `require`.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "espalier/error.h"

namespace espalier::fuzz {

// Ends the program where libFuzzer sees it.
inline void require(bool holds) {
  if (!holds) std::abort();
}

// Runs `read`, which may refuse its input; says whether it did not.
template <class F>
bool accepts(F&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace espalier::fuzz
