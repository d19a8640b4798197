// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "layers/linear.h"
#include "layers/min_max.h"
#include "layers/relu.h"
#include "layers/trees.h"
#include "layers/wiring.h"
#include "support/check_layer.h"

namespace espalier {
namespace {

std::vector<Wire> inner_wires(int count, int monotone) {
  std::vector<Wire> wires;
  for (int i = 0; i < count; ++i) wires.push_back({.monotone = i % count < monotone});
  return wires;
}

const Wire kNumber = {.monotone = true, .keypoints = 7};
const Wire kNumberWithMissing = {.keypoints = 5, .learns_missing = true};
const Wire kCategory = {.shares = {0.5f, 0.3f, 0.2f}};
// Both columns rise and may be missing; and a word beside a column that rises.
const Wire kGrid = {
    .monotone = true,
    .grid = {.first = {.vertices = 4, .rises = true, .has_missing = true, .is_number = true},
             .second = {.vertices = 3, .rises = true, .has_missing = true, .is_number = true},
             .steps = 4}};
const Wire kGridWithWords = {.monotone = true,
                             .grid = {.first = {.vertices = 3},
                                      .second = {.vertices = 5, .rises = true, .is_number = true},
                                      .steps = 2}};

TEST(Calibrators, GradientsMatchFiniteDifferencesOnTheInputs) {
  Random random(1);
  const Calibrators layer({kNumber, kNumberWithMissing, kCategory, kGrid, kGridWithWords}, {});
  check_layer(layer, random, 0, 1);
}

TEST(Calibrators, GradientsMatchFiniteDifferencesInsideANetwork) {
  Random random(2);
  const Calibrators layer(inner_wires(3, 1), {.keypoints = 6, .range = Range{-2, 3}});
  check_layer(layer, random, -3, 4);
}

TEST(Calibrators, ThePapersFigureInterpolatesAndClips) {
  // Five keypoints over [-10, 10].
  const Calibrators layer(inner_wires(1, 0), {.keypoints = 5, .range = Range{-10, 10}});
  const std::vector<float> outputs = {0.0f, 0.2f, 0.8f, 0.5f, 1.0f};
  for (const auto& [x, wanted] : {std::pair{-10.0, 0.0},
                                  {-7.5, 0.1},
                                  {0.0, 0.8},
                                  {2.5, 0.65},
                                  {10.0, 1.0},
                                  {-99.0, 0.0},
                                  {99.0, 1.0}}) {
    double out = 0;
    layer.evaluate(outputs.data(), &x, &out);
    EXPECT_NEAR(out, wanted, 1e-6) << x;
  }
}

TEST(Calibrators, EqualTheSumOfRectifiersOfEquationTwo) {
  // c(x) = sum_k alpha[k] ReLU(x - a[k]) + b[1], inside the range.
  Random random(3);
  constexpr int kK = 6;
  const Calibrators layer(inner_wires(1, 0), {.keypoints = kK, .range = Range{0, 10}});
  std::vector<float> b(kK);
  for (float& value : b) value = static_cast<float>(random.uniform());
  const double step = 10.0 / (kK - 1);
  for (int i = 0; i < 200; ++i) {
    const double x = 10 * random.uniform();
    double sum = b[0];
    for (int k = 0; k < kK; ++k) {
      const auto rise = [&](int from) {
        return (static_cast<double>(b[from + 1]) - b[from]) / step;
      };
      const double right = k + 1 < kK ? rise(k) : 0;
      const double left = k > 0 ? rise(k - 1) : 0;
      sum += (right - left) * std::max(0.0, x - k * step);
    }
    double out = 0;
    layer.evaluate(b.data(), &x, &out);
    EXPECT_NEAR(out, sum, 1e-9);
  }
}

TEST(Calibrators, AGridHasItsValuesAtItsVerticesAndTheirMeanInTheMiddle) {
  const Calibrators layer({kGridWithWords}, {});
  std::vector<float> params(15);
  for (std::size_t i = 0; i < params.size(); ++i) params[i] = static_cast<float>(i * i);
  const auto at = [&](int p, int q) {  // steps along both columns
    const double code = p * 9 + q;
    double out = 0;
    layer.evaluate(params.data(), &code, &out);
    return out;
  };
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 5; ++l)
      EXPECT_EQ(at(2 * k, 2 * l), params[static_cast<std::size_t>(5 * k + l)]);
  }
  EXPECT_EQ(at(1, 3), (params[1] + params[2] + params[6] + params[7]) / 4);
}

