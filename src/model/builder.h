// SPDX-License-Identifier: Apache-2.0
// From an architecture as written to layers: fills in the sizes that were left out, draws the
// wiring, decides who is monotone and who is bounded, and refuses what cannot be built before
// allocating it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/random.h"
#include "espalier/architecture.h"
#include "espalier/choices.h"
#include "layers/layer.h"

namespace espalier {

inline constexpr int kMaxWires = 1 << 24;                                // between two layers
inline constexpr std::uint64_t kMaxParameters = std::uint64_t{1} << 27;  // half a GiB

/// What a network may have at most. Both are counted before anything is allocated.
struct BuildLimits {
  std::uint64_t parameters = kMaxParameters;
  /// Bytes for what no parameter pays for: layers, the wires between them, and the orders between
  /// the leaves of trees.
  std::uint64_t memory = std::uint64_t{1} << 30;
};

/// What the last layer gives: so many numbers, and which of them no monotone wire may reach.
struct ScoreWires {
  int count = 1;
  std::vector<int> closed = {};
};

struct BuiltLayers {
  Architecture architecture;  // every size written out, every wire of a gather listed
  std::vector<std::unique_ptr<Layer>> layers;
  std::uint64_t memory = 0;  // as BuildLimits counts it
};

/// Whether every size is written and every wire of a gather listed, so that building draws nothing.
bool is_settled(const Architecture& architecture);

/// Throws Error (argument) that names the layer, also if the limits do not allow it or the last one
/// does not give those scores.
/// An architecture that came out of here needs no random numbers and builds the same layers again.
BuiltLayers build_layers(const Architecture& architecture, std::vector<Wire> inputs,
                         MonotoneCalibrators calibrators, Random random,
                         const BuildLimits& limits = {}, const ScoreWires& scores = {});

/// Whether a layer reads G groups of S wires and says so: lat(GxS), minmax(GxS).
bool has_groups(const LayerSpec& layer);

/// Which layer is the calibrators that read the table; nothing if it is read as it is.
std::optional<std::size_t> input_calibrators_at(const Architecture& architecture);

/// Those calibrators, with their keypoints settled.
std::optional<LayerSpec> input_calibrators(const Architecture& architecture);

}  // namespace espalier
