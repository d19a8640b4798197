// SPDX-License-Identifier: Apache-2.0
// Each hot loop against a twin that is written plainly, and all instruction sets against each
// other, bit for bit.
#include "layers/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "core/aligned.h"
#include "core/random.h"
#include "hwy/targets.h"
#include "layers/lattice_gradients.h"
#include "layers/lattice_kernels.h"

namespace espalier {
namespace {

AlignedFloats random_floats(std::size_t n, Random& random, double lo = 0, double hi = 1) {
  AlignedFloats values(n);
  for (float& value : values) value = static_cast<float>(lo + (hi - lo) * random.uniform());
  return values;
}

// Runs a kernel with every instruction set that the machine has; all must give the same bits, which
// are returned.
AlignedFloats run_everywhere(std::size_t num_outputs,
                             const std::function<void(AlignedFloats&)>& kernel) {
  const std::int64_t supported = hwy::SupportedTargets();
  AlignedFloats first;
  for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
    if (target != HWY_SCALAR && (supported & target) == 0) continue;
    hwy::GetChosenTarget().Update(target);
    AlignedFloats out(num_outputs, 0.0f);
    kernel(out);
    if (first.empty()) first = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(first[i]))
          << hwy::TargetName(target) << ", output " << i;
    }
  }
  hwy::GetChosenTarget().Update(supported);
  return first;
}

// The twin: sum over vertices of theta times the weight of the vertex, in double.
double multilinear(const AlignedFloats& theta, int size, const float* x, int row) {
  double sum = 0;
  for (std::size_t v = 0; v < theta.size(); ++v) {
    double weight = 1;
    for (int d = 0; d < size; ++d) {
      const double xd = x[d * kTile + row];
      weight *= (v >> d & 1) != 0 ? xd : 1 - xd;
    }
    sum += weight * theta[v];
  }
  return sum;
}

class LatticeKernels : public ::testing::TestWithParam<int> {
 protected:
  Random random{static_cast<std::uint64_t>(GetParam())};
  const int size = GetParam();
  const std::size_t vertices = std::size_t{1} << size;
  const AlignedFloats theta = random_floats(vertices, random);
  const AlignedFloats x = random_floats(static_cast<std::size_t>(size * kTile), random);
  const AlignedFloats grad_out = random_floats(kTile, random, -1, 1);
  const AlignedFloats slopes = [this] {
    AlignedFloats values(vertices);
    lattice_slopes(theta.data(), size, values.data());
    return values;
  }();
};

TEST_P(LatticeKernels, ForwardIsTheWeightedSumOfTheVertices) {
  const AlignedFloats out = run_everywhere(kTile, [&](AlignedFloats& result) {
    lattice_forward(slopes.data(), size, x.data(), result.data());
  });
  for (int r = 0; r < kTile; ++r)
    ASSERT_NEAR(out[static_cast<std::size_t>(r)], multilinear(theta, size, x.data(), r), 2e-6);
}

