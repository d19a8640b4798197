// SPDX-License-Identifier: Apache-2.0
// What the trees of a forest add up to for each row of a dataset, and the losses there. With
// levels, each row comes once per level, one after another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "boost/loss_kernels.h"
#include "boost/tree_grower.h"
#include "core/large_vector.h"
#include "encode/dataset.h"
#include "objective/loss.h"

namespace espalier {

/// The sum of the trees for each row: of those that stay as they are, and of those that fade.
class TreeSums {
 public:
  TreeSums(std::size_t rows, bool some_fade) : steady_(rows), fading_(some_fade ? rows : 0) {}

  std::size_t size() const { return steady_.size(); }
  bool empty() const { return steady_.empty(); }
  std::span<float> of(bool fades) { return fades ? fading_ : steady_; }
  /// Multiplies those that fade, in the rows [begin, end), by `kept`.
  void fade(std::size_t begin, std::size_t end, float kept);
  /// Writes the sums of some rows.
  void read(std::size_t begin, std::size_t count, float* sums) const;

 private:
  LargeVector<float> steady_;
  LargeVector<float> fading_;
};

/// The losses of the rows of a dataset, or of a range of them that begins at a multiple of
/// kLossBlock.
class RowLosses {
 public:
  /// Both outlive it.
  RowLosses(const Objective& objective, const Dataset& data);

  float weight(std::size_t row) const { return data_.weight(row / label_.num_levels()); }

  /// Writes weight * gradient and weight * hessian, or the weight where there is no hessian. Both
  /// arrays have room up to a multiple of 8 rows, which is filled with zeros.
  void gradients(const TreeSums& sums, std::size_t begin, std::size_t end, float* gradients,
                 float* hessians) const;
  void residuals(const TreeSums& sums, std::size_t begin, std::size_t end,
                 Residual* residuals) const;
  /// The sum of weight * loss, row by row.
  double loss(const TreeSums& sums, std::size_t begin, std::size_t end) const;

 private:
  struct Buffers {
    alignas(64) std::array<double, kLossBlock> y, base, level;
    alignas(64) std::array<float, kLossBlock> z, exposure, offset, weight;
  };

  LossRow row(std::size_t index) const;
  LossBlock block(const TreeSums& sums, std::size_t begin, std::size_t count, Buffers& own) const;
  void fill(std::size_t begin, std::size_t count, Buffers& own) const;

  const Objective& objective_;
  const Label& label_;
  const Dataset& data_;
  Buffers same_;  // what all rows share, where the dataset does not say otherwise
};

}  // namespace espalier
