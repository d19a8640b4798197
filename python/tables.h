// SPDX-License-Identifier: Apache-2.0
// _core.Table: the columns of arrays and frames as a table of the library.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier {

void define_tables(nanobind::module_& m);

}  // namespace espalier
