// SPDX-License-Identifier: Apache-2.0
// What all trials of a search are evaluated on: validation rows or folds, and a training for each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/metrics.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "train/checkpoint.h"
#include "train/settled_options.h"
#include "train/split.h"
#include "train/team.h"

namespace espalier {

struct TuneProblem {
  const Table& table;
  const Table* valid;  // null: a share of the table, or folds
  int num_folds;
  std::vector<std::vector<Split>> folds;  // of the search, and of each repeat; empty: none
  TrainOptions base;               // of the trials; with folds they hold out no rows of their own
  Validation validation;           // of the trials
  std::vector<std::string> pairs;  // of columns that train() tried, if it was to choose
  int trees;                       // beside the networks of the final model; trials have none
  Metric metric;
  Schema schema;
  std::size_t train_rows;
  Fingerprint fingerprint;
};

/// Throws Error (argument, data) for options or a table that cannot be used. `table` and the
/// validation rows outlive the problem.
TuneProblem pose_search(const Table& table, const TrainOptions& options, const TuneOptions& tune,
                        const TuneControl& control, Team& team);

/// Makes the folds of all repeats up to this one; repeat 0 is the search.
void deal_folds(TuneProblem& problem, int repeat);

/// What a training that confirms a trial is trained on and evaluated on.
struct RepeatRows {
  Split split;           // .valid counts the rows of TuneProblem::valid if there is one
  std::size_t drawn_of;  // .valid is a random share of so many rows
};

/// Without folds: of a table, validation rows that the search trained on, so that they chose no
/// leader; of a file of validation rows, a fifth of them. repeat >= 1.
RepeatRows rows_of_repeat(const TuneProblem& problem, int repeat);

/// How far the validation rows of repeats, or the folds, are the same: see Luck::shared.
double shared_rows(const TuneProblem& problem);

/// Whether the rows that confirm are those that chose the leaders: then every trial is a look.
bool confirms_on_same_rows(const TuneProblem& problem);

/// The validation metric of one training, or of each fold: without folds that of the epoch that
/// training keeps, with them that of the last one, since the final model has no rows to choose
/// another on. Nothing if it was stopped.
std::optional<std::vector<double>> evaluate(const TuneProblem& problem, TrainOptions options,
                                            int repeat, const TrainControl& control);

}  // namespace espalier
