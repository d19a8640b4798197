// SPDX-License-Identifier: Apache-2.0
// The hot loops on one core against the fused multiply-adds that the core can do, measured in the
// same round. Flops are those that the formula needs, not those that a kernel happens to do.
#include "layers/kernels.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "core/aligned.h"
#include "core/random.h"
#include "kernels/fma_peak.h"
#include "layers/lattice_gradients.h"
#include "layers/lattice_kernels.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRounds = 15;
volatile float sink;

struct Kernel {
  std::string name;
  double flops;  // a call
  std::function<void()> call;
};

AlignedFloats random_floats(std::size_t n, Random& random) {
  AlignedFloats values(n);
  for (float& value : values) value = static_cast<float>(random.uniform());
  return values;
}

// Calls that take about a tenth of a millisecond together.
int calls_for(const Kernel& kernel) { return std::max(1, static_cast<int>(5e6 / kernel.flops)); }

void report(const Kernel& kernel) {
  const int calls = calls_for(kernel);
  std::vector<double> rates, shares;
  for (int round = 0; round < kRounds; ++round) {
    constexpr long kPeakRounds = 2000;
    const double peak =
        kFmaFlopsARound * kPeakRounds / seconds(1, [] { sink = run_fma(kPeakRounds); });
    const double rate = kernel.flops * calls / seconds(calls, kernel.call);
    rates.push_back(rate / 1e9);
    shares.push_back(100 * rate / peak);
  }
  fmt::print("{:<36}{:>10.1f}{:>10.0f} %\n", kernel.name, median(rates), median(shares));
}

void lattices(Random& random) {
  for (int size = 2; size <= 12; ++size) {
    const std::size_t vertices = std::size_t{1} << size;
    const auto theta = random_floats(vertices, random);
    const auto x = random_floats(static_cast<std::size_t>(size * kTile), random);
    const auto g = random_floats(kTile, random);
    AlignedFloats slopes(vertices), coefficients(vertices), out(kTile),
        scratch(lattice_scratch(size));
    AlignedFloats grad(vertices), grad_x(x.size());
    lattice_slopes(theta.data(), size, slopes.data());
    const double leaves = static_cast<double>(vertices) / 2;
    const Kernel forward = {fmt::format("lattice forward, S = {}", size),
                            kTile * (2 * leaves + 3 * (leaves - 1)),
                            [&] { lattice_forward(slopes.data(), size, x.data(), out.data()); }};
    report(forward);
    report({fmt::format("lattice forward + backward, S = {}", size),
            kTile * 6.0 * static_cast<double>(vertices), [&] {
              lattice_coefficients(theta.data(), size, coefficients.data());
              lattice_backward(coefficients.data(), size, x.data(), g.data(), grad_x.data(),
                               grad.data(), scratch.data());
            }});
  }
}

void embedding(Random& random) {
  constexpr int kInputs = 64, kOutputs = 350;
  const auto weights = random_floats(kInputs * kOutputs, random);
  const auto x = random_floats(kInputs * kTile, random);
  AlignedFloats out(kOutputs * kTile);
  std::vector<LinearTerm> terms;
  for (int j = 0; j < kInputs; ++j) terms.push_back({j * kOutputs, j});
  report({"embedding, 64 inputs, 350 outputs", 2.0 * kTile * kInputs * kOutputs, [&] {
            add_terms(terms.data(), terms.size(), weights.data(), 0, kOutputs, x.data(),
                      out.data());
          }});
}

void calibrators(Random& random) {
  constexpr int kUnits = 350;
  for (const int last : {19, 49}) {
    const auto tables = random_floats(static_cast<std::size_t>(kUnits * (last + 1)), random);
    AlignedFloats x(kUnits * kTile), ranges(2 * kUnits), out(kUnits * kTile), grad(tables.size());
    for (float& each : x) each = static_cast<float>(random.normal());
    for (int u = 0; u < kUnits; ++u) {
      ranges[static_cast<std::size_t>(2 * u)] = -3;
      ranges[static_cast<std::size_t>(2 * u + 1)] = 3;
    }
    const UniformUnits units = {last, kUnits, tables.data(), ranges.data()};
    // Subtract, scale, find the segment, subtract, interpolate: 6 a value; and again as much for
    // the gradients.
    report({fmt::format("calibrators forward, {} segments", last), 6.0 * kTile * kUnits,
            [&] { calibrate(units, x.data(), out.data()); }});
    report({fmt::format("calibrators backward, {} segments", last), 12.0 * kTile * kUnits,
            [&] { calibrate_backward(units, x.data(), x.data(), grad.data(), out.data()); }});
  }
}

}  // namespace
}  // namespace espalier

int main() {
  espalier::Random random(1);
  fmt::print("{:<36}{:>10}{:>12}\n", "one core", "GFLOP/s", "of FMA peak");
  espalier::lattices(random);
  espalier::embedding(random);
  espalier::calibrators(random);
}
