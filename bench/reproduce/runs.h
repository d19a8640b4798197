// SPDX-License-Identifier: Apache-2.0
// Training and evaluating the models of a table, as its protocols say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reproduce/records.h"
#include "reproduce/tables.h"

namespace espalier {

/// How much work may be spent.
struct Budget {
  int seeds = 5;
  int trials = 10;  ///< of tune, for each model; 1: no model is tuned
  int confirm = 0;  ///< of tune
  int threads = 0;

  bool tunes() const { return trials > 1; }
};

/// One trained model, evaluated.
struct Outcome {
  std::vector<MetricValue> valid;  ///< empty if no rows were held out
  std::vector<MetricValue> test;
  std::size_t parameters;
  std::string size;     ///< G x S
  double seconds;       ///< of its training
  bool proved;          ///< every inequality of monotonicity holds, tolerance 0
  std::string options;  ///< as JSON, with every automatic choice made but the threads
};

/// A row of ours: what the runs of one model gave under one protocol.
struct ResultRow {
  const ModelSpec* model;
  Protocol protocol;
  bool tuned;
  std::vector<Outcome> outcomes;
  double tune_seconds = 0;
};

/// How many rows of ours a table gets.
std::size_t num_rows(const Experiment& experiment, const Budget& budget);

/// Every model, first as the published size or the preset has it, then tuned. `say` hears of each
/// finished row. What `records` knows is not trained again, and what is trained is kept there.
std::vector<ResultRow> run_experiment(const Experiment& experiment, const Data& data,
                                      const Budget& budget, const Records& records,
                                      const std::function<void(const ResultRow&)>& say);

Json json_of(const Outcome& outcome);

/// The value of a metric; NaN if it is not there.
double value_of(const std::vector<MetricValue>& values, Metric metric);

/// G x S of layers: of the lattices, of the groups of a Min-Max network, or hidden layers x units;
/// empty for others.
std::string size_of(const std::string& architecture);

}  // namespace espalier
