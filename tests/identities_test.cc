// SPDX-License-Identifier: Apache-2.0
#include "support/identities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "layers/lattices.h"

namespace espalier {
namespace {

// A layer of lattices as one function.
double lattice_at(const std::vector<float>& theta, const std::vector<double>& x,
                  Interpolation interpolation) {
  const Lattices layer(std::vector<Wire>(x.size()), {.size = static_cast<int>(x.size()),
                                                     .interpolation = interpolation,
                                                     .bounds = OutputBounds::none});
  double out = 0;
  layer.evaluate(theta.data(), x.data(), &out);
  return out;
}

std::vector<double> random_point(std::size_t size, Random& random) {
  std::vector<double> x(size);
  for (double& each : x) each = random.uniform();
  return x;
}

std::vector<float> random_lattice(int size, Random& random) {
  std::vector<float> theta(std::size_t{1} << size);
  for (float& each : theta) each = static_cast<float>(random.uniform());
  return theta;
}

TEST(Lemma2, SimplexLatticesAreMinimumAndMaximum) {
  Random random(1);
  for (int size = 1; size <= 6; ++size) {
    for (int i = 0; i < 100; ++i) {
      const std::vector<double> x = random_point(static_cast<std::size_t>(size), random);
      const auto [least, most] = std::minmax_element(x.begin(), x.end());
      EXPECT_NEAR(lattice_at(minimum_lattice(size), x, Interpolation::simplex), *least, 1e-12);
      EXPECT_NEAR(lattice_at(maximum_lattice(size), x, Interpolation::simplex), *most, 1e-12);
      std::vector<float> printed(std::size_t{1} << size, 0.0f);  // as the lemma has it
      printed[0] = 1;
      EXPECT_NEAR(lattice_at(printed, x, Interpolation::simplex), 1 - *most, 1e-12);
    }
  }
}

// The cascade, and what collapse makes of it, at x.
struct Cascade {
  std::vector<std::vector<float>> inner;
  std::vector<float> outer;

  double at(const std::vector<double>& x, Interpolation interpolation) const {
    std::vector<double> between;
    auto begin = x.begin();
    for (const std::vector<float>& theta : inner) {
      const auto size = static_cast<std::ptrdiff_t>(std::countr_zero(theta.size()));
      between.push_back(lattice_at(theta, {begin, begin + size}, interpolation));
      begin += size;
    }
    return lattice_at(outer, between, interpolation);
  }
};

TEST(Lemma1, ACascadeOfMultilinearLatticesIsOneLattice) {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const Cascade cascade = {
        {random_lattice(2, random), random_lattice(1, random), random_lattice(3, random)},
        random_lattice(3, random)};
    const std::vector<float> whole = collapse(cascade.outer, cascade.inner);
    ASSERT_EQ(whole.size(), 64u);
    const std::vector<double> x = random_point(6, random);
    EXPECT_NEAR(lattice_at(whole, x, Interpolation::multilinear),
                cascade.at(x, Interpolation::multilinear), 1e-6);
  }
}

// With simplex interpolation the only lattice that agrees at the vertices differs between them.
TEST(Lemma1, FailsForSimplexInterpolation) {
  const Cascade cascade = {{minimum_lattice(2), maximum_lattice(2)}, maximum_lattice(2)};
  const std::vector<float> whole = collapse(cascade.outer, cascade.inner);
  for (std::size_t v = 0; v < whole.size(); ++v) {
    const std::vector<double> vertex = {double(v & 1), double(v >> 1 & 1), double(v >> 2 & 1),
                                        double(v >> 3 & 1)};
    EXPECT_EQ(lattice_at(whole, vertex, Interpolation::simplex),
              cascade.at(vertex, Interpolation::simplex));
  }
  Random random(4);
  const Cascade other = {{random_lattice(2, random), {0.25f, 0.75f}}, {0, 1, 1, 0}};
  const std::vector<float> one = collapse(other.outer, other.inner);
  double farthest = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> x = random_point(3, random);
    farthest = std::max(farthest, std::abs(lattice_at(one, x, Interpolation::simplex) -
                                           other.at(x, Interpolation::simplex)));
  }
  EXPECT_GT(farthest, 0.01);
}

TEST(Theorem1, AMinMaxNetworkIsALinearLayerAndTwoLayersOfSimplexLattices) {
  Random random(5);
  std::vector<Wire> inputs = {{.monotone = true, .keypoints = 2},
                              {.keypoints = 2},
                              {.monotone = true, .keypoints = 2},
                              {.shares = {0.5f, 0.25f, 0.25f}}};
  Network min_max(parse_architecture("lin(12,monotone=12) minmax(4x3)"), inputs,
                  MonotoneCalibrators::required, Random(1));
  for (float& p : min_max.params()) p = static_cast<float>(random.normal());
  for (int unit = 0; unit < min_max.layer(0).num_units(); ++unit) {
    min_max.layer(0).project(min_max.params().data() + min_max.layer(0).unit_begin(unit), unit,
                             Projection::exact, {});
  }
  const Network lattices = min_max_as_lattices(min_max);
  EXPECT_EQ(lattices.num_layers(), 4);
  for (int i = 0; i < 500; ++i) {
    const std::vector<double> row = {random.uniform(), random.uniform(), random.uniform(),
                                     static_cast<double>(random.below(4))};
    EXPECT_NEAR(lattices.evaluate(row)[0], min_max.evaluate(row)[0], 1e-5);
  }
  for (int l = 0; l < lattices.num_layers(); ++l) {
    lattices.layer(l).check(lattices.layer_params(l),
                            [](const std::string& culprit) { ADD_FAILURE() << culprit; });
  }
}

// Along a line a simplex network bends at finitely many points: second differences are zero almost
// everywhere. Those of a multilinear network are not.
TEST(PiecewiseLinear, SimplexNetworksAreAndMultilinearOnesAreNot) {
  const auto share_of_bends = [](const std::string& lattices) {
    Random random(6);
    Network network(parse_architecture("lin(6) " + lattices), {{.keypoints = 2}, {.keypoints = 2}},
                    MonotoneCalibrators::required, Random(1));
    for (float& p : network.params()) p = static_cast<float>(random.uniform());
    constexpr int kSteps = 2000;
    const auto at = [&](int i) {
      const double t = static_cast<double>(i) / kSteps;
      return network.evaluate(std::vector<double>{t, 0.3 + 0.5 * t})[0];
    };
    int bends = 0;
    for (int i = 1; i < kSteps; ++i) {
      const double bend = at(i - 1) - 2 * at(i) + at(i + 1);
      bends += std::abs(bend) > 1e-12 ? 1 : 0;
    }
    return static_cast<double>(bends) / kSteps;
  };
  EXPECT_LT(share_of_bends("lat(2x3,simplex) lat(simplex)"), 0.02);
  EXPECT_GT(share_of_bends("lat(2x3) lat"), 0.5);
}

}  // namespace
}  // namespace espalier
