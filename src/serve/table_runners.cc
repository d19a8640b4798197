// SPDX-License-Identifier: Apache-2.0
// The runners of steps that read tables in [1, 2]: calibrators and lattices.
#include <algorithm>
#include <cmath>

#include "layers/lattices.h"
#include "serve/kernels.h"
#include "serve/runners.h"

namespace espalier {

namespace {

float way_back(const WayBack& back, float y) { return std::fma(back.range, y - 1, back.low); }

float through(const CellTable& cell, float x) {
  const float* table = cell.table.data();
  switch (cell.kind) {
    case CellTable::Kind::pass:
      return x;
    case CellTable::Kind::category:
      return way_back(cell.back, table[static_cast<std::size_t>(x)]);
    case CellTable::Kind::position:
      break;
  }
  if (x < 0) return way_back(cell.back, table[cell.keypoints]);
  const int k = std::min(static_cast<int>(x), cell.keypoints - 2);
  const float t = x - static_cast<float>(k);
  return way_back(cell.back, std::fma(t, table[k + 1] - table[k], table[k]));
}

UniformTables tables_of(const CalibratorStep& step) {
  return {step.lo.data(),    step.inverse_step.data(), step.tables.data(),
          step.range.data(), step.low.data(),          step.keypoints - 1};
}

}  // namespace

void CellRunner::tile(const float* in, float* out, float*) const noexcept {
  for (const CellTable& cell : step_.cells) {
    if (cell.kind == CellTable::Kind::position) {
      interpolate(cell.table.data(), cell.keypoints - 1, in, out);
      leave_binade(cell.back.range, cell.back.low, out, kTile);
      const bool learned_missing = cell.table.size() > static_cast<std::size_t>(cell.keypoints);
      for (int r = 0; learned_missing && r < kTile; ++r) {
        if (in[r] < 0) out[r] = through(cell, in[r]);
      }
    } else {
      for (int r = 0; r < kTile; ++r) out[r] = through(cell, in[r]);
    }
    in += kTile;
    out += kTile;
  }
}

void CellRunner::row(const float* in, float* out, float*) const noexcept {
  for (const CellTable& cell : step_.cells) *out++ = through(cell, *in++);
}

void CalibratorRunner::tile(const float* in, float* out, float*) const noexcept {
  calibrate_tile(tables_of(step_), step_.num_units, in, out);
}

void CalibratorRunner::row(const float* in, float* out, float*) const noexcept {
  const UniformTables tables = tables_of(step_);
  for (std::size_t u = 0; u < step_.num_units; u += 16) calibrate_row(tables, u, in + u, out + u);
}

MultilinearRunner::MultilinearRunner(LatticeStep step)
    : size_(step.size),
      slopes_(step.tables.begin(), step.tables.end()),
      backs_(std::move(step.backs)) {
  while (cut_ + 1 < size_ && num_lattices() << cut_ < 16) ++cut_;
  const std::size_t parts = num_lattices() << cut_, part_vertices = step.num_vertices() >> cut_;
  by_lane_.resize(padded(parts) * part_vertices, 1.0f);
  for (std::size_t p = 0; p < parts; ++p) {
    float* lane = by_lane_.data() + p / 16 * 16 * part_vertices + p % 16;
    for (std::size_t v = 0; v < part_vertices; ++v) lane[16 * v] = slopes_[p * part_vertices + v];
  }
  for (std::size_t g = 0; g < num_lattices(); ++g) {
    float* theta = slopes_.data() + g * step.num_vertices();
    lattice_slopes(theta, size_, theta);
  }
}

std::size_t MultilinearRunner::scratch_size() const {
  const std::size_t row_size = padded(num_inputs()) + padded(num_lattices() << cut_) +
                               16 * static_cast<std::size_t>(size_) +
                               (std::size_t{16} << (size_ - cut_));
  return std::max(static_cast<std::size_t>(kTile * size_), row_size);
}

void MultilinearRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  const auto inputs = static_cast<std::size_t>(kTile * size_);
  for (std::size_t g = 0; g < num_lattices(); ++g, in += inputs, out += kTile) {
    clip_to_unit(in, inputs, scratch);
    lattice_forward(slopes_.data() + (g << size_), size_, scratch, out);
    leave_binade(backs_[g].range, backs_[g].low, out, kTile);
  }
}

void MultilinearRunner::row(const float* in, float* out, float* scratch) const noexcept {
  const int part_size = size_ - cut_;
  const std::size_t parts = num_lattices() << cut_;
  float* clipped = scratch;
  float* values = clipped + padded(num_inputs());
  float* x = values + padded(parts);
  float* tree = x + 16 * part_size;
  const float* theta = by_lane_.data();
  clip_to_unit(in, padded(num_inputs()), clipped);
  for (std::size_t first = 0; first < parts; first += 16) {
    for (std::size_t lane = 0; lane < 16; ++lane) {
      const std::size_t lattice = std::min(first + lane, parts - 1) >> cut_;
      const float* own = clipped + lattice * static_cast<std::size_t>(size_);
      for (int d = 0; d < part_size; ++d) x[16 * static_cast<std::size_t>(d) + lane] = own[d];
    }
    lattice_row(theta, part_size, x, tree, values + first);
    theta += std::size_t{16} << part_size;
  }
  for (std::size_t g = 0; g < num_lattices(); ++g) {
    const float* last_inputs = clipped + g * static_cast<std::size_t>(size_) + part_size;
    out[g] = way_back(backs_[g], fold_in_place(values + (g << cut_), cut_, last_inputs));
  }
}

float SimplexRunner::lattice(std::size_t g, const float* in, std::size_t stride) const noexcept {
  double x[kMaxLatticeSize];
  for (int d = 0; d < step_.size; ++d) {
    const float own = in[static_cast<std::size_t>(d) * stride];
    x[d] = (1 + std::min(std::max(own, 0.0f), 1.0f)) - 1;  // onto the grid
  }
  const double y = simplex_at(step_.tables.data() + (g << step_.size), step_.size, x);
  return way_back(step_.backs[g], static_cast<float>(y));
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
