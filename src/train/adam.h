// SPDX-License-Identifier: Apache-2.0
// One step of Adam. With g the weighted mean gradient of the batch plus that of the penalties:
//
//   m <- m + (1 - beta1) (g - m)      v <- v + (1 - beta2) (g^2 - v)
//   p <- p - decay p - rate m c1 / (sqrt(v c2) + epsilon)
//
// c1 and c2 correct for the zeros that m and v start from. docs/math.md has the reasons.
#pragma once

#include <cstddef>

namespace espalier {

inline constexpr float kAdamBeta1 = 0.9f;
inline constexpr float kAdamBeta2 = 0.999f;

struct AdamStep {
  float learning_rate;
  float decay;           // rate times weight decay
  float correction1;     // 1 / (1 - beta1^t)
  float correction2;     // 1 / (1 - beta2^t)
  float gradient_scale;  // from the sum over a batch to its mean
  float epsilon;
};

/// The most shards of a gradient.
inline constexpr int kMaxShards = 8;

/// Adds the gradients of the shards as pairwise_sum does, zeroes them, and takes a step over n
/// parameters. penalty: gradient to add, or null.
void adam_step(const AdamStep& step, float* const* shard_grads, int num_shards,
               const float* penalty, float* params, float* mean, float* variance, std::size_t n);

}  // namespace espalier