TEST(Calibrators, AnUnseenCategoryIsTheWeightedMean) {
  const Calibrators layer({kCategory}, {});
  const std::vector<float> values = {0.1f, 0.5f, 0.9f};
  const double unseen = 3;
  double out = 0;
  layer.evaluate(values.data(), &unseen, &out);
  EXPECT_NEAR(out, 0.5 * 0.1 + 0.3 * 0.5 + 0.2 * 0.9, 1e-7);
  EXPECT_EQ(layer.num_params(), 3u);
}

TEST(Linear, GradientsMatchFiniteDifferences) {
  Random random(4);
  for (const Embedding embedding : {Embedding::mixed, Embedding::split}) {
    const Linear layer({kNumber, kCategory, Wire{.keypoints = 2}, Wire{.monotone = true}},
                       {.outputs = 21, .monotone_outputs = 9, .embedding = embedding});
    check_layer(layer, random, 0, 1);
  }
}

TEST(Linear, OneOutputReadsAllWires) {
  Random random(5);
  const Linear layer({kCategory, Wire{.monotone = true}, Wire{}},
                     {.outputs = 1, .monotone_outputs = 1});
  EXPECT_EQ(layer.num_params(), 3u + 1 + 1 + 1);
  check_layer(layer, random, -1, 1);
}

TEST(Linear, SplitKeepsMonotoneAndOtherWiresApart) {
  const Linear layer(inner_wires(5, 2),
                     {.outputs = 4, .monotone_outputs = 2, .embedding = Embedding::split});
  EXPECT_EQ(layer.num_params(), 2u * 2 + 2 * 3 + 4);
  EXPECT_TRUE(layer.outputs()[1].monotone);
  EXPECT_FALSE(layer.outputs()[2].monotone);
}

TEST(Linear, NonMonotoneRowsNeverReadMonotoneWires) {
  const Linear layer(inner_wires(5, 2),
                     {.outputs = 4, .monotone_outputs = 2, .embedding = Embedding::mixed});
  EXPECT_EQ(layer.num_params(), 2u * 2 + 4 * 3 + 4);
  EXPECT_EQ(layer.reach(0).end, 2);
}

TEST(Linear, NeverCutsTheMonotoneInputsOff) {
  // floor(5 * 1 / 20) would be 0.
  EXPECT_EQ(Linear::monotone_share(inner_wires(20, 1), 5, Embedding::split), 1);
  EXPECT_EQ(Linear::monotone_share(inner_wires(20, 19), 5, Embedding::split), 4);
  EXPECT_EQ(Linear::monotone_share(inner_wires(49, 19), 150, Embedding::split), 58);
  EXPECT_EQ(Linear::monotone_share(inner_wires(4, 0), 5, Embedding::split), 0);
}

TEST(Lattice, GradientsMatchFiniteDifferences) {
  Random random(6);
  for (const Interpolation interpolation : {Interpolation::multilinear, Interpolation::simplex}) {
    for (const int size : {1, 2, 3, 5}) {
      const Lattices layer(inner_wires(2 * size, size),
                           {.size = size, .interpolation = interpolation});
      check_layer(layer, random, -0.2, 1.2);
    }
  }
}

TEST(Lattice, InterpolatesExactlyAtItsVertices) {
  Random random(7);
  for (const Interpolation interpolation : {Interpolation::multilinear, Interpolation::simplex}) {
    const Lattices layer(inner_wires(3, 0), {.size = 3, .interpolation = interpolation});
    std::vector<float> theta(8);
    for (float& value : theta) value = static_cast<float>(random.normal());
    for (std::size_t v = 0; v < 8; ++v) {
      const double x[3] = {double(v & 1), double(v >> 1 & 1), double(v >> 2 & 1)};
      double out = 0;
      layer.evaluate(theta.data(), x, &out);
      EXPECT_NEAR(out, theta[v], 1e-12);
    }
  }
}

TEST(Lattice, ThePapersWeightsForTwoInputs) {
  // psi(x) = ((1-x0)(1-x1), (1-x0) x1, x0 (1-x1), x0 x1) in the order (0,0), (0,1), (1,0), (1,1) of
  // the paper. Here x0 is the low bit, so the two middle vertices change places.
  const Lattices layer(inner_wires(2, 0), {.size = 2});
  const double x[2] = {0.3, 0.9};
  const double psi[4] = {0.7 * 0.1, 0.3 * 0.1, 0.7 * 0.9, 0.3 * 0.9};
  for (std::size_t v = 0; v < 4; ++v) {
    std::vector<float> theta(4, 0.0f);
    theta[v] = 1;
    double out = 0;
    layer.evaluate(theta.data(), x, &out);
    EXPECT_NEAR(out, psi[v], 1e-12) << v;
  }
}

