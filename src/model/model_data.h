// SPDX-License-Identifier: Apache-2.0
// What a Model holds.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/choices.h"
#include "espalier/schema.h"
#include "espalier/version.h"
#include "model/forest.h"
#include "model/network.h"

namespace espalier {

/// One of the fitted functions that a model averages.
struct ModelMember {
  ModelMember(Network network, float own_weight = 1)
      : fitted(std::move(network)), weight(own_weight) {}
  ModelMember(DecisionForest forest, float own_weight = 1)
      : fitted(std::move(forest)), weight(own_weight) {}

  bool is_network() const { return std::holds_alternative<Network>(fitted); }
  Network& network() { return std::get<Network>(fitted); }
  const Network& network() const { return std::get<Network>(fitted); }
  const DecisionForest& forest() const { return std::get<DecisionForest>(fitted); }

  std::variant<Network, DecisionForest> fitted;
  float weight;  // in the mean; finite, above 0
};

/// score = offset + scale * mean of the members' outputs, see Label. The mean is, in double,
///   (0 + weight 0 * output 0 + weight 1 * output 1 + ...) / (0 + weight 0 + weight 1 + ...)
/// Each product of a float weight and a float output is exact.
struct ModelData {
  Schema schema;
  MonotoneCalibrators calibrators = MonotoneCalibrators::required;
  std::vector<ModelMember> members;
  std::string training_json;       // an object
  std::string version = kVersion;  // of the library that trained it
  std::string file_hash = {};      // of the file that it was read from
};

/// Members that are networks, and the trees of the others.
struct MemberCounts {
  int networks = 0;
  int trees = 0;
};
MemberCounts count_members(const ModelData& model);

/// Rows that a task predicts: enough tiles that making a scratch does not count.
inline constexpr std::size_t kTaskRows = 64 * kTile;

/// The wires that a network reads from a dataset of this schema: a wire for each feature, and one
/// for the level if the label has levels.
std::vector<Wire> input_wires(const Schema& schema);

/// The scores that a network of this label gives.
ScoreWires score_wires(const Label& label);

/// Fills a tile with the features of rows[0 .. count) of a dataset, count <= kTile; the rest of the
/// tile repeats row 0. Behind them comes the wire of levels, if the network has one.
void load_tile(const Dataset& data, const std::uint64_t* rows, int count, float* tile);

/// The outputs of a network for each row of a dataset at all levels, [row][label.num_scores()].
std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   ThreadPool& pool);

/// The same for the rows [begin, end).
std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   std::size_t begin, std::size_t end, ThreadPool& pool);

}  // namespace espalier
