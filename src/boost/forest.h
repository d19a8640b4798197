// SPDX-License-Identifier: Apache-2.0
// Trees, one after another, each grown from the slopes that the sum of those before it
// leaves. Each asks for other columns, drawn anew. Trees that ask for monotone columns fade while others
// are grown. Where there are validation rows, the trees end where the loss of these is least.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "boost/bins.h"
#include "boost/tree.h"
#include "core/random.h"
#include "core/thread_pool.h"
#include "data/dataset.h"
#include "layers/layer.h"
#include "objective/loss.h"

namespace espalier {

/// The output of a row, in the units of a network's output, is the sum of what the trees give it.
struct Forest {
  std::vector<ColumnBins> columns;
  std::vector<Tree> trees;
};

/// About as many numbers as a forest may have: it ends before.
inline constexpr std::size_t kMostParameters = std::size_t{1} << 24;

struct ForestPlan {
  int trees = 0;    // at most
  int leaves = 31;  // of a tree, at most
  double rate = 0.1;
};

struct ForestInput {
  const Objective* objective;   // of a label with one output
  std::span<const Wire> wires;  // of the features
  std::size_t level_wire = 0;   // the number of the level's wire, if the label has levels
  const Dataset* train;
  const Dataset* valid;
  ForestPlan plan;
  Random random;
  ThreadPool* pool;
  std::function<bool(int)> goes_on;  // called with the number of trees so far
};

Forest grow_forest(const ForestInput& input);

}  // namespace espalier
