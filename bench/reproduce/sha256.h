// SPDX-License-Identifier: Apache-2.0
// The sums by which published files are known.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// SHA-256 (FIPS 180-4) of some bytes, as 64 small hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace espalier