TEST(Lattice, SimplexTablesOfMinimumAndMaximum) {
  // Lemma 2 of the paper, with the table of the maximum corrected to (0, 1, ..., 1).
  Random random(8);
  const Lattices layer(inner_wires(4, 0), {.size = 4, .interpolation = Interpolation::simplex});
  std::vector<float> minimum(16, 0.0f), maximum(16, 1.0f);
  minimum[15] = 1;
  maximum[0] = 0;
  for (int i = 0; i < 100; ++i) {
    double x[4], out = 0;
    for (double& value : x) value = random.uniform();
    layer.evaluate(minimum.data(), x, &out);
    EXPECT_NEAR(out, *std::min_element(x, x + 4), 1e-12);
    layer.evaluate(maximum.data(), x, &out);
    EXPECT_NEAR(out, *std::max_element(x, x + 4), 1e-12);
  }
}

TEST(Lattice, OneMonotoneInputMakesTheOutputMonotone) {
  const Lattices layer({Wire{}, Wire{.monotone = true}, Wire{}, Wire{}}, {.size = 2});
  EXPECT_TRUE(layer.outputs()[0].monotone);
  EXPECT_FALSE(layer.outputs()[1].monotone);
}

TEST(Wiring, GradientsMatchFiniteDifferences) {
  Random random(9);
  check_layer(Gather(inner_wires(4, 1), {3, 0, 0, 2, 1}), random, -1, 1);
  check_layer(Sum(inner_wires(4, 1)), random, -1, 1);
  check_layer(MinMax(inner_wires(6, 1), 3), random, -1, 1);
  check_layer(Relu(inner_wires(4, 1)), random, -1, 1);
}

// Trees of at most so many questions on the way to a leaf, which compare with halves of whole
// numbers.
std::vector<TreeNode> random_nodes(int num_wires, int depth, Random& random) {
  if (depth == 0 || random.below(5) == 0) return {TreeNode{}};
  std::vector<TreeNode> nodes = {
      {static_cast<int>(random.below(static_cast<std::uint64_t>(num_wires))),
       static_cast<float>(random.below(3)) + 0.5f}};
  for (int answer = 0; answer < 2; ++answer) {
    const std::vector<TreeNode> next = random_nodes(num_wires, depth - 1, random);
    nodes.insert(nodes.end(), next.begin(), next.end());
  }
  return nodes;
}

TEST(Trees, GradientsMatchFiniteDifferences) {
  Random random(11);
  for (int seed = 0; seed < 20; ++seed) {
    std::vector<TreeNode> nodes;
    for (int tree = 0; tree < 3; ++tree) {
      const std::vector<TreeNode> own = random_nodes(4, 5, random);
      nodes.insert(nodes.end(), own.begin(), own.end());
    }
    const Trees layer(inner_wires(4, 2), nodes, OutputBounds::none);
    EXPECT_EQ(layer.num_outputs(), 3);
    check_layer(layer, random, -0.5, 4);
  }
}

TEST(Trees, WorkedExample) {
  // Is wire 0 above 0.5? No: 10. Yes: is wire 1 above 2? No: 20, yes: 30. Then a tree of one leaf.
  const std::vector<TreeNode> nodes = {{0, 0.5f}, {}, {1, 2.0f}, {}, {}, {}};
  const Trees layer(inner_wires(2, 1), nodes, OutputBounds::none);
  const std::vector<float> params = {10, 20, 30, 7};
  const auto at = [&](double first, double second) {
    const double in[] = {first, second};
    double out[2];
    layer.evaluate(params.data(), in, out);
    EXPECT_EQ(out[1], 7);
    return out[0];
  };
  EXPECT_EQ(at(0.5, 9), 10);
  EXPECT_EQ(at(0.6, 2), 20);
  EXPECT_EQ(at(0.6, 2.1), 30);
  // Wire 0 is monotone, so both leaves behind yes lie above the one behind no.
  EXPECT_THAT(layer.inequalities(0).orders, testing::ElementsAre(Order{0, 1}, Order{0, 2}));
  EXPECT_TRUE(layer.outputs()[0].monotone);
  EXPECT_FALSE(layer.outputs()[1].monotone);
}

