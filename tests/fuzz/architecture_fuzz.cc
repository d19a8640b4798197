// SPDX-License-Identifier: Apache-2.0
// The grammar of layers: what is read is written so that it reads the same; what can be built is
// settled, builds the same again and can be evaluated.
#include <cmath>

#include "fuzz/fuzz.h"
#include "model/network.h"

namespace espalier::fuzz {

constexpr BuildLimits kLimits = {.parameters = 2000, .memory = 1 << 20};

void try_build(const Architecture& architecture) {
  const std::vector<Wire> wires = {{.monotone = true, .keypoints = 3},
                                   {.keypoints = 2, .learns_missing = true},
                                   {.shares = {0.5f, 0.25f, 0.25f}},
                                   {.monotone = true, .keypoints = 5}};
  std::optional<Network> network;
  const auto build = [&] {
    network.emplace(architecture, wires, MonotoneCalibrators::required, Random(1), kLimits);
  };
  if (!accepts(build)) return;
  require(network->params().size() <= kLimits.parameters &&
          network->build_memory() <= kLimits.memory);
  require(is_settled(network->architecture()));
  const Network again(network->architecture(), wires, MonotoneCalibrators::required, Random(2),
                      kLimits);
  require(to_string(again.architecture()) == to_string(network->architecture()));
  for (const double score : network->evaluate(std::vector<double>{2, -1, 3, 0.5}))
    require(std::isfinite(score));
}

void try_architecture(std::string_view text) {
  Architecture architecture;
  if (!accepts([&] { architecture = parse_architecture(text); })) return;
  const std::string written = to_string(architecture);
  require(to_string(parse_architecture(written)) == written);
  try_build(architecture);
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::fuzz::try_architecture(espalier::fuzz::text_of(data, size));
  return 0;
}
