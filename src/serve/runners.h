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
#include <cstdint>
#include <set>
#include <variant>
#include <vector>

#include "layers/kernels.h"
#include "layers/tree_tiles.h"
#include "serve/forest_walk.h"
#include "serve/kernels.h"
#include "serve/leaf_masks.h"
#include "serve/program.h"
#include "serve/ranks.h"

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
  void start_row(const float* in, float* out) const noexcept;
  const float* picked(std::size_t category, float code) const noexcept;

  // Outputs [first, last) that the same inputs reach.
  struct Band {
    std::size_t first;
    std::size_t last;
    std::vector<LinearTerm> terms;
  };
  std::vector<Band> bands_between(const std::set<std::size_t>& borders) const;

  LinearStep step_;
  std::vector<Band> bands_;
  std::vector<Band> row_bands_;  // cut further, so that most of them lie on cache lines
};

// Lattices whose table is folded input by input, and the gather before them: lattice g reads the
// wires wires[g * size] ... For one row the lanes are lattices; where there are fewer than 16, each
// is cut along its last dimensions into smaller ones that are folded afterwards.
class MultilinearRunner {
 public:
  MultilinearRunner(LatticeStep step, std::vector<std::size_t> wires);
  std::size_t scratch_size() const;
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  std::size_t num_lattices() const { return ranges_.size(); }
  std::size_t num_parts() const { return padded(num_lattices() << cut_); }
  std::size_t wire(std::size_t lattice, std::size_t d) const {
    return wires_[lattice * static_cast<std::size_t>(size_) + d];
  }

  int size_;
  int cut_ = 0;           // a lattice is 2^cut_ lanes
  bool in_lanes_ = true;  // the wires of a row lie as lane_order.h says
  std::vector<std::size_t> wires_;
  std::vector<float> ranges_, lows_;
  AlignedFloats slopes_;                  // [lattice][2^size], see lattice_kernels.h
  AlignedFloats by_lane_;                 // [block][2^(size - cut)][16]
  std::vector<std::uint32_t> row_wires_;  // [block][size - cut][16]
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

class TreeRunner {
 public:
  explicit TreeRunner(TreeStep step) : step_(std::move(step)), tiles_(step_.plan) {}
  std::size_t scratch_size() const { return 2 * tiles_.splits().size(); }
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  TreeStep step_;
  TreeTiles tiles_;
};

// By masks, or where these would be too large by walking.
class ForestRunner {
 public:
  explicit ForestRunner(const ForestStep& step);
  std::size_t scratch_size() const;
  void tile(const float* in, float* out, float* scratch) const noexcept;
  void row(const float* in, float* out, float* scratch) const noexcept;

 private:
  RankedColumns ranked_;
  std::variant<LeafMasks, ForestWalk> trees_;
};

using Runner =
    std::variant<CellRunner, CalibratorRunner, LinearRunner, MultilinearRunner, SimplexRunner,
                 GatherRunner, SumRunner, MinMaxRunner, ReluRunner, TreeRunner, ForestRunner>;

/// The runners of some steps in turn; there may be fewer, since one may do two steps.
std::vector<Runner> lay_out(std::vector<Step> steps);

}  // namespace espalier
