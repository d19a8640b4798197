// SPDX-License-Identifier: Apache-2.0
// What a model is made of, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "espalier/model.h"

namespace espalier {

/// Of each feature: name, kind, its words or None, the words that do not mean "missing" in it.
nanobind::list features_of(const Model& model);

/// Of each network the names of its layers.
nanobind::list layers_of(const Model& model);

/// In the order of the fields of espalier.Calibrator; words come as a list.
nanobind::list calibrators_of(const Model& model);

/// In the order of the fields of espalier.Lattice, but with the axes of the vertices negated.
nanobind::list lattices_of(const Model& model);

}  // namespace espalier
