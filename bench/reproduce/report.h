// SPDX-License-Identifier: Apache-2.0
// The published rows beside ours, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "output.h"
#include "reproduce/runs.h"

namespace espalier {

/// What a report is of.
struct Reproduction {
  const Experiment& experiment;
  std::size_t train_rows;  ///< validation rows among them
  std::size_t test_rows;
  double noise_floor;               ///< NaN if it is not known
  std::string command;              ///< that makes it again
  std::vector<std::string> doubts;  ///< where the data is not the published one
  Budget budget;
  std::vector<ResultRow> rows;
};

std::string report_markdown(const Reproduction& reproduction);
Json report_json(const Reproduction& reproduction);

/// "Crystals, tuned: test accuracy 85.93 ± 0.08"
std::string row_line(const Experiment& experiment, const ResultRow& row);

}  // namespace espalier
