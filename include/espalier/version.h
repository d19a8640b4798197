// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier {

/// The version of the library; CMake reads it from here.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace espalier
