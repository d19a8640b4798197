// SPDX-License-Identifier: Apache-2.0
// Losses, gradients and hessians of many rows at a time, for every loss that has a hessian:
// row_loss of objective/loss.h in lanes. Compiled for AVX-512, AVX2 and plain scalar code and
// chosen at run time; all three do the operations of row_loss in its order, so all give its bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boost/gradient_sums.h"
#include "objective/loss.h"

namespace espalier {

/// Rows that are read together.
inline constexpr std::size_t kLossBlock = 256;

/// What the losses of some rows depend on, a number per row. Padded with finite numbers to a
/// multiple of 8 rows, at most kLossBlock.
struct LossBlock {
  std::size_t count;    // a multiple of 8
  const float* z;       // outputs of the model
  const double* y;      // labels
  const double* base;   // offsets of the scores of the rows' levels
  const double* level;  // levels, from 0
  const float* exposure;
  const float* offset;
  const float* weight;
};

/// gradients[r] = weight * gradient and hessians[r] = weight * hessian of each row.
void loss_gradients(const Objective& objective, const LossBlock& rows, float* gradients,
                    float* hessians) noexcept;

/// losses[r] = weight * loss of each row.
void loss_values(const Objective& objective, const LossBlock& rows, double* losses) noexcept;

/// The largest magnitude; a NaN if there is one.
float largest_magnitude(std::span<const float> values) noexcept;

/// The nearest integers to gradient / gradient_unit and hessian / hessian_unit, ties to even, where
/// units are powers of two and results less than 2^31.
void round_gradients(std::span<const float> gradients, std::span<const float> hessians,
                     double gradient_unit, double hessian_unit, GradientPair* rounded) noexcept;

}  // namespace espalier
