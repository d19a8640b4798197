// SPDX-License-Identifier: Apache-2.0
// Losses in lanes against row_loss, bit for bit, with every instruction set that the machine has.
#include "boost/loss_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/random.h"
#include "hwy/targets.h"
#include "support/effort.h"

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Equal, but for the bits of a NaN.
template <class Float>
bool is_same(Float a, Float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

// Runs a test with each instruction set.
template <class Test>
void everywhere(const Test& test) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
    if (target != HWY_SCALAR && (supported & target) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    test();
  }
  hwy::GetChosenTarget().Update(supported);
}

Label random_label(Random& random) {
  constexpr Loss kLosses[] = {Loss::squared_error, Loss::log_loss, Loss::poisson, Loss::gamma,
                              Loss::tweedie};
  Label label{.loss = kLosses[random.below(std::size(kLosses))]};
  if (label.loss == Loss::log_loss) {
    label.classes = {"a", "b", "c", "d"};
    label.classes.resize(2 + random.below(3));
    label.ordered = label.classes.size() > 2;
  }
  if (label.loss == Loss::poisson) label.power = 1;
  if (label.loss == Loss::gamma) label.power = 2;
  if (label.loss == Loss::tweedie) label.power = 1.1 + 0.8 * random.uniform();
  if (label.has_log_link()) label.unit = std::ldexp(1.0, static_cast<int>(random.below(60)) - 20);
  label.scale = random.below(2) == 0 ? 1 : 0.1 + 3 * random.uniform();
  label.offsets.resize(label.num_scores());
  for (double& offset : label.offsets) offset = random.normal();
  return label;
}

// Rows whose scores go from one end of the floats to the other.
struct RandomRows {
  RandomRows(const Label& label, Random& random) {
    for (std::size_t r = 0; r < kLossBlock; ++r) {
      levels[r] = random.below(label.num_levels());
      level[r] = static_cast<double>(levels[r]);
      base[r] = label.offsets[levels[r]];
      const double magnitude = std::ldexp(random.normal(), static_cast<int>(random.below(14)) - 2);
      z[r] = static_cast<float>(magnitude);
      y[r] = label.loss == Loss::log_loss
                 ? static_cast<double>(random.below(label.classes.size()))
                 : std::ldexp(label.has_log_link() ? random.uniform() : random.normal(),
                              static_cast<int>(random.below(20)) - 4);
      if (random.below(8) == 0) y[r] = 0;
      exposure[r] = static_cast<float>(random.below(3) == 0 ? 1 : 0.01 + random.uniform());
      offset[r] = static_cast<float>(random.below(3) == 0 ? 0 : random.normal());
      weight[r] = static_cast<float>(random.below(5) == 0 ? 0 : 0.1 + 3 * random.uniform());
    }
    constexpr float kExtremes[] = {0,
                                   -0.0f,
                                   3e38f,
                                   -3e38f,
                                   1e-45f,
                                   709,
                                   -745.2f,
                                   static_cast<float>(kInfinity),
                                   -static_cast<float>(kInfinity),
                                   std::numeric_limits<float>::quiet_NaN()};
    for (const float extreme : kExtremes) z[random.below(kLossBlock)] = extreme;
  }

  LossBlock block(std::size_t count) const {
    return {count,        z.data(),        y.data(),      base.data(),
            level.data(), exposure.data(), offset.data(), weight.data()};
  }
  LossRow row(std::size_t r) const { return {y[r], exposure[r], offset[r], levels[r]}; }

  std::array<std::size_t, kLossBlock> levels;
  std::array<float, kLossBlock> z, exposure, offset, weight;
  std::array<double, kLossBlock> y, base, level;
};

TEST(LossKernels, GiveTheBitsOfRowLoss) {
  everywhere([] {
    for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(300, 40); ++seed) {
      Random random(seed);
      const Label label = random_label(random);
      Dataset data{.num_rows = 3, .num_features = 0};
      data.labels = {1, 2, 3};
      const Objective objective(label, data);
      const RandomRows rows(label, random);
      const std::size_t count = 8 * (1 + random.below(kLossBlock / 8));
      std::array<float, kLossBlock> gradients, hessians;
      std::array<double, kLossBlock> losses;
      loss_gradients(objective, rows.block(count), gradients.data(), hessians.data());
      loss_values(objective, rows.block(count), losses.data());
      for (std::size_t r = 0; r < count; ++r) {
        const LossValue expected = row_loss(objective, rows.z[r], rows.row(r));
        const float weight = rows.weight[r];
        ASSERT_TRUE(is_same(gradients[r], weight * expected.gradient)) << seed << " " << rows.z[r];
        ASSERT_TRUE(is_same(hessians[r], weight * expected.hessian)) << seed << " " << rows.z[r];
        ASSERT_TRUE(is_same(losses[r], weight * expected.loss)) << seed << " " << rows.z[r];
      }
    }
  });
}

TEST(LossKernels, LargestMagnitudeIsThatOfAnySign) {
  everywhere([] {
    Random random(1);
    std::vector<float> values;
    for (int k = 0; k < 100; ++k) {
      EXPECT_EQ(largest_magnitude(values), [&] {
        float most = 0;
        for (const float value : values) most = std::max(most, std::abs(value));
        return most;
      }());
      values.push_back(static_cast<float>(std::ldexp(random.normal(), k)));
    }
    for (std::size_t r = 0; r < values.size(); ++r) {
      std::vector<float> changed = values;
      changed[r] = -static_cast<float>(kInfinity);
      EXPECT_EQ(largest_magnitude(changed), kInfinity);
      changed[random.below(r + 1)] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(largest_magnitude(changed)));
    }
  });
}

TEST(LossKernels, RoundToTheNearestIntegersTiesToEven) {
  everywhere([] {
    Random random(1);
    for (const double unit : {0x1p-149, 0x1p-60, 0x1p-29, 1.0, 0x1p80}) {
      std::vector<float> gradients, hessians;
      for (int k = 0; k < 101; ++k) {
        const double halves = static_cast<double>(random.below(1u << random.below(31))) / 2;
        gradients.push_back(static_cast<float>((random.below(2) == 0 ? 1 : -1) * halves * unit));
        hessians.push_back(static_cast<float>(random.uniform() * 0x1p30 * unit));
      }
      std::vector<GradientPair> rounded(gradients.size());
      round_gradients(gradients, hessians, unit, 2 * unit, rounded.data());
      for (std::size_t r = 0; r < rounded.size(); ++r) {
        ASSERT_EQ(rounded[r].gradient, std::lrint(gradients[r] / unit));
        ASSERT_EQ(rounded[r].hessian, std::lrint(hessians[r] / (2 * unit)));
      }
    }
  });
}

}  // namespace
}  // namespace espalier
