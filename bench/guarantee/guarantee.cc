// SPDX-License-Identifier: Apache-2.0
// What bit-exact monotonicity costs: the predictor against the plain float32 evaluation of the same
// network by the same kernels, tile by tile on one core, in turns; the median of the ratios.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "model/network.h"
#include "serve/compile.h"
#include "serve/interpreter.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRounds = 41;
constexpr int kTiles = 200;

// The shapes of the paper's experiments: inputs, and the network over them.
struct Case {
  const char* name;
  int inputs;
  const char* architecture;
};
constexpr Case kCases[] = {
    {"Adult 70x5D", 14, "cal(100) lin(350) cal(20) lat(70x5) cal(20) lin(1)"},
    {"Rater-Score 50x9D", 10, "cal(100) lin(450) cal(20) lat(50x9) cal(20) lin(1)"},
    {"random lattices 30x4D", 14, "cal(50) gather(30x4) lat(30x4) sum"},
    {"calibrated linear", 14, "cal(100) lin(1)"},
};

Network make_network(const Case& test, Random& random) {
  const std::vector<Wire> wires(static_cast<std::size_t>(test.inputs),
                                Wire{.monotone = true, .keypoints = 100});
  Network network(parse_architecture(test.architecture), wires, MonotoneCalibrators::required,
                  random);
  for (int l = 0; l < network.num_layers(); ++l) {
    Layer& layer = network.layer(l);
    const std::vector<WireStats> stats(static_cast<std::size_t>(layer.num_inputs()), {0.5f, 0.3f});
    layer.initialize(network.params().data() + network.offset(l),
                     {Initialization::data, 0, stats, &random});
  }
  return network;
}

void run(const Case& test) {
  Random random(1);
  const Network network = make_network(test, random);
  const MemberRunner compiled(compile(network), static_cast<std::size_t>(test.inputs));
  Network::Scratch plain(network);
  std::vector<float> exact(compiled.scratch_size());
  std::vector<float> cells(static_cast<std::size_t>(test.inputs) * kTile);
  for (float& cell : cells) cell = static_cast<float>(99 * random.uniform());

  const auto run_plain = [&] {
    std::copy(cells.begin(), cells.end(), plain.input());
    return network.forward(plain);
  };
  const auto run_exact = [&] {
    std::copy(cells.begin(), cells.end(), exact.begin());
    return compiled.tile(exact.data());
  };
  const float* wanted = run_plain();
  const float* found = run_exact();
  for (int r = 0; r < kTile; ++r) {
    if (std::abs(wanted[r] - found[r]) > 1e-4f) {
      fmt::print(stderr, "{}: the answers differ: {} and {}\n", test.name, wanted[r], found[r]);
      std::exit(1);
    }
  }
  std::vector<double> plain_times, exact_times, ratios;
  for (int i = 0; i < kRounds; ++i) {
    plain_times.push_back(seconds(kTiles, run_plain));
    exact_times.push_back(seconds(kTiles, run_exact));
    ratios.push_back(exact_times.back() / plain_times.back());
  }
  constexpr double kNanoseconds = 1e9 / (kTiles * kTile);
  fmt::print("{:<24}{:>12.0f}{:>12.0f}{:>10.3f}\n", test.name, median(plain_times) * kNanoseconds,
             median(exact_times) * kNanoseconds, median(ratios));
}

}  // namespace
}  // namespace espalier

int main() {
  fmt::print("{:<24}{:>12}{:>12}{:>10}\n", "ns a row, one core", "plain", "bit-exact", "ratio");
  for (const espalier::Case& test : espalier::kCases) espalier::run(test);
}
