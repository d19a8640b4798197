// SPDX-License-Identifier: Apache-2.0
// For tests: what a call complains of.
#pragma once

#include <string>

#include "espalier/error.h"

namespace espalier {

// The message of the Error that f throws, or "no error".
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace espalier
