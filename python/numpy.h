// SPDX-License-Identifier: Apache-2.0
// Arrays between numpy and the library.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace espalier {

/// A numpy array that owns the values.
template <class T>
nanobind::ndarray<nanobind::numpy, T> to_numpy(std::vector<T> values,
                                               std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(kept,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

}  // namespace espalier
