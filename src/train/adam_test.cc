// SPDX-License-Identifier: Apache-2.0
#include "train/adam.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "hwy/targets.h"
#include "train/pairwise_sum.h"

namespace espalier {
namespace {

constexpr std::size_t kAdamParams = 37;
constexpr AdamStep kStep = {.learning_rate = 0.1f,
                            .decay = 0.01f,
                            .correction1 = 2,
                            .correction2 = 3,
                            .gradient_scale = 0.5f,
                            .epsilon = 1e-3f};

using Floats = std::vector<float>;

struct Buffers {
  Floats params, mean, variance;
  std::vector<Floats> grads;  // one per shard
};

Buffers random_buffers(int num_shards, Random& random) {
  const auto drawn = [&] {
    Floats values(kAdamParams);
    for (float& value : values) value = static_cast<float>(random.uniform());
    return values;
  };
  Buffers buffers{drawn(), drawn(), drawn(), {}};
  for (int s = 0; s < num_shards; ++s) buffers.grads.push_back(drawn());
  return buffers;
}

void take_step(Buffers& buffers) {
  std::vector<float*> grads;
  for (Floats& grad : buffers.grads) grads.push_back(grad.data());
  adam_step(kStep, grads.data(), static_cast<int>(grads.size()), nullptr, buffers.params.data(),
            buffers.mean.data(), buffers.variance.data(), kAdamParams);
}

TEST(Adam, TakesTheStepOfTheFormulaAndZeroesTheGradients) {
  Random random(4);
  for (int num_shards = 1; num_shards <= kMaxShards; ++num_shards) {
    const Buffers start = random_buffers(num_shards, random);
    Buffers after = start;
    take_step(after);
    for (std::size_t i = 0; i < kAdamParams; ++i) {
      double g = 0;
      for (const Floats& grad : start.grads) g += 0.5 * grad[i];
      const double mean = 0.9 * start.mean[i] + 0.1 * g;
      const double variance = 0.999 * start.variance[i] + 0.001 * g * g;
      const double wanted =
          start.params[i] * (1 - 0.01) - 0.1 * (2 * mean) / (std::sqrt(3 * variance) + 1e-3);
      EXPECT_NEAR(after.params[i], wanted, 1e-5);
      EXPECT_NEAR(after.mean[i], mean, 1e-6);
      EXPECT_NEAR(after.variance[i], variance, 1e-6);
      for (const Floats& grad : after.grads) EXPECT_EQ(grad[i], 0);
    }
  }
}

// The law that lets machines divide the shards of a batch among them.
TEST(Adam, AddsTheShardsAsATreeToTheLastBitOnEveryInstructionSet) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
    if (target != HWY_SCALAR && (supported & target) == 0) continue;
    hwy::GetChosenTarget().Update(target);
    Random random(5);
    for (int num_shards = 1; num_shards <= kMaxShards; ++num_shards) {
      Buffers many = random_buffers(num_shards, random), one = many;
      one.grads.resize(1);
      for (std::size_t i = 0; i < kAdamParams; ++i) {
        Floats terms;
        for (const Floats& grad : many.grads) terms.push_back(grad[i]);
        one.grads[0][i] = pairwise_sum(std::span<const float>(terms));
      }
      take_step(many);
      take_step(one);
      for (std::size_t i = 0; i < kAdamParams; ++i) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(many.params[i]),
                  std::bit_cast<std::uint32_t>(one.params[i]))
            << num_shards << " shards, " << hwy::TargetName(target);
      }
    }
  }
  hwy::GetChosenTarget().Update(supported);
}

TEST(TreeSum, IsTheSameWhenAlignedPowersOfTwoAreAddedElsewhere) {
  Random random(6);
  for (std::size_t n = 1; n <= 40; ++n) {
    Floats terms(n);
    for (float& term : terms) term = static_cast<float>(random.normal());
    const std::span<const float> all(terms);
    for (std::size_t share = 1; share <= 16; share *= 2) {
      Floats sums;  // one per machine
      for (std::size_t begin = 0; begin < n; begin += share)
        sums.push_back(pairwise_sum(all.subspan(begin, std::min(share, n - begin))));
      EXPECT_EQ(pairwise_sum(std::span<const float>(sums)), pairwise_sum(all))
          << n << " by " << share;
    }
  }
}

}  // namespace
}  // namespace espalier
