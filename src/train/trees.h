// SPDX-License-Identifier: Apache-2.0
// Trees beside a network: grown on the rows that it was trained on, as a network of their own. They
// err in other ways than a network does, so that a mean of both is mostly better than either.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "encode/dataset.h"
#include "model/network.h"
#include "objective/loss.h"
#include "train/prepare.h"
#include "train/team.h"

namespace espalier {

/// Nothing if no tree lowers the loss of the validation rows, or if it was stopped. `tell` is called
/// with the number of trees so far. All ranks grow the same ones.
std::optional<Network> grow_trees(const Prepared& prepared, const Dataset& train,
                                  const Dataset& valid, const Random& random, Team& team,
                                  const std::function<void(int)>& tell);

struct TreeShare {
  double share = 0;  // 0: no trees
  std::string why;
};

/// The share of the trees in the mean with which the loss of held-out rows is least, if that is clearly
/// lower than without them. networks, trees: the output for each row.
TreeShare share_of_trees(const Objective& objective, const Dataset& rows,
                         const std::vector<double>& networks, const std::vector<double>& trees);

/// (1 - share) * networks + share * trees
std::vector<double> mixed(const std::vector<double>& networks, const std::vector<double>& trees,
                          double share);

}  // namespace espalier
