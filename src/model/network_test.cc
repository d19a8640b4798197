// SPDX-License-Identifier: Apache-2.0
#include "model/network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "espalier/error.h"
#include "support/random_model.h"

namespace espalier {
namespace {

// A place that lies higher along the columns of a grid that rise, unless they are missing there.
double raised_place(const Grid& grid, double code, Random& random) {
  const auto raise = [&](const GridAxis& axis, int place) {
    if (!axis.rises || place < (axis.has_missing ? grid.steps : 0)) return place;
    const int steps = static_cast<int>(random.below(static_cast<std::uint64_t>(3 * grid.steps)));
    return std::min(place + steps, (axis.vertices - 1) * grid.steps);
  };
  const int width = (grid.second.vertices - 1) * grid.steps + 1, place = static_cast<int>(code);
  return raise(grid.first, place / width) * width + raise(grid.second, place % width);
}

// Raising a monotone input never lowers the reference output. In double the rounding of sums of
// about a hundred terms of size one stays below the tolerance.
TEST(Network, RaisingAMonotoneInputNeverLowersTheReferenceOutput) {
  constexpr double kRounding = 1e-11;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Network network = random_network(random);
    const std::vector<Wire>& wires = network.layer(0).inputs();
    for (int i = 0; i < 30; ++i) {
      std::vector<double> row = random_row(network, random);
      const double before = network.evaluate(row)[0];
      for (std::size_t j = 0; j < wires.size(); ++j) {
        if (!wires[j].monotone || row[j] < 0) continue;
        std::vector<double> raised = row;
        raised[j] += random.uniform() < 0.3 ? 1e-3 * random.uniform() : 3 * random.uniform();
        raised[j] = std::min(raised[j], static_cast<double>(wires[j].keypoints - 1));
        if (wires[j].is_grid()) raised[j] = raised_place(wires[j].grid, row[j], random);
        ASSERT_GE(network.evaluate(raised)[0], before - kRounding * (1 + std::abs(before)))
            << "seed " << seed << ", input " << j << ": " << to_string(network.architecture());
      }
    }
  }
}

// The same search finds falls at once when the parameters are not projected: the test can fail.
TEST(Network, WithoutProjectionTheSearchFindsFalls) {
  int falls = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Network network = random_network(random);
    for (float& p : network.params()) p = static_cast<float>(random.normal());
    const std::vector<Wire>& wires = network.layer(0).inputs();
    const std::vector<double> row = random_row(network, random);
    for (std::size_t j = 0; j < wires.size(); ++j) {
      if (!wires[j].monotone || row[j] < 0) continue;
      std::vector<double> raised = row;
      raised[j] = wires[j].is_grid() ? raised_place(wires[j].grid, row[j], random)
                                     : static_cast<double>(wires[j].keypoints - 1);
      falls += network.evaluate(raised)[0] < network.evaluate(row)[0] - 1e-3;
    }
  }
  EXPECT_GT(falls, 0);
}

TEST(Network, TheFastForwardAgreesWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Network network = random_network(random);
    Network::Scratch scratch(network);
    std::vector<std::vector<double>> rows;
    for (int r = 0; r < kTile; ++r) {
      rows.push_back(random_row(network, random));
      for (std::size_t j = 0; j < rows.back().size(); ++j) {
        rows.back()[j] = static_cast<float>(rows.back()[j]);
        scratch.input()[j * kTile + static_cast<std::size_t>(r)] =
            static_cast<float>(rows.back()[j]);
      }
    }
    const float* out = network.forward(scratch);
    for (int r = 0; r < kTile; ++r) {
      const double wanted = network.evaluate(rows[static_cast<std::size_t>(r)])[0];
      ASSERT_NEAR(out[r], wanted, 2e-3 * (1 + std::abs(wanted)))
          << "seed " << seed << ", row " << r;
    }
  }
}

TEST(Network, EveryScoreOfSeveralIsThatOfTheReference) {
  constexpr int kScores = 3;
  for (const char* end :
       {"lin(3)", "lin", "lin(6) lat(3x2)", "lin(3) relu", "lin(3) cal(4,-3:3)"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Random random(seed);
      Schema schema = random_schema(random);
      schema.label = {.name = "y", .loss = Loss::log_loss, .classes = {"a", "b", "c"}};
      const Label& label = schema.label;
      Network network(parse_architecture(std::string("cal(5) lin(4) cal(4) lat(2x2) ") + end),
                      input_wires(schema), MonotoneCalibrators::required, random.split(1), {},
                      {.count = kScores});
      ASSERT_EQ(network.num_scores(), kScores);
      for (float& p : network.params()) p = static_cast<float>(random.uniform());
      // Two tiles and a part of a third.
      Dataset data{.num_rows = 150, .num_features = num_inputs(schema)};
      for (std::size_t r = 0; r < data.num_rows; ++r) {
        for (const double cell : random_row(network, random))
          data.cells.push_back(static_cast<float>(cell));
      }
      ThreadPool pool(2);
      const std::vector<float> outputs = network_outputs(network, label, data, pool);
      ASSERT_EQ(outputs.size(), data.num_rows * kScores);
      for (std::size_t r = 0; r < data.num_rows; ++r) {
        const std::vector<double> row(data.row(r), data.row(r) + data.num_features);
        const std::vector<double> wanted = network.evaluate(row);
        ASSERT_EQ(wanted.size(), std::size_t{kScores});
        for (std::size_t s = 0; s < kScores; ++s)
          ASSERT_NEAR(outputs[r * kScores + s], wanted[s], 2e-3 * (1 + std::abs(wanted[s]))) << end;
      }
    }
  }
}

