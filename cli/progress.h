// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: a status line on terminals, lines, or nothing.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "espalier/train.h"

namespace espalier {

enum class Talk {
  quiet,    // only warnings
  normal,   // also resumed runs, and a bar if standard error is a terminal
  verbose,  // also a line per epoch
};

/// Lines at the bottom of a terminal that are redrawn. Any thread may use it.
class StatusLine {
 public:
  /// Draws nothing unless `wanted` is true and standard error is a terminal.
  explicit StatusLine(bool wanted);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether it is time to redraw.
  bool due() const;

  /// Draws a bar and a text. Without enough space, the bar is left out. `above` are lines above it.
  void draw(double share, std::string text, const std::vector<std::string>& above = {});

  /// Erases the lines.
  void clear();

  /// Erases the lines and prints a permanent line.
  void say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  void wipe();

  const bool on_;
  mutable std::mutex mutex_;  // guards all members below
  std::size_t lines_ = 0;     // lines on the screen
  Clock::time_point next_draw_{};
};

/// The progress of training.
class ProgressBar {
 public:
  explicit ProgressBar(Talk talk);

  void show(const Progress& progress);

  /// Prints a line and redraws the bar.
  void say(const std::string& line) { line_.say(line); }

  void clear() { line_.clear(); }

 private:
  const Talk talk_;
  StatusLine line_;
  bool begun_ = false;
};

/// 3:07, 1:02:45
std::string clock_text(double seconds);

/// Progress of counting to a known number.
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
