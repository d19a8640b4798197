// SPDX-License-Identifier: Apache-2.0
// Runs a serving program, over tiles of rows and over single rows, with the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/model.h"
#include "serve/program.h"
#include "serve/runners.h"

namespace espalier {

/// One member of a program.
class MemberRunner {
 public:
  MemberRunner(std::vector<Step> steps, std::size_t num_inputs);

  /// Both read the encoded inputs at the beginning of scratch, which they overwrite.
  const float* tile(float* scratch) const noexcept;  // [num_scores][kTile]
  const float* row(float* scratch) const noexcept;   // [num_scores]

  std::size_t scratch_size() const { return 2 * wires_size_ + step_scratch_size_; }

 private:
  const std::vector<Runner>& row_runners() const {
    return row_runners_.empty() ? runners_ : row_runners_;
  }

  std::vector<Runner> runners_;
  std::vector<Runner> row_runners_;  // if one row wants its wires in another order: lane_order.h
  std::size_t wires_size_ = 0;       // floats of the widest tile of wires
  std::size_t step_scratch_size_ = 0;
};

/// Immutable; any number of threads may run it, each with scratch of its own.
class Interpreter {
 public:
  explicit Interpreter(Program program);

  std::size_t num_cells() const { return cells_.size(); }
  /// Of an encoded row: the cells, then the pairs of them.
  std::size_t num_inputs() const { return cells_.size() + pairs_.size(); }
  std::size_t num_scores() const { return scores_.size(); }
  /// Floats, on a cache line.
  std::size_t scratch_size() const { return members_begin_ + member_scratch_size_; }

  /// Scores or predictions of any number of raw rows. rows: [count][num_cells], out:
  /// [count][num_scores].
  void run(const float* rows, std::size_t count, Output output, float* scratch,
           float* out) const noexcept;

  /// The scores of any number of encoded rows.
  void run_encoded(const float* rows, std::size_t count, float* scratch, float* out) const noexcept;

  /// From scores to predictions.
  void link(std::span<float> scores) const noexcept;

 private:
  void score_rows(const float* rows, std::size_t count, float* scratch, float* out) const noexcept;
  void score_tile(const float* rows, std::size_t count, float* scratch, float* out) const noexcept;
  float score(std::size_t s, const float* outputs, std::size_t stride) const noexcept;

  std::vector<Cell> cells_;
  std::vector<PairCell> pairs_;
  std::vector<MemberRunner> members_;
  std::vector<ScoreUnits> scores_;
  Link link_;
  // Scratch holds the encoded cells of a tile, then the outputs of the members, then what they
  // themselves need.
  std::size_t outputs_begin_ = 0;
  std::size_t members_begin_ = 0;
  std::size_t member_scratch_size_ = 0;
};

}  // namespace espalier