TEST(Network, TheLastLayerGivesTheWantedNumberOfScores) {
  const std::vector<Wire> inputs = {{.keypoints = 3}, {.keypoints = 3}};
  const auto build = [&](const char* text, int num_scores) {
    return Network(parse_architecture(text), inputs, MonotoneCalibrators::required, Random(1), {},
                   {.count = num_scores});
  };
  EXPECT_EQ(build("cal(3) lin(1)", 1).num_scores(), 1);
  EXPECT_EQ(build("cal(3) lin", 4).num_scores(), 4);
  EXPECT_THROW(build("cal(3) lin(2)", 1), Error);
  EXPECT_THROW(build("cal(3) lin(1)", 2), Error);
  EXPECT_THROW(build("cal(3) sum", 2), Error);
}

TEST(Network, NoOutputIsLargerThanTheLayersSay) {
  Random random(11);
  for (int i = 0; i < 50; ++i) {
    const Network network = random_network(random);
    double largest = network.largest_input();
    for (int l = 0; l < network.num_layers(); ++l)
      largest = network.layer(l).largest_output(network.layer_params(l), largest);
    for (int r = 0; r < 50; ++r)
      ASSERT_LE(std::fabs(network.evaluate(random_row(network, random))[0]), largest);
  }
}

// What forward keeps for its next call never outlives a change of the parameters.
TEST(Network, ForgottenScratchIsAsGoodAsNew) {
  const std::vector<Wire> wires = {{.monotone = true, .keypoints = 3},
                                   {.shares = {0.5f, 0.25f, 0.25f}},
                                   {.shares = {0.75f, 0.25f}}};
  for (const char* architecture : {"cal(3) lin(4) cal(3) lat(2x2) sum", "cal(3) lat"}) {
    Network network(parse_architecture(architecture), wires, MonotoneCalibrators::required,
                    Random(1));
    Network::Scratch kept(network);
    Random random(2);
    for (int change = 0; change < 5; ++change) {
      for (float& p : network.params()) p = static_cast<float>(random.uniform());
      network.forget(kept);
      for (int pass = 0; pass < 3; ++pass) {
        Network::Scratch fresh(network);
        for (std::size_t r = 0; r < kTile; ++r) {
          // Positions in [0, 2]; codes, the last of which is unseen.
          const float row[] = {static_cast<float>(2 * random.uniform()),
                               static_cast<float>(random.below(4)),
                               static_cast<float>(random.below(3))};
          for (std::size_t j = 0; j < 3; ++j)
            kept.input()[j * kTile + r] = fresh.input()[j * kTile + r] = row[j];
        }
        const float* wanted = network.forward(fresh);
        const float* found = network.forward(kept);
        for (int r = 0; r < kTile; ++r) ASSERT_EQ(found[r], wanted[r]) << architecture;
      }
    }
  }
}

TEST(Network, GradientsReachEveryLayer) {
  Random random(5);
  const Network network = random_network(random);
  Network::Scratch scratch(network);
  std::vector<double> row = random_row(network, random);
  for (std::size_t j = 0; j < row.size(); ++j) {
    for (std::size_t r = 0; r < kTile; ++r)
      scratch.input()[j * kTile + r] = static_cast<float>(row[j]);
  }
  network.forward(scratch);
  std::vector<float> grad_out(kTile, 0.0f), grad(network.params().size(), 0.0f);
  grad_out[3] = 1;
  network.backward(scratch, grad_out.data(), grad.data());
  // Along the gradient the reference output rises as the gradient says, to first order.
  Network moved(network.architecture(), network.layer(0).inputs(), MonotoneCalibrators::required,
                Random(0));
  for (int l = 0; l < network.num_layers(); ++l) {
    std::copy(network.layer(l).constants().begin(), network.layer(l).constants().end(),
              moved.layer(l).constants().begin());
  }
  double squares = 0;
  for (const float g : grad) squares += static_cast<double>(g) * g;
  ASSERT_GT(squares, 0);
  const double step = 1e-3 / std::sqrt(squares);
  for (std::size_t p = 0; p < grad.size(); ++p) {
    moved.params()[p] = network.params()[p] + static_cast<float>(step * grad[p]);
  }
  for (double& x : row) x = static_cast<float>(x);
  EXPECT_NEAR((moved.evaluate(row)[0] - network.evaluate(row)[0]) / step, squares, 0.05 * squares);
}

}  // namespace
}  // namespace espalier
