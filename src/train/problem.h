// SPDX-License-Identifier: Apache-2.0
// From a table and options to what is fitted: resolved columns, the objective, training rows and
// validation rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encode/dataset.h"
#include "espalier/architecture.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "espalier/train.h"
#include "train/settled_options.h"
#include "train/split.h"

namespace espalier {

/// Decisions that the caller leaves to training.
struct OpenDecisions {
  std::vector<std::string> options = {};  // all options that were left open
  bool pairs = false;                     // the preset suits pairs that are found by search
  bool mixing_weight = false;             // of the trees
};

/// Everything that is known before fitting. A problem does not change: choose_pairs, choose_wiring
/// and Rotation make other problems of it.
struct Problem {
  SettledOptions options;
  Architecture architecture = {};
  Schema schema;
  Dataset train = {};
  Dataset valid = {};
  Validation validation = Validation::none;
  std::vector<float> class_scale = {};  // what balancing multiplied the weights of train with
  OpenDecisions open = {};
  std::size_t many_rows = kManyRows;
};

/// A table to train on.
struct Source {
  const Table& table;
  Table* owned = nullptr;       // the table if it need not be kept: then it is empty afterwards
  const Split* rows = nullptr;  // which of its rows; null: as options and control say
  std::size_t many_rows = kManyRows;  // fewer in tests
};

/// The rows to train on and the rows to choose the epoch on; the latter of the table, or of another
/// one.
Split split_rows(const Source& source, const Label& label, const TrainOptions& options,
                 const TrainControl& control);

/// The problem that a table and options pose. Throws Error (argument, data) for options or a table
/// that cannot be used.
Problem pose(const Source& source, const TrainOptions& options, const TrainControl& control);

}  // namespace espalier
