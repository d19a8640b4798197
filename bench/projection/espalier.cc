// SPDX-License-Identifier: Apache-2.0
// Microseconds to make one lattice monotone in all its inputs: the sweep of training and the
// nearest point, on lattices from a file, with the mean distance that they move a lattice.
//   bench_projection FILE SIZE    # text: 2^SIZE numbers per lattice
#include <cmath>
#include <functional>

#include "constraints/cube.h"
#include "constraints/lattice_shape.h"
#include "contender.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRepeats = 15;

struct Lattices {
  std::vector<float> theta;  // [lattice][2^size]
  int size;
  std::size_t vertices() const { return std::size_t{1} << size; }
  std::size_t count() const { return theta.size() / vertices(); }
  std::span<float> operator[](std::size_t g) {
    return std::span(theta).subspan(g * vertices(), vertices());
  }
};

bool is_monotone(std::span<const float> theta) {
  for (std::size_t v = 0; v < theta.size(); ++v) {
    for (std::size_t bit = 1; bit < theta.size(); bit *= 2) {
      if (!(v & bit) && theta[v] > theta[v + bit]) return false;
    }
  }
  return true;
}

void measure(const Lattices& input, const char* name,
             const std::function<void(std::span<float>)>& project) {
  Lattices output = input;
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    output = input;
    times.push_back(seconds(1, [&] {
      for (std::size_t g = 0; g < output.count(); ++g) project(output[g]);
    }));
  }
  double moved = 0;
  for (std::size_t g = 0; g < output.count(); ++g) {
    if (!is_monotone(output[g])) throw Error(ErrorKind::data, "a projected lattice falls");
  }
  for (std::size_t i = 0; i < input.theta.size(); ++i)
    moved += std::pow(output.theta[i] - input.theta[i], 2);
  report({{"contender", name},
          {"value", median(times) / static_cast<double>(input.count()) * 1e6},
          {"unit", "us/lattice"},
          {"distance", std::sqrt(moved / static_cast<double>(input.count()))},
          {"worst_violation", 0.0}});
}

void run(char** argv) {
  Lattices lattices{.theta = {}, .size = std::stoi(argv[2])};
  std::ifstream file(argv[1]);
  for (float value; file >> value;) lattices.theta.push_back(value);
  const auto shape = LatticeShape::cube(lattices.size);
  std::vector<Rise> all;
  for (int d = 0; d < lattices.size; ++d) all.push_back(shape.rise(d));
  measure(lattices, "espalier", [&](std::span<float> theta) { sweep_cube(theta, all); });
  measure(lattices, "espalier, nearest", [&](std::span<float> theta) { project_cube(theta, all); });
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
