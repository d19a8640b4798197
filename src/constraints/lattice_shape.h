// SPDX-License-Identifier: Apache-2.0
// The memory layout of the vertices of a lattice: sizes[d] vertices along dimension d, stride(d)
// apart. Neighbors along dimension 0 are adjacent.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "constraints/inequalities.h"

namespace espalier {

class LatticeShape {
 public:
  explicit LatticeShape(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)) {
    for (const std::size_t size : sizes_) {
      strides_.push_back(num_vertices_);
      num_vertices_ *= size;
    }
  }

  /// A cube: bit d of a vertex is its position along dimension d.
  static LatticeShape cube(int dims) {
    return LatticeShape(std::vector<std::size_t>(static_cast<std::size_t>(dims), 2));
  }

  int num_dims() const { return static_cast<int>(sizes_.size()); }
  const std::vector<std::size_t>& sizes() const { return sizes_; }
  std::size_t size(int dim) const { return sizes_[static_cast<std::size_t>(dim)]; }
  std::size_t stride(int dim) const { return strides_[static_cast<std::size_t>(dim)]; }
  std::size_t num_vertices() const { return num_vertices_; }

  /// The lattice is increasing along a dimension.
  Rise rise(int dim) const {
    return {.length = size(dim),
            .step = static_cast<std::ptrdiff_t>(stride(dim)),
            .lanes = stride(dim),
            .blocks = num_vertices_ / (stride(dim) * size(dim))};
  }

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> strides_;
  std::size_t num_vertices_ = 1;
};

}  // namespace espalier
