// SPDX-License-Identifier: Apache-2.0
// The sizes of a list of layers as a few numbers, so that they can be searched like any setting.
#pragma once

#include <type_traits>

#include "espalier/architecture.h"
#include "espalier/fields.h"
#include "layers/lattices.h"

namespace espalier {

/// 0 where the layers have no such size, or where it stays as it is.
struct Shape {
  int lattices = 0;           // G of lat(GxS) or minmax(GxS)
  int lattice_size = 0;       // S
  int input_keypoints = 0;    // of the calibrators that read the table
  int inner_keypoints = 0;    // of all others
  double monotone_share = 0;  // of the outputs of the embedding, lin(D,monotone=N): N / D
};

template <class T, class Visitor>
requires std::is_same_v<std::remove_const_t<T>, Shape>
void visit_fields(T& s, Visitor&& visit) {
  visit(Field{"lattices", "how many lattices", 1, 1e6}, s.lattices);
  visit(Field{"lattice_size", "inputs of each lattice", 1, kMaxLatticeSize}, s.lattice_size);
  visit(Field{"input_keypoints", "of the first calibrators", 2, 1e6}, s.input_keypoints);
  visit(Field{"inner_keypoints", "of the other calibrators", 2, 1e6}, s.inner_keypoints);
  visit(Field{"monotone_share", "of the outputs of the embedding", 0.01, 1}, s.monotone_share);
}

/// The lattices of layers with exactly one lat(GxS) or minmax(GxS), and what else there is.
/// Lattices at the end have no G that could change: they must give one wire.
Shape shape_of(const Architecture& architecture);

/// The same layers with the sizes of `shape` where it and they have one. A gather of columns takes
/// at most `num_columns` for a lattice, and crystals are at least so many that all columns fit.
Architecture reshape(Architecture architecture, const Shape& shape, int num_columns);

}  // namespace espalier