// Every pair of places at which all monotone wires rise or stay and the others stay: their leaves
// are in order, or the same. And every order is that of such a pair.
TEST(Trees, OrdersAreThoseOfAllPairsOfRows) {
  constexpr int kWires = 4, kPlaces = 4;
  const auto is_monotone = [](int wire) { return wire < 2; };
  Random random(12);
  for (int seed = 0; seed < 60; ++seed) {
    const std::vector<TreeNode> nodes = random_nodes(kWires, 6, random);
    const TreePlan plan(nodes);
    std::set<std::pair<std::size_t, std::size_t>> wanted, found;
    for (const Order& order : leaf_orders(nodes, is_monotone)) found.emplace(order.low, order.high);
    std::vector<std::array<float, kWires>> rows;
    for (int i = 0; i < kPlaces * kPlaces * kPlaces * kPlaces; ++i)
      rows.push_back({float(i % 4), float(i / 4 % 4), float(i / 16 % 4), float(i / 64)});
    std::set<std::size_t> reached;
    for (const auto& low : rows) {
      reached.insert(plan.leaf(0, low.data(), 1));
      for (const auto& high : rows) {
        if (low[0] > high[0] || low[1] > high[1] || low[2] != high[2] || low[3] != high[3])
          continue;
        const std::size_t from = plan.leaf(0, low.data(), 1), to = plan.leaf(0, high.data(), 1);
        if (from != to) wanted.emplace(from, to);
      }
    }
    EXPECT_TRUE(std::ranges::includes(found, wanted));
    for (const auto& [low, high] : found) {
      EXPECT_LT(low, high);
      if (reached.contains(low) && reached.contains(high)) {
        EXPECT_TRUE(wanted.contains({low, high}));
      }
    }
  }
}

// Penalties are differentiable: their gradient is that of the sums of squares they stand for.
TEST(Penalties, CalibratorsPenaliseStepsAndBends) {
  const Calibrators layer(inner_wires(1, 0), {.keypoints = 4, .range = Range{0, 1}});
  const std::vector<float> b = {0.0f, 0.5f, 0.6f, 0.2f};
  const auto value = [](const std::vector<float>& v) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += 2 * (v[k + 1] - v[k]) * (v[k + 1] - v[k]);
    for (int k = 0; k < 2; ++k) sum += 3 * std::pow(v[k] - 2 * v[k + 1] + v[k + 2], 2);
    return sum;
  };
  std::vector<float> grad(4, 0.0f);
  layer.penalize(b.data(), grad.data(), 0, {.calibrator_laplacian = 2, .calibrator_hessian = 3});
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<float> up = b, down = b;
    up[k] += 0.01f;
    down[k] -= 0.01f;
    EXPECT_NEAR(grad[k], (value(up) - value(down)) / 0.02, 1e-3);
  }
}

TEST(Penalties, LatticesPenaliseEdgesAndTwists) {
  Random random(10);
  const Lattices layer(inner_wires(3, 0), {.size = 3});
  std::vector<float> theta(8);
  for (float& t : theta) t = static_cast<float>(random.normal());
  const auto value = [](const std::vector<float>& t) {
    double sum = 0;
    for (std::size_t v = 0; v < 8; ++v) {
      for (std::size_t a : {1u, 2u, 4u}) {
        if ((v & a) != 0) continue;
        sum += 2 * std::pow(t[v | a] - t[v], 2);
        for (std::size_t b : {1u, 2u, 4u}) {
          if (b <= a || (v & b) != 0) continue;
          sum += 5 * std::pow(t[v] + t[v | a | b] - t[v | a] - t[v | b], 2);
        }
      }
    }
    return sum;
  };
  std::vector<float> grad(8, 0.0f);
  layer.penalize(theta.data(), grad.data(), 0, {.lattice_laplacian = 2, .lattice_torsion = 5});
  for (std::size_t v = 0; v < 8; ++v) {
    std::vector<float> up = theta, down = theta;
    up[v] += 0.01f;
    down[v] -= 0.01f;
    EXPECT_NEAR(grad[v], (value(up) - value(down)) / 0.02, 1e-2 * (1 + std::abs(grad[v])));
  }
}

// The inequalities of a layer as docs/math.md writes them: params[low] <= params[high]; kZero and
// kOne stand for the bounds.
constexpr int kZero = -1, kOne = -2;
using Pairs = std::vector<std::pair<int, int>>;

void add_bounds(int begin, int end, Pairs& pairs) {
  for (int i = begin; i < end; ++i) {
    pairs.emplace_back(kZero, i);
    pairs.emplace_back(i, kOne);
  }
}

