// SPDX-License-Identifier: Apache-2.0
// The order of wires that suits one row. There a lane is a lattice, so input d of sixteen lattices
// must lie together. Moving the wires would take each row longer than folding the lattices does; so
// the embedding and the calibrators before them are written down in that order instead.
#pragma once

#include <optional>
#include <vector>

#include "serve/program.h"

namespace espalier {

/// Where input d of lattice g lies: [block of 16][size][16].
inline std::size_t lane_place(std::size_t g, std::size_t d, std::size_t size) {
  return (g / 16 * size + d) * 16 + g % 16;
}

/// Steps with the same outputs, bit for bit, in which every `lin cal gather lat` with sixteen
/// multilinear lattices or more has its wires in that order; nothing if there is none.
std::optional<std::vector<Step>> in_lane_order(const std::vector<Step>& steps);

}  // namespace espalier
