// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during long work, which runs without the GIL.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier {

// Raises KeyboardInterrupt after Ctrl-C; for callbacks of long work.
inline void raise_interrupts() {
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace espalier
