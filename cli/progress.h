// SPDX-License-Identifier: Apache-2.0
// How long work is going, on standard error: a bar that is redrawn on a terminal, lines, or
// nothing.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "espalier/train.h"

namespace espalier {

enum class Talk {
  quiet,    // warnings only
  normal,   // and where a run is resumed, and a bar where standard error is a terminal
  verbose,  // and a line per epoch
};

/// The last lines of a terminal, drawn over and over. Any thread may use one.
class StatusLine {
 public:
  /// Draws nothing unless `wanted` and standard error is a terminal.
  explicit StatusLine(bool wanted);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether it is time to draw again.
  bool due() const;

  /// Draws a bar and a text; where space is short, the bar goes first. `above` are lines over it.
  void draw(double share, std::string text, const std::vector<std::string>& above = {});

  /// Wipes it off.
  void clear();

  /// Wipes it off and prints a line.
  void say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  void wipe();

  const bool on_;
  mutable std::mutex mutex_;  // of all below
  std::size_t lines_ = 0;     // that are drawn now
  Clock::time_point next_draw_{};
};

/// The progress of training.
class ProgressBar {
 public:
  explicit ProgressBar(Talk talk);

  void show(const Progress& progress);

  /// Prints a line and keeps the bar whole.
  void say(const std::string& line) { line_.say(line); }

  void clear() { line_.clear(); }

 private:
  const Talk talk_;
  StatusLine line_;
  bool begun_ = false;
};

/// 3:07, 1:02:45
std::string clock_text(double seconds);

/// How much of a known number of things is done.
class CountBar {
 public:
  CountBar(std::string things, std::size_t total);

  void show(std::size_t done);
  void clear() { line_.clear(); }

 private:
  StatusLine line_;
  std::string things_;
  std::size_t total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace espalier
