// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_sum.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "support/thread_ranks.h"
#include "train/adam.h"
#include "train/pairwise_sum.h"

namespace espalier {
namespace {

constexpr std::size_t kSumParams = 37;

struct Shards {
  std::vector<std::vector<float>> gradients;
  std::vector<LossSum> losses;
};

// Numbers of many sizes, whose sum depends on the order.
Shards random_shards(int count, std::uint64_t seed) {
  Random random(seed);
  Shards shards;
  for (int s = 0; s < count; ++s) {
    std::vector<float>& gradient = shards.gradients.emplace_back();
    for (std::size_t i = 0; i < kSumParams; ++i)
      gradient.push_back(static_cast<float>(std::exp(20 * random.uniform() - 10)));
    shards.losses.push_back({random.uniform(), 1e6 * random.uniform()});
  }
  return shards;
}

std::vector<float> added_alone(const Shards& shards) {
  std::vector<float> sum;
  for (std::size_t i = 0; i < kSumParams; ++i) {
    std::vector<float> terms;
    for (const std::vector<float>& gradient : shards.gradients) terms.push_back(gradient[i]);
    sum.push_back(pairwise_sum(std::span<const float>(terms)));
  }
  return sum;
}

TEST(GradientSum, IsThatOfOneProcessForAnyNumberOfRanks) {
  for (int num_shards = 1; num_shards <= kMaxShards; ++num_shards) {
    const Shards shards = random_shards(num_shards, static_cast<std::uint64_t>(num_shards));
    const std::vector<float> wanted = added_alone(shards);
    const LossSum loss = pairwise_sum(std::span<const LossSum>(shards.losses));
    for (int size = 1; size <= kMaxShards + 2; ++size) {
      on_ranks(size, [&](Ranks& ranks) {
        GradientSum sum(ranks, num_shards, kSumParams);
        const ShardRange own = shards_of(ranks.rank(), size, num_shards);
        for (int step = 0; step < 2; ++step) {
          std::vector<std::vector<float>> gradients(shards.gradients.begin() + own.first,
                                                    shards.gradients.begin() + own.last);
          const std::vector<LossSum> losses(shards.losses.begin() + own.first,
                                            shards.losses.begin() + own.last);
          const LossSum found = sum.add(gradients, losses);
          EXPECT_EQ(sum.total(), wanted) << num_shards << " shards, " << size << " ranks";
          EXPECT_EQ(found.loss, loss.loss);
          EXPECT_EQ(found.weight, loss.weight);
          for (const std::vector<float>& gradient : gradients)
            EXPECT_EQ(gradient, std::vector<float>(kSumParams));
        }
      });
    }
  }
}

TEST(GradientSum, EveryShardHasOneRank) {
  for (int num_shards = 1; num_shards <= kMaxShards; ++num_shards) {
    for (int size = 1; size <= 20; ++size) {
      int next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const ShardRange own = shards_of(rank, size, num_shards);
        EXPECT_EQ(own.first, next);
        EXPECT_LE(own.size(), (num_shards + size - 1) / size);
        next = own.last;
      }
      EXPECT_EQ(next, num_shards);
    }
  }
}

}  // namespace
}  // namespace espalier
