// SPDX-License-Identifier: Apache-2.0
// From a table and options to what a network is trained on.
#pragma once

#include <cstdint>
#include <optional>

#include "encode/dataset.h"
#include "espalier/architecture.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "espalier/train.h"
#include "train/settled_options.h"
#include "train/split.h"

namespace espalier {

/// Of the columns and rows, as they are before pairs of columns are found.
struct DataHashes {
  std::uint64_t columns = 0;
  std::uint64_t train_rows = 0;
  std::uint64_t valid_rows = 0;
};

/// What is trained on: the settled options, the schema, and both sets of rows.
struct Prepared {
  SettledOptions options;
  std::vector<std::string> chosen = {};  // names of those that the caller left open
  Architecture architecture = {};
  Schema schema;
  Dataset train = {};
  Dataset valid = {};
  bool valid_is_split_off = false;      // from the table that is trained on
  std::vector<float> class_scale = {};  // what balancing multiplied the weights of train with
  bool finds_interactions = false;      // the preset suits pairs that are found by search
  bool chooses_mixing_weight = false;   // the caller leaves open the tree_share
  std::size_t many_rows = kManyRows;
  std::optional<DataHashes> hashes = {};  // where they were taken before pairs were found
  // Of settle_interactions and settle_wiring:
  std::vector<Choice> choices = {};
  std::vector<std::string> pairs = {};  // that clearly improve the loss, those in use first
  double search_seconds = 0;
  std::int64_t search_rows = 0;  // trained on
  bool search_stopped = false;
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

/// Throws Error (argument, data) for options or a table that cannot be used.
Prepared prepare(const Source& source, const TrainOptions& options, const TrainControl& control);

}  // namespace espalier
