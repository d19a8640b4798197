// SPDX-License-Identifier: Apache-2.0
// The runners of steps that read tables in [1, 2]: calibrators and lattices.
#include <algorithm>
#include <cmath>

#include "layers/lattices.h"
#include "serve/kernels.h"
#include "serve/lane_order.h"
#include "serve/runners.h"

namespace espalier {

namespace {

UniformTables tables_of(const CalibratorStep& step) {
  return {step.lo.data(),    step.inverse_step.data(), step.tables.data(),
          step.range.data(), step.low.data(),          step.keypoints - 1};
}

// The missing cells of a tile.
void set_missing(const CellTable& cell, const float* in, float* out) {
  const float y = cell.table[static_cast<std::size_t>(cell.keypoints)];
  const float missing = std::fma(cell.back.range, y - 1, cell.back.low);
  for (int r = 0; r < kTile; ++r) out[r] = in[r] < 0 ? missing : out[r];
}

}  // namespace

void CellRunner::tile(const float* in, float* out, float*) const noexcept {
  for (const CellTable& cell : step_.cells) {
    if (cell.kind == CellTable::Kind::position) {
      interpolate(cell.table.data(), cell.keypoints - 1, in, out);
      leave_binade(cell.back.range, cell.back.low, out, kTile);
      if (cell.table.size() > static_cast<std::size_t>(cell.keypoints)) set_missing(cell, in, out);
    } else {
      cells_of_tile({&cell, 1}, in, out);
    }
    in += kTile;
    out += kTile;
  }
}

void CellRunner::row(const float* in, float* out, float*) const noexcept {
  cells_of_row(step_.cells, in, out);
}

void CalibratorRunner::tile(const float* in, float* out, float*) const noexcept {
  calibrate_tile(tables_of(step_), step_.num_units, in, out);
}

void CalibratorRunner::row(const float* in, float* out, float*) const noexcept {
  calibrate_row(tables_of(step_), step_.num_units, in, out);
}

MultilinearRunner::MultilinearRunner(LatticeStep step, std::vector<std::size_t> wires)
    : size_(step.size), wires_(std::move(wires)), slopes_(step.tables.begin(), step.tables.end()) {
  for (const WayBack& back : step.backs) {
    ranges_.push_back(back.range);
    lows_.push_back(back.low);
  }
  while (cut_ + 1 < size_ && num_lattices() << cut_ < 16) ++cut_;
  for (std::size_t g = 0; g < num_lattices(); ++g) {
    float* theta = slopes_.data() + g * step.num_vertices();
    lattice_slopes(theta, size_, theta);
  }
  const std::size_t part_vertices = step.num_vertices() >> cut_;
  const auto part_size = static_cast<std::size_t>(size_ - cut_);
  by_lane_.resize(num_parts() * part_vertices);
  row_wires_.resize(num_parts() * part_size);
  for (std::size_t p = 0; p < num_parts(); ++p) {
    const std::size_t own = std::min(p, (num_lattices() << cut_) - 1);  // the last one fills up
    float* lane = by_lane_.data() + p / 16 * 16 * part_vertices + p % 16;
    for (std::size_t v = 0; v < part_vertices; ++v) lane[16 * v] = slopes_[own * part_vertices + v];
    std::uint32_t* from = row_wires_.data() + p / 16 * 16 * part_size + p % 16;
    for (std::size_t d = 0; d < part_size; ++d) {
      from[16 * d] = static_cast<std::uint32_t>(wire(own >> cut_, d));
      in_lanes_ &= p != own || wire(own >> cut_, d) == lane_place(p, d, part_size);
    }
  }
}

std::size_t MultilinearRunner::scratch_size() const {
  return std::max(static_cast<std::size_t>(kTile * size_), row_wires_.size() + num_parts());
}

void MultilinearRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  for (std::size_t g = 0; g < num_lattices(); ++g, out += kTile) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(size_); ++d)
      clip_to_unit(in + wire(g, d) * kTile, kTile, scratch + d * kTile);
    lattice_forward(slopes_.data() + (g << size_), size_, scratch, out);
    leave_binade(ranges_[g], lows_[g], out, kTile);
  }
}

void MultilinearRunner::row(const float* in, float* out, float* scratch) const noexcept {
  const int part_size = size_ - cut_;
  float* y = scratch;
  float* x = scratch + num_parts();
  if (!in_lanes_) {
    for (std::size_t i = 0; i < row_wires_.size(); ++i) x[i] = in[row_wires_[i]];
  }
  lattice_row(by_lane_.data(), part_size, num_parts() / 16, in_lanes_ ? in : x, y);
  if (cut_ > 0) {
    for (std::size_t g = 0; g < num_lattices(); ++g) {
      float last_inputs[kMaxLatticeSize];
      for (int d = part_size; d < size_; ++d)
        last_inputs[d - part_size] = in[wire(g, static_cast<std::size_t>(d))];
      y[g] = fold_in_place(y + (g << cut_), cut_, last_inputs);
    }
  }
  leave_binades(ranges_.data(), lows_.data(), y, num_lattices(), out);
}

float SimplexRunner::lattice(std::size_t g, const float* in, std::size_t stride) const noexcept {
  double x[kMaxLatticeSize];
  for (int d = 0; d < step_.size; ++d) {
    const float own = in[static_cast<std::size_t>(d) * stride];
    x[d] = (1 + std::min(std::max(own, 0.0f), 1.0f)) - 1;  // onto the grid
  }
  const double y = simplex_at(step_.tables.data() + (g << step_.size), step_.size, x);
  return std::fma(step_.backs[g].range, static_cast<float>(y) - 1, step_.backs[g].low);
}

void SimplexRunner::tile(const float* in, float* out, float*) const noexcept {
  for (std::size_t g = 0; g < step_.num_outputs(); ++g, in += kTile * step_.size, out += kTile) {
    for (int r = 0; r < kTile; ++r) out[r] = lattice(g, in + r, kTile);
  }
}

void SimplexRunner::row(const float* in, float* out, float*) const noexcept {
  for (std::size_t g = 0; g < step_.num_outputs(); ++g, in += step_.size)
    out[g] = lattice(g, in, 1);
}

}  // namespace espalier
