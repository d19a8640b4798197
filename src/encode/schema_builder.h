// SPDX-License-Identifier: Apache-2.0
// Builds the schema of a model from the table and the options.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "encode/column_options.h"
#include "encode/dataset.h"
#include "espalier/architecture.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "table/rank_rows.h"

namespace espalier {

using Warning = std::function<void(const std::string&)>;

/// The features with their kinds, directions and categories as in the training rows, in ascending
/// order; keypoints are not fitted yet. Columns without information are left out with a warning.
/// Throws Error (argument) for names and directions that do not match the table.
std::vector<Feature> build_features(const Table& table, const TrainOptions& options,
                                    const Rows& rows, const Warning& warn);
/// The same with parsed directions, for a table that may be divided among ranks.
std::vector<Feature> build_features(const Table& table, const RankRows& share,
                                    const TrainOptions& options, const Directions& directions,
                                    const Rows& rows, const Warning& warn);

/// The keypoints of numeric features, at most `count`.
struct KeypointPlan {
  Keypoints mode = Keypoints::distinct;
  int count = 20;
  int continuous_count = 0;         // for columns with more than `count` values; 0: count
  std::optional<Range> range = {};  // uniform over this range instead, for all features
  bool learn_missing = true;        // whether a calibrator can learn an output for missing values
};
void fit_keypoints(const KeypointPlan& plan, const Table& table, const RankRows& share,
                   const Rows& rows, std::vector<Feature>& features);

}  // namespace espalier
