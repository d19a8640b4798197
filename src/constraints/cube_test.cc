// SPDX-License-Identifier: Apache-2.0
#include "constraints/cube.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "constraints/check.h"
#include "constraints/lattice_shape.h"
#include "core/random.h"
#include "support/effort.h"

namespace espalier {
namespace {

// The list for a mask: bit d says that dimension d is monotone.
template <class T>
std::vector<Rise> rises_of(const std::vector<T>& theta, std::uint32_t mask) {
  const auto shape = LatticeShape::cube(std::countr_zero(theta.size()));
  std::vector<Rise> rises;
  for (int d = 0; d < shape.num_dims(); ++d) {
    if ((mask >> d & 1) != 0) rises.push_back(shape.rise(d));
  }
  return rises;
}

// The pairs of neighbours that fall, found without the list.
int falls(const std::vector<float>& theta, std::uint32_t mask) {
  int count = 0;
  for (std::uint32_t bit = 1; bit < theta.size(); bit *= 2) {
    for (std::size_t v = 0; v < theta.size(); ++v)
      count += (mask & bit) != 0 && (v & bit) == 0 && !(theta[v] <= theta[v + bit]) ? 1 : 0;
  }
  return count;
}

// The oracle. Isotonic regression on a partial order by divide and conquer: among the sets of
// vertices that contain everything above their members, find the one whose values exceed the mean
// by most; if it exceeds by nothing, all vertices get the mean, else the set and the rest are
// solved separately. That set is a minimal cut, found by augmenting paths. Values are whole
// numbers: the answer is exact.
class CutOracle {
 public:
  CutOracle(std::vector<std::int64_t> y, std::uint32_t monotone_dims)
      : y_(std::move(y)), dims_(monotone_dims), x_(y_.size()) {
    std::vector<int> all(y_.size());
    std::iota(all.begin(), all.end(), 0);
    solve(all);
  }

  const std::vector<double>& solution() const { return x_; }

 private:
  void solve(const std::vector<int>& vertices) {
    const auto n = static_cast<std::int64_t>(vertices.size());
    std::int64_t sum = 0;
    for (const int v : vertices) sum += y_[at(v)];
    std::vector<std::int64_t> excess;
    for (const int v : vertices) excess.push_back(n * y_[at(v)] - sum);
    const auto [upper, lower] = cut(vertices, excess);
    if (upper.empty() || lower.empty()) {
      for (const int v : vertices) x_[at(v)] = static_cast<double>(sum) / static_cast<double>(n);
      return;
    }
    solve(upper);
    solve(lower);
  }

  // Flow runs from vertices of positive excess upwards to those of negative excess. What can still
  // be reached from a positive rest is the upper set.
  std::pair<std::vector<int>, std::vector<int>> cut(const std::vector<int>& vertices,
                                                    std::vector<std::int64_t> excess) {
    const std::size_t n = vertices.size();
    std::vector<std::vector<std::int64_t>> flow(n, std::vector<std::int64_t>(n));
    std::vector<int> parent;
    while (true) {
      const int end = search(vertices, excess, flow, parent);
      if (end < 0) break;
      push(end, excess, flow, parent);
    }
    std::pair<std::vector<int>, std::vector<int>> parts;
    for (std::size_t i = 0; i < n; ++i) {
      (parent[i] != kUnseen ? parts.first : parts.second).push_back(vertices[i]);
    }
    return parts;
  }

  // Breadth first from all positive vertices; returns a negative one that was reached, or -1.
  int search(const std::vector<int>& vertices, const std::vector<std::int64_t>& excess,
             const std::vector<std::vector<std::int64_t>>& flow, std::vector<int>& parent) const {
    const int n = static_cast<int>(vertices.size());
    parent.assign(at(n), kUnseen);
    std::vector<int> queue;
    for (int i = 0; i < n; ++i) {
      if (excess[at(i)] <= 0) continue;
      parent[at(i)] = kRoot;
      queue.push_back(i);
    }
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const int i = queue[head];
      if (excess[at(i)] < 0) return i;
      for (int j = 0; j < n; ++j) {
        if (parent[at(j)] != kUnseen) continue;
        if (!is_edge(vertices[at(i)], vertices[at(j)]) && flow[at(j)][at(i)] == 0) continue;
        parent[at(j)] = i;
        queue.push_back(j);
      }
    }
    return -1;
  }

