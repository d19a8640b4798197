// SPDX-License-Identifier: Apache-2.0
// What a Model holds.
#pragma once

#include <string>
#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/choices.h"
#include "espalier/schema.h"
#include "espalier/version.h"
#include "model/network.h"

namespace espalier {

/// score = offset + scale * mean of the members' outputs, see Label.
struct ModelData {
  Schema schema;
  MonotoneCalibrators calibrators = MonotoneCalibrators::required;
  std::vector<Network> members;
  std::string training_json;       // an object
  std::string version = kVersion;  // of the library that trained it
};

/// Members that are networks, and the trees of the others, which boost/forest_network.h builds.
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
