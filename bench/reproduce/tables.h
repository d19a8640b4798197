// SPDX-License-Identifier: Apache-2.0
// What `espalier reproduce` knows of each table: its files, its label and directions, the rows that
// were published, and the models of ours that stand beside them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/metrics.h"
#include "espalier/options.h"
#include "reproduce/data.h"

namespace espalier {

/// Below the folder of data.
struct DataFile {
  std::string path;
  std::string sha256;
};

/// A row as printed; accuracies in per cent. 0 stands for what was not printed.
struct PublishedRow {
  std::string model;
  double test;
  double test_sd = 0;
  double valid = 0;
  std::string size = {};  // G x S
  int parameters = 0;
};

struct ModelSpec {
  std::string name;    ///< as in the published rows, if it is among them
  std::string preset;  ///< of our architectures
  std::string size;    ///< the published G x S; empty: what the preset chooses
  /// G x S that tune may choose, for presets whose lattices it does not size by itself.
  std::vector<std::string> sizes = {};
  bool constrained = true;
};

/// How models are evaluated.
enum class Protocol {
  split,             ///< on the published test rows; validation rows are part of the others
  cross_validation,  ///< on each fold of all rows, again for every seed
  test_selected,     ///< on the published test rows, which also choose the epoch and the settings
};
template <>
struct Words<Protocol> {
  static constexpr std::string_view list[] = {"split", "cross_validation", "test_selected"};
};

struct Experiment {
  std::string name;
  std::string title;
  std::string about;      ///< what the rows are; for stand-ins, that they are
  std::string published;  ///< what the printed rows are called
  std::string source;     ///< who publishes the files
  std::vector<DataFile> files;
  ReadData read;
  TrainOptions options;
  Metric metric;
  std::vector<Metric> also;  ///< further metrics of the test rows
  std::vector<Protocol> protocols;
  int tune_folds;  ///< of tune; 0: validation rows
  std::vector<PublishedRow> rows;
  std::vector<ModelSpec> models;
};

/// All of them, in the order of the documentation.
std::span<const Experiment> experiments();

/// Throws Error (argument) that lists the names.
const Experiment& find_experiment(const std::string& name);

}  // namespace espalier
