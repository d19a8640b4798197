// SPDX-License-Identifier: Apache-2.0
// What the paper's theorems say about networks, as functions (the paper, section 4 and its lemmas).
#pragma once

#include <span>
#include <vector>

#include "model/network.h"

namespace espalier {

/// Lemma 2: lattices over `size` inputs that simplex interpolation makes the minimum and the
/// maximum of their inputs. (The lemma prints (1, 0, ..., 0) for the maximum, which is 1 - max.)
std::vector<float> minimum_lattice(int size);
std::vector<float> maximum_lattice(int size);

/// Lemma 1: lattices whose outputs, all in [0, 1], another lattice reads, are one lattice over all
/// their inputs, one after another, if interpolation is multilinear. outer has 2^inner.size()
/// vertices. With simplex interpolation there is no such lattice in general.
std::vector<float> collapse(std::span<const float> outer,
                            const std::vector<std::vector<float>>& inner);

/// Theorem 1: a network `lin(G S) minmax(GxS)` as `lin(G S) lat(GxS,simplex) lat(simplex)`, the
/// same function of its inputs. Those are numbers read as they are and categories. Throws Error
/// (argument) for another network.
Network min_max_as_lattices(const Network& min_max);

}  // namespace espalier
