// SPDX-License-Identifier: Apache-2.0
// runtime.h and core/default_floats.h as text; CMake makes it, so that the arithmetic of exported
// headers is a file that compilers, tests and people read.
#pragma once

#include <string_view>

namespace espalier {

extern const std::string_view kRuntimeText;
extern const std::string_view kDefaultFloatsText;

}  // namespace espalier
