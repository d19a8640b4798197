// SPDX-License-Identifier: Apache-2.0
// Runs a serving program, over tiles of rows and over single rows, with the same bits.
#pragma once

#include <cstddef>
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

  std::size_t num_cells() const { return program_.cells.size(); }
  std::size_t num_encoded() const { return program_.num_encoded(); }
  std::size_t num_raw() const { return program_.num_raw(); }
  std::size_t num_scores() const { return program_.num_scores(); }
  /// Floats, on a cache line.
  std::size_t scratch_size() const { return members_begin_ + member_scratch_size_; }

  /// Scores or predictions of any number of raw rows. rows: [count][num_raw], out:
  /// [count][num_scores].
  void run(const float* rows, std::size_t count, Output output, float* scratch,
           float* out) const noexcept;

  /// The same of encoded rows, [count][num_encoded], and the exposure and offset of each; null:
  /// they have none.
  void run_encoded(const float* rows, const float* exposures, const float* offsets,
                   std::size_t count, Output output, float* scratch, float* out) const noexcept;

 private:
  struct EncodedRows {
    const float* cells;    // [count][num_encoded]
    const float* offsets;  // one per row, or null
    std::size_t count;
    std::size_t level;
  };
  // Of a member, each time that it is run.
  std::size_t num_outputs() const { return program_.levels.empty() ? num_scores() : 1; }
  void load_row(const EncodedRows& rows, std::size_t row, float* in,
                std::size_t stride) const noexcept;
  void score_rows(const EncodedRows& rows, float* scratch, float* out) const noexcept;
  void score_tile(const EncodedRows& rows, float* scratch, float* out) const noexcept;
  float score(const EncodedRows& rows, std::size_t row, std::size_t s, const float* outputs,
              std::size_t stride) const noexcept;

  Program program_;  // without its members
  double total_weight_;
  std::vector<MemberRunner> members_;
  // Scratch holds the encoded cells of a tile, then the outputs of the members, then what they
  // themselves need.
  std::size_t outputs_begin_ = 0;
  std::size_t members_begin_ = 0;
  std::size_t member_scratch_size_ = 0;
};

}  // namespace espalier
