// SPDX-License-Identifier: Apache-2.0
// The steps of a program laid out for the CPU. Each runs twice, over a tile of rows (a lane is a
// row) and over one row (a lane is a unit), with the operations that program.h writes down, so
// both give the same bits.
//
//   tile  in: [num_inputs][kTile], out: [num_outputs][kTile]
//   row   in: [num_inputs], out: [num_outputs], both padded: what lies behind the last wire may be
//         overwritten
//
// Both may overwrite scratch_size() floats of scratch. Runners are immutable.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "layers/kernels.h"
#include "serve/program.h"

namespace espalier {

class CellRunner {
 public:
  explicit CellRunner(CellStep step) : step_(std::move(step)) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  CellStep step_;
};

class CalibratorRunner {
 public:
  explicit CalibratorRunner(CalibratorStep step) : step_(std::move(step)) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  CalibratorStep step_;
};

class LinearRunner {
 public:
  explicit LinearRunner(LinearStep step);
  std::size_t scratch_size() const;
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  void start_row(const float* in, std::size_t stride, float* out) const noexcept;

  // Outputs [first, last) that the same numbers reach.
  struct Band {
    int first;
    int last;
    std::vector<LinearTerm> terms;
  };
  LinearStep step_;
  std::vector<Band> bands_;
};

// Lattices whose table is folded input by input. For one row the lanes are lattices; where there
// are fewer than 16, each is cut along its last dimensions into smaller ones that are folded
// afterwards.
class MultilinearRunner {
 public:
  explicit MultilinearRunner(LatticeStep step);
  std::size_t scratch_size() const;
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  std::size_t num_lattices() const { return backs_.size(); }
  std::size_t num_inputs() const { return backs_.size() * static_cast<std::size_t>(size_); }

  int size_;
  int cut_ = 0;            // a lattice is 2^cut_ lanes
  AlignedFloats slopes_;   // [lattice][2^size], see lattice_kernels.h
  AlignedFloats by_lane_;  // [block][2^(size - cut)][16]
  std::vector<WayBack> backs_;
};

class SimplexRunner {
 public:
  explicit SimplexRunner(LatticeStep step) : step_(std::move(step)) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  float lattice(std::size_t g, const float* in, std::size_t stride) const noexcept;

  LatticeStep step_;
};

class GatherRunner {
 public:
  explicit GatherRunner(GatherStep step) : step_(std::move(step)) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  GatherStep step_;
};

class SumRunner {
 public:
  explicit SumRunner(SumStep step) : step_(step) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  SumStep step_;
};

class MinMaxRunner {
 public:
  explicit MinMaxRunner(MinMaxStep step) : step_(step) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  MinMaxStep step_;
};

class ReluRunner {
 public:
  explicit ReluRunner(ReluStep step) : step_(step) {}
  std::size_t scratch_size() const { return 0; }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  ReluStep step_;
};

using Runner = std::variant<CellRunner, CalibratorRunner, LinearRunner, MultilinearRunner,
                            SimplexRunner, GatherRunner, SumRunner, MinMaxRunner, ReluRunner>;

Runner runner_of(Step step);

}  // namespace espalier
