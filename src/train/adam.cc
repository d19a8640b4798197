// SPDX-License-Identifier: Apache-2.0
#include "train/adam.h"

#include "layers/instruction_sets.h"
#include "train/pairwise_sum.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "train/adam.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

// Sixteen gradients of the shards kFirst ... kFirst + kCount - 1, which it zeroes.
template <std::size_t kFirst, std::size_t kCount, class Lanes>
HWY_INLINE V16 take_sum(float* const* grads, std::size_t i, Lanes lanes) {
  if constexpr (kCount == 1) {
    const V16 g = load(grads[kFirst] + i, lanes);
    store(set(0), grads[kFirst] + i, lanes);
    return g;
  } else {
    constexpr std::size_t kLeft = left_branch(kCount);
    const V16 left = take_sum<kFirst, kLeft>(grads, i, lanes);
    return left + take_sum<kFirst + kLeft, kCount - kLeft>(grads, i, lanes);
  }
}

template <std::size_t kShards>
void adam_step_of(const AdamStep& step, float* const* grads, const float* penalty, float* params,
                  float* mean, float* variance, std::size_t n) {
  each_16(n, [&](std::size_t i, auto lanes) HWY_ATTR {
    V16 g = take_sum<0, kShards>(grads, i, lanes) * set(step.gradient_scale);
    if (penalty != nullptr) g = g + load(penalty + i, lanes);
    const V16 old_mean = load(mean + i, lanes), old_variance = load(variance + i, lanes);
    const V16 m = fma(set(1 - kAdamBeta1), g - old_mean, old_mean);
    const V16 v = fma(set(1 - kAdamBeta2), g * g - old_variance, old_variance);
    store(m, mean + i, lanes);
    store(v, variance + i, lanes);
    const V16 direction =
        (m * set(step.correction1)) / (sqrt(v * set(step.correction2)) + set(step.epsilon));
    const V16 p = load(params + i, lanes);
    const V16 decayed = fma(set(-step.decay), p, p);
    store(fma(set(-step.learning_rate), direction, decayed), params + i, lanes);
  });
}

void adam_step(const AdamStep& step, float* const* grads, int num_shards, const float* penalty,
               float* params, float* mean, float* variance, std::size_t n) {
  using Step =
      void (*)(const AdamStep&, float* const*, const float*, float*, float*, float*, std::size_t);
  constexpr Step kSteps[kMaxShards] = {adam_step_of<1>, adam_step_of<2>, adam_step_of<3>,
                                       adam_step_of<4>, adam_step_of<5>, adam_step_of<6>,
                                       adam_step_of<7>, adam_step_of<8>};
  kSteps[num_shards - 1](step, grads, penalty, params, mean, variance, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(adam_step);

void adam_step(const AdamStep& step, float* const* shard_grads, int num_shards,
               const float* penalty, float* params, float* mean, float* variance, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(adam_step)
  (step, shard_grads, num_shards, penalty, params, mean, variance, n);
}

}  // namespace espalier
#endif  // HWY_ONCE