// Each of them, and no other, is in the list that projection and check read.
void expect_inequalities(const Layer& layer, const Pairs& pairs) {
  const auto violations = [&](const std::vector<float>& params) {
    return layer.check(params.data(), [](const std::string&) {}).violations;
  };
  const std::vector<float> equal(layer.num_params(), 0.5f);
  const Check all = layer.check(equal.data(), [](const std::string&) {});
  EXPECT_EQ(all.inequalities, pairs.size());
  EXPECT_EQ(all.violations, 0u);
  for (const auto& [low, high] : pairs) {
    std::vector<float> broken = equal;
    if (low >= 0) broken[static_cast<std::size_t>(low)] = high == kOne ? 1.5f : 0.75f;
    if (high >= 0) broken[static_cast<std::size_t>(high)] = low == kZero ? -0.5f : 0.25f;
    EXPECT_GT(violations(broken), 0u) << low << " <= " << high;
  }
}

TEST(Inequalities, AreThoseOfTheFormulas) {
  const Wire rising = {.monotone = true, .keypoints = 4, .learns_missing = true};
  const Wire free = {.keypoints = 3};
  Pairs pairs;
  add_bounds(0, 5 + 3 + 3, pairs);
  for (int k = 0; k < 3; ++k) pairs.emplace_back(k, k + 1);  // the missing cell, 4, is free
  expect_inequalities(Calibrators({rising, free, kCategory}, {}), pairs);
  for (int k = 5; k < 7; ++k) pairs.emplace_back(k, k + 1);
  expect_inequalities(
      Calibrators({rising, free, kCategory}, {.monotone = MonotoneCalibrators::all}), pairs);

  // A table [4][3] in which row and column 0 are missing cells: in no order with the others, but
  // the other column still rises along them.
  pairs.clear();
  add_bounds(0, 12, pairs);
  for (int k = 0; k < 4; ++k) pairs.emplace_back(3 * k + 1, 3 * k + 2);
  for (int l = 0; l < 3; ++l) {
    pairs.emplace_back(3 + l, 6 + l);
    pairs.emplace_back(6 + l, 9 + l);
  }
  expect_inequalities(Calibrators({kGrid}, {}), pairs);
  pairs.clear();
  add_bounds(0, 15, pairs);
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 4; ++l) pairs.emplace_back(5 * k + l, 5 * k + l + 1);
  }
  expect_inequalities(Calibrators({kGridWithWords}, {}), pairs);

  // Two monotone wires of three reach the two monotone outputs of five.
  pairs.clear();
  for (int i = 0; i < 2 * 2; ++i) pairs.emplace_back(kZero, i);
  expect_inequalities(Linear(inner_wires(3, 2), {.outputs = 5, .monotone_outputs = 2}), pairs);

  // Two lattices of three wires; the first four wires are monotone.
  pairs.clear();
  add_bounds(0, 16, pairs);
  for (int wire = 0; wire < 4; ++wire) {
    const int bit = 1 << wire % 3;
    for (int v = 0; v < 8; ++v) {
      const int first = wire / 3 * 8;
      if ((v & bit) == 0) pairs.emplace_back(first + v, first + v + bit);
    }
  }
  expect_inequalities(Lattices(inner_wires(6, 4), {.size = 3}), pairs);
}

// Whatever the parameters were, after project every inequality holds exactly.
TEST(Projection, EveryLayerLandsWhereItsCheckHolds) {
  Random random(11);
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<Calibrators>(
      std::vector<Wire>{kNumber, kNumberWithMissing, kCategory, kGrid, kGridWithWords},
      Calibrators::Shape{}));
  layers.push_back(std::make_unique<Linear>(inner_wires(6, 3),
                                            Linear::Shape{.outputs = 8, .monotone_outputs = 4}));
  layers.push_back(std::make_unique<Lattices>(inner_wires(10, 4), Lattices::Shape{.size = 5}));
  for (const auto& layer : layers) {
    for (const Projection how : {Projection::sweep, Projection::exact, Projection::admm}) {
      std::vector<float> params(layer->num_params());
      for (float& p : params) p = static_cast<float>(random.normal());
      const auto ignore = [](const std::string&) {};
      EXPECT_GT(layer->check(params.data(), ignore).violations, 0u);
      for (int u = 0; u < layer->num_units(); ++u)
        layer->project(params.data() + layer->unit_begin(u), u, how, {});
      const Check check =
          layer->check(params.data(), [](const std::string& culprit) { ADD_FAILURE() << culprit; });
      EXPECT_GT(check.inequalities, 0u);
    }
  }
}

}  // namespace
}  // namespace espalier
