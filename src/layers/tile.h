// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier {

/// Rows that travel through a network together, wire-major: tile[wire][kTile].
inline constexpr int kTile = 64;

}  // namespace espalier