  void push(int end, std::vector<std::int64_t>& excess,
            std::vector<std::vector<std::int64_t>>& flow, const std::vector<int>& parent) const {
    std::int64_t amount = -excess[at(end)];
    int start = end;
    for (; parent[at(start)] != kRoot; start = parent[at(start)]) {
      const int from = parent[at(start)];
      // Against an edge, no more than what flows along it can be taken back.
      if (flow[at(start)][at(from)] > 0) amount = std::min(amount, flow[at(start)][at(from)]);
    }
    amount = std::min(amount, excess[at(start)]);
    for (int to = end; parent[at(to)] != kRoot; to = parent[at(to)]) {
      const int from = parent[at(to)];
      if (flow[at(to)][at(from)] > 0) {
        flow[at(to)][at(from)] -= amount;
      } else {
        flow[at(from)][at(to)] += amount;
      }
    }
    excess[at(start)] -= amount;
    excess[at(end)] += amount;
  }

  bool is_edge(int low, int high) const {
    const auto bit = static_cast<std::uint32_t>(low ^ high);
    return low < high && std::has_single_bit(bit) && (dims_ & bit) != 0;
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  static constexpr int kUnseen = -2;
  static constexpr int kRoot = -1;
  std::vector<std::int64_t> y_;
  std::uint32_t dims_;
  std::vector<double> x_;
};

constexpr double kGrid = 0x1p-20;

// A rising ramp with noise, on a grid of 2^-20 so that the oracle is exact.
std::vector<double> noisy_ramp(Random& random, int dims, double noise) {
  std::vector<double> theta(std::size_t{1} << dims);
  for (std::size_t v = 0; v < theta.size(); ++v) {
    const double ramp = static_cast<double>(std::popcount(v)) / dims;
    theta[v] = std::round((ramp + noise * random.normal()) / kGrid) * kGrid;
  }
  return theta;
}

std::vector<double> oracle(const std::vector<double>& theta, std::uint32_t mask) {
  std::vector<std::int64_t> y;
  for (const double value : theta) y.push_back(static_cast<std::int64_t>(value / kGrid));
  std::vector<double> x = CutOracle(y, mask).solution();
  for (double& value : x) value *= kGrid;
  return x;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

double mean(const std::vector<double>& a) {
  return std::accumulate(a.begin(), a.end(), 0.0) / static_cast<double>(a.size());
}

std::vector<float> to_float(const std::vector<double>& a) { return {a.begin(), a.end()}; }

std::vector<double> swept(std::vector<double> theta, std::uint32_t mask) {
  sweep_cube(std::span(theta), rises_of(theta, mask));
  return theta;
}

std::vector<double> projected(std::vector<double> theta, std::uint32_t mask) {
  project_cube(std::span(theta), rises_of(theta, mask));
  return theta;
}

// Calls f(theta, mask) for all masks of cubes up to max_dims, with little and much noise.
template <class F>
void for_random_cubes(int max_dims, std::uint64_t seed, const F& f) {
  Random random(seed);
  for (int dims = 1; dims <= max_dims; ++dims) {
    for (std::uint32_t mask = 0; mask < (1u << dims); ++mask) {
      for (const double noise : {0.02, 0.3, 2.0}) f(noisy_ramp(random, dims, noise), mask);
    }
  }
}

TEST(CutOracle, SolvesTheSquareByHand) {
  EXPECT_EQ(CutOracle({3, 1, 2, 6}, 3).solution(), (std::vector<double>{2, 2, 2, 6}));
  EXPECT_EQ(CutOracle({3, 1, 2, 6}, 1).solution(), (std::vector<double>{2, 2, 2, 6}));
  EXPECT_EQ(CutOracle({3, 1, 2, 6}, 2).solution(), (std::vector<double>{2.5, 1, 2.5, 6}));
  EXPECT_EQ(CutOracle({4, 3, 2, 1}, 3).solution(), (std::vector<double>{2.5, 2.5, 2.5, 2.5}));
  EXPECT_EQ(CutOracle({4, 3, 2, 1}, 0).solution(), (std::vector<double>{4, 3, 2, 1}));
}

TEST(ProjectCube, SolvesTheSquareByHand) {
  std::vector<float> theta = {4, 3, 2, 1};
  EXPECT_GT(project_cube(std::span(theta), rises_of(theta, 3)), 0);
  for (const float value : theta) EXPECT_NEAR(value, 2.5, 1e-6);
  theta = {3, 1, 2, 6};
  project_cube(std::span(theta), rises_of(theta, 2));
  EXPECT_EQ(theta, (std::vector<float>{2.5, 1, 2.5, 6}));
}

TEST(ProjectCube, IsNearestForAllMasksUpToSixDimensions) {
  for_random_cubes(effort(6, 4), 1, [](const std::vector<double>& theta, std::uint32_t mask) {
    ASSERT_LT(farthest(projected(theta, mask), oracle(theta, mask)), 1e-6) << theta.size() << mask;
  });
}

TEST(ProjectCube, IsNearestInNineDimensions) {
  Random random(2);
  const std::vector<double> theta = noisy_ramp(random, 9, 0.3);
  EXPECT_LT(farthest(projected(theta, 511), oracle(theta, 511)), 1e-6);
}

TEST(ProjectCubeByAdmm, FindsTheSamePointAsTheOtherMethod) {
  for_random_cubes(5, 8, [](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<double> x = theta;
    const int iterations = project_cube_by_admm(std::span(x), rises_of(x, mask));
    ASSERT_LT(iterations, CubeProjection().max_iterations);
    ASSERT_LT(farthest(x, oracle(theta, mask)), 1e-5) << theta.size() << " " << mask;
  });
}

TEST(ProjectCubeByAdmm, LandsExactlyInTheConeAsFloats) {
  for_random_cubes(5, 9, [](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<float> x = to_float(theta);
    project_cube_by_admm(std::span(x), rises_of(x, mask));
    ASSERT_EQ(falls(x, mask), 0);
    ASSERT_EQ(project_cube_by_admm(std::span(x), rises_of(x, mask)), 0);
  });
}

TEST(ProjectCube, LandsExactlyInTheConeAsFloats) {
  for_random_cubes(6, 3, [](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<float> x = to_float(theta);
    project_cube(std::span(x), rises_of(x, mask));
    ASSERT_EQ(falls(x, mask), 0);
    std::vector<float> again = x;
    ASSERT_EQ(project_cube(std::span(again), rises_of(again, mask)), 0);
    ASSERT_EQ(again, x);
  });
}

TEST(ProjectCube, ObeysItsOptions) {
  Random random(4);
  const std::vector<double> theta = noisy_ramp(random, 8, 0.3);
  std::vector<double> rough = theta, fine = theta, plain = theta;
  EXPECT_EQ(project_cube(std::span(rough), rises_of(rough, 255), {.max_iterations = 3}), 3);
  const int over_relaxed = project_cube(std::span(fine), rises_of(fine, 255));
  EXPECT_GT(project_cube(std::span(plain), rises_of(plain, 255), {.relaxation = 1}), over_relaxed);
  const std::vector<double> wanted = oracle(theta, 255);
  EXPECT_LT(farthest(plain, wanted), 2e-6);
  EXPECT_LT(distance(fine, wanted), distance(rough, wanted));
  EXPECT_EQ(falls(to_float(rough), 255), 0) << "cut short, it is still in the cone";
}

TEST(ProjectCube, ClippedIsTheNearestWithinBounds) {
  constexpr float kLo = 0.2f, kHi = 0.7f;
  for_random_cubes(4, 5, [](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<float> x = to_float(theta);
    project_cube(std::span(x), rises_of(x, mask));
    clip(x, {.count = x.size(), .lo = kLo, .hi = kHi});
    ASSERT_EQ(falls(x, mask), 0);
    const std::vector<double> free = oracle(theta, mask);
    for (std::size_t v = 0; v < x.size(); ++v) {
      ASSERT_TRUE(kLo <= x[v] && x[v] <= kHi);
      ASSERT_NEAR(x[v], std::clamp(free[v], 0.2, 0.7), 1e-6);
    }
  });
}

TEST(SweepCube, IsFeasibleAndIdempotentAndKeepsTheMean) {
  for_random_cubes(6, 6, [](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<float> x = to_float(theta);
    sweep_cube(std::span(x), rises_of(x, mask));
    ASSERT_EQ(falls(x, mask), 0);
    std::vector<float> again = x;
    sweep_cube(std::span(again), rises_of(again, mask));
    ASSERT_EQ(again, x);
    ASSERT_NEAR(mean(swept(theta, mask)), mean(theta), 1e-12);
  });
}

TEST(SweepCube, TakesTheMeanOfPairsWhoseSumOverflows) {
  std::vector<float> theta = {0x1.8p127f, 0x1p127f};
  sweep_cube(std::span(theta), rises_of(theta, 1));
  EXPECT_EQ(theta, (std::vector<float>{0x1.4p127f, 0x1.4p127f}));
}

TEST(SweepCube, BringsNoTwoPointsFartherApart) {
  Random random(7);
  for_random_cubes(6, 8, [&](const std::vector<double>& theta, std::uint32_t mask) {
    std::vector<double> other = theta;
    for (double& value : other) value += random.normal();
    const double before = distance(theta, other);
    ASSERT_LE(distance(swept(theta, mask), swept(other, mask)), before * (1 + 1e-12));
  });
}

TEST(SweepCube, IsAtMostABitFartherThanTheNearestPoint) {
  Random random(9);
  const std::vector<double> theta = noisy_ramp(random, 7, 0.3);
  const double nearest = distance(theta, oracle(theta, 127));
  const double sweep = distance(theta, swept(theta, 127));
  EXPECT_GE(sweep, nearest);
  EXPECT_LT(sweep, 1.3 * nearest);
}

// Any floats at all: huge ones whose sum overflows, subnormal ones, both zeros.
RC_GTEST_PROP(SweepCube, LandsInTheConeFromAnyFloats, (std::uint64_t seed)) {
  Random random(seed);
  const int dims = 1 + static_cast<int>(random.below(6));
  const auto mask = static_cast<std::uint32_t>(random.below(1u << dims));
  const float scales[] = {std::numeric_limits<float>::max(), 1e-44f, 1e-38f, 1.0f, 0.0f};
  const bool mixed = random.below(2) == 0;
  const float common = scales[random.below(5)];
  std::vector<float> theta(std::size_t{1} << dims);
  for (float& value : theta) {
    const float scale = mixed ? scales[random.below(5)] : common;
    value = static_cast<float>(2 * random.uniform() - 1) * scale;
  }
  sweep_cube(std::span(theta), rises_of(theta, mask));
  RC_ASSERT(falls(theta, mask) == 0);
  RC_ASSERT(check_finite(theta).violations == 0u);
  const std::vector<float> once = theta;
  sweep_cube(std::span(theta), rises_of(theta, mask));
  RC_ASSERT(theta == once);
}

RC_GTEST_PROP(ProjectCube, EndsInTheConeFromAnyFloats, (std::uint64_t seed)) {
  Random random(seed);
  const int dims = 1 + static_cast<int>(random.below(5));
  const auto mask = static_cast<std::uint32_t>(random.below(1u << dims));
  const float scales[] = {std::numeric_limits<float>::max(), 1e-44f, 1e10f, 1.0f};
  std::vector<float> theta(std::size_t{1} << dims);
  for (float& value : theta) {
    value = static_cast<float>(2 * random.uniform() - 1) * scales[random.below(4)];
  }
  RC_ASSERT(project_cube(std::span(theta), rises_of(theta, mask)) < 2000);
  RC_ASSERT(falls(theta, mask) == 0);
  RC_ASSERT(check_finite(theta).violations == 0u);
}

TEST(SweepCube, LeavesNanForTheCheckToFind) {
  std::vector<float> theta = {std::numeric_limits<float>::quiet_NaN(), 0, 1, 2};
  sweep_cube(std::span(theta), rises_of(theta, 3));
  EXPECT_GT(falls(theta, 3), 0);
}

}  // namespace
}  // namespace espalier
