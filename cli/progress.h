// SPDX-License-Identifier: Apache-2.0
// How training is going, on standard error: a bar that is redrawn on a terminal, lines, or nothing.
#pragma once

#include <chrono>
#include <string>

#include "espalier/train.h"

namespace espalier {

enum class Talk {
  quiet,    // warnings only
  normal,   // and where a run is resumed, and a bar where standard error is a terminal
  verbose,  // and a line an epoch
};

class ProgressBar {
 public:
  explicit ProgressBar(Talk talk);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);

  /// Prints a line and keeps the bar whole.
  void say(const std::string& line);

  /// Wipes the bar off.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  const Talk talk_;
  const bool bar_;
  bool begun_ = false;
  bool drawn_ = false;
  Clock::time_point next_draw_{};
};

}  // namespace espalier