// The output is linear in each vertex and in each input, so differences are derivatives.
TEST_P(LatticeKernels, BackwardHasTheDerivativesOfForward) {
  const AlignedFloats grads = run_everywhere(vertices + x.size(), [&](AlignedFloats& result) {
    AlignedFloats scratch(lattice_scratch(size)), grad_x(x.size()), coefficients(vertices);
    lattice_coefficients(theta.data(), size, coefficients.data());
    lattice_backward(coefficients.data(), size, x.data(), grad_out.data(), grad_x.data(),
                     result.data(), scratch.data());
    std::copy(grad_x.begin(), grad_x.end(), result.begin() + static_cast<std::ptrdiff_t>(vertices));
  });
  for (std::size_t v = 0; v < vertices; v += 1 + vertices / 16) {
    AlignedFloats unit(vertices, 0.0f);
    unit[v] = 1;
    double wanted = 0;
    for (int r = 0; r < kTile; ++r)
      wanted += grad_out[static_cast<std::size_t>(r)] * multilinear(unit, size, x.data(), r);
    ASSERT_NEAR(grads[v], wanted, 1e-5) << "vertex " << v;
  }
  for (int d = 0; d < size; ++d) {
    for (int r = 0; r < kTile; r += 21) {
      AlignedFloats moved = x;
      float& xd = moved[static_cast<std::size_t>(d * kTile + r)];
      xd = 1;
      const double at_1 = multilinear(theta, size, moved.data(), r);
      xd = 0;
      const double at_0 = multilinear(theta, size, moved.data(), r);
      ASSERT_NEAR(grads[vertices + static_cast<std::size_t>(d * kTile + r)],
                  grad_out[static_cast<std::size_t>(r)] * (at_1 - at_0), 2e-6)
          << "input " << d << ", row " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LatticeKernels, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 9, 11));

// Tables in registers, tables in memory, and tables too large for the banks of the gradient.
class CalibratorKernels : public ::testing::TestWithParam<int> {};

TEST_P(CalibratorKernels, InterpolateBetweenUniformKeypoints) {
  const int last = GetParam();
  Random random(static_cast<std::uint64_t>(last));
  const auto num_values = static_cast<std::size_t>(last) + 1;
  const AlignedFloats table = random_floats(num_values, random);
  const float range[] = {-1, 2};
  const UniformUnits unit = {last, 1, table.data(), range};
  AlignedFloats x = random_floats(kTile, random, -1.5, 2.5);
  x[0] = -1;
  x[1] = 2;
  const AlignedFloats grad_out = random_floats(kTile, random, -1, 1);
  const AlignedFloats results = run_everywhere(2 * kTile + num_values, [&](AlignedFloats& result) {
    calibrate(unit, x.data(), result.data());
    calibrate_backward(unit, x.data(), grad_out.data(), result.data() + 2 * kTile,
                       result.data() + kTile);
  });
  std::vector<double> grad_table(num_values);
  for (std::size_t r = 0; r < kTile; ++r) {
    const double u = std::clamp((x[r] + 1.0) * last / 3, 0.0, static_cast<double>(last));
    const auto k = std::min(static_cast<std::size_t>(u), num_values - 2);
    const double t = u - static_cast<double>(k), step = table[k + 1] - table[k];
    const bool inside = x[r] >= -1 && x[r] <= 2;
    EXPECT_NEAR(results[r], table[k] + t * step, 2e-5);
    // Where a row lies on a keypoint, either side is right.
    if (t > 1e-4 && t < 1 - 1e-4) {
      EXPECT_NEAR(results[kTile + r], inside ? grad_out[r] * step * last / 3 : 0.0, 1e-4);
    }
    grad_table[k] += grad_out[r] * (1 - t);
    grad_table[k + 1] += grad_out[r] * t;
  }
  for (std::size_t k = 0; k < num_values; ++k)
    EXPECT_NEAR(results[2 * kTile + k], grad_table[k], 1e-4) << "keypoint " << k;
}

TEST_P(CalibratorKernels, AddGradientsOfPositionsThatAreNotMissing) {
  const int last = GetParam();
  Random random(static_cast<std::uint64_t>(last));
  AlignedFloats positions = random_floats(kTile, random, 0, last);
  for (std::size_t r = 0; r < kTile; r += 5) positions[r] = -1;
  const AlignedFloats grad_out = random_floats(kTile, random, -1, 1);
  const auto num_values = static_cast<std::size_t>(last) + 1;
  const AlignedFloats grads = run_everywhere(num_values, [&](AlignedFloats& result) {
    interpolate_backward(last, positions.data(), grad_out.data(), result.data());
  });
  double found = 0, wanted = 0;  // the weights of a row add up to 1
  for (const float grad : grads) found += grad;
  for (std::size_t r = 0; r < kTile; ++r) wanted += positions[r] < 0 ? 0.0f : grad_out[r];
  EXPECT_NEAR(found, wanted, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Segments, CalibratorKernels, ::testing::Values(1, 2, 19, 32, 33, 64, 200));

TEST(LinearKernels, AddTermsIsAMatrixProduct) {
  Random random(1);
  constexpr int kInputs = 13, kOutputs = 23, kFirst = 2;
  const AlignedFloats weights = random_floats(kInputs * kOutputs, random, -1, 1);
  const AlignedFloats x = random_floats(kInputs * kTile, random);
  std::vector<LinearTerm> terms;
  for (int j = 0; j < kInputs; j += 2) terms.push_back({j * kOutputs, j});
  const AlignedFloats out = run_everywhere(kOutputs * kTile, [&](AlignedFloats& result) {
    add_terms(terms.data(), terms.size(), weights.data(), kFirst, kOutputs, x.data(),
              result.data());
  });
  for (int o = 0; o < kOutputs; ++o) {
    for (int r = 0; r < kTile; ++r) {
      double wanted = 0;
      for (int j = 0; o >= kFirst && j < kInputs; j += 2) {
        wanted += static_cast<double>(weights[static_cast<std::size_t>(j * kOutputs + o)]) *
                  x[static_cast<std::size_t>(j * kTile + r)];
      }
      ASSERT_NEAR(out[static_cast<std::size_t>(o * kTile + r)], wanted, 1e-5);
    }
  }
}

TEST(LinearKernels, TransposingThereAndBackChangesNothing) {
  Random random(2);
  for (const int wires : {1, 15, 16, 37}) {
    const AlignedFloats tile = random_floats(static_cast<std::size_t>(wires * kTile), random);
    const auto padded_size = static_cast<std::size_t>(padded(wires) * kTile);
    const AlignedFloats rows = run_everywhere(padded_size, [&](AlignedFloats& result) {
      tile_to_rows(tile.data(), wires, result.data());
    });
    for (int i = 0; i < wires; ++i) {
      for (int r = 0; r < kTile; ++r) {
        ASSERT_EQ(rows[static_cast<std::size_t>(r * padded(wires) + i)],
                  tile[static_cast<std::size_t>(i * kTile + r)]);
      }
    }
    const AlignedFloats back = run_everywhere(tile.size(), [&](AlignedFloats& result) {
      rows_to_tile(rows.data(), wires, result.data());
    });
    EXPECT_EQ(back, tile);
  }
}

TEST(LinearKernels, GradientsAreSumsOverRowsAndOutputs) {
  Random random(3);
  constexpr std::size_t kOutputs = 149;
  const AlignedFloats x = random_floats(kTile, random, -1, 1);
  const AlignedFloats rows = random_floats(kTile * kOutputs, random, -1, 1);
  const AlignedFloats outer = run_everywhere(kOutputs, [&](AlignedFloats& result) {
    add_outer(x.data(), rows.data(), kOutputs, kOutputs, result.data());
  });
  const AlignedFloats wires = random_floats(kTile * kOutputs, random, -1, 1);
  const AlignedFloats weights = random_floats(kOutputs, random, -1, 1);
  const AlignedFloats sums = run_everywhere(kTile, [&](AlignedFloats& result) {
    weighted_sum(weights.data(), wires.data(), kOutputs, result.data());
  });
  for (std::size_t i = 0; i < kOutputs; ++i) {
    double wanted = 0;
    for (std::size_t r = 0; r < kTile; ++r)
      wanted += static_cast<double>(x[r]) * rows[r * kOutputs + i];
    EXPECT_NEAR(outer[i], wanted, 1e-5);
  }
  for (std::size_t r = 0; r < kTile; ++r) {
    double wanted = 0;
    for (std::size_t i = 0; i < kOutputs; ++i)
      wanted += static_cast<double>(weights[i]) * wires[i * kTile + r];
    EXPECT_NEAR(sums[r], wanted, 1e-5);
  }
}

}  // namespace
}  // namespace espalier
