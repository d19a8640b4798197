// SPDX-License-Identifier: Apache-2.0
#include "serve/table_steps.h"

#include <algorithm>
#include <cmath>

#include "core/aligned.h"
#include "serve/kernels.h"

namespace espalier {

namespace {

// How a table in [1, 2] leads back to its values: fma(range, y - 1, low).
struct WayBack {
  float low;
  float range;
};

// Moves values into [1, 2]; each operation rounds monotonically, so their order stays.
WayBack enter_binade(std::span<const float> values, float* moved) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, range = *most - low;
  for (const float value : values) {
    *moved++ = range > 0 ? static_cast<float>(1 + (value - low) / range) : 1.0f;
  }
  return {*least, static_cast<float>(range)};
}

// The same for each lattice of a layer; moved: [lattice][2^size].
std::vector<WayBack> enter_binade(const Lattices& layer, const float* params, float* moved) {
  std::vector<WayBack> back;
  const std::size_t vertices = layer.num_vertices();
  for (int g = 0; g < layer.num_units(); ++g, params += vertices, moved += vertices)
    back.push_back(enter_binade({params, vertices}, moved));
  return back;
}

// Calibrators that read the table: positions among keypoints, and categories.
class RawCalibrators final : public Step {
 public:
  RawCalibrators(const Calibrators& layer, const float* params) {
    for (int u = 0; u < layer.num_units(); ++u) {
      const Wire& wire = layer.inputs()[static_cast<std::size_t>(u)];
      const float* begin = params + layer.unit_begin(u);
      std::vector<float> values(begin, params + layer.unit_begin(u + 1));
      Unit unit = {.last = layer.keypoints(u) - 1, .num_values = static_cast<int>(values.size())};
      if (wire.is_category() && !values.empty()) {
        values.push_back(static_cast<float>(mean_over(wire.shares, begin)));  // unseen
      }
      unit.table.resize(values.size());
      if (!values.empty()) unit.back = enter_binade(values, unit.table.data());
      units_.push_back(std::move(unit));
    }
  }

  void tile(const float* in, float* out, float*) const noexcept override {
    for (const Unit& unit : units_) {
      if (unit.num_values == 0) {
        std::copy_n(in, kTile, out);
      } else if (unit.last < 0) {
        for (int r = 0; r < kTile; ++r) out[r] = unit(in[r]);
      } else {
        interpolate(unit.table.data(), unit.last, in, out);
        leave_binade(unit.back.range, unit.back.low, out, kTile);
        for (int r = 0; unit.num_values > unit.last + 1 && r < kTile; ++r) {
          if (in[r] < 0) out[r] = unit(in[r]);  // missing
        }
      }
      in += kTile;
      out += kTile;
    }
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (const Unit& unit : units_) *out++ = unit(*in++);
  }

 private:
  struct Unit {
    int last;                  // keypoint; -1: a category
    int num_values;            // learned; 0: a category that passes
    std::vector<float> table;  // keypoints, then missing; or categories, then unseen
    WayBack back = {};

    float operator()(float x) const noexcept {
      if (num_values == 0) return x;
      return std::fma(back.range, moved(x) - 1, back.low);
    }
    float moved(float x) const noexcept {
      if (last < 0) return table[static_cast<std::size_t>(x)];
      if (x < 0) return table[static_cast<std::size_t>(last) + 1];
      const int k = std::min(static_cast<int>(x), last - 1);
      const float* segment = table.data() + k;
      return std::fma(x - static_cast<float>(k), segment[1] - segment[0], segment[0]);
    }
  };
  std::vector<Unit> units_;
};

// Calibrators between two layers: uniform keypoints over a range.
class UniformCalibrators final : public Step {
 public:
  UniformCalibrators(const Calibrators& layer, const float* params)
      : last_(layer.keypoints(0) - 1), num_units_(static_cast<std::size_t>(layer.num_units())) {
    const auto keypoints = static_cast<std::size_t>(last_ + 1);
    for (auto* array : {&lo_, &inverse_step_, &range_, &low_}) array->resize(padded(num_units_));
    tables_.resize(padded(num_units_) * keypoints);
    for (std::size_t u = 0; u < num_units_; ++u) {
      const UniformKeypoints own = uniform_keypoints(last_, layer.constants().data() + 2 * u);
      lo_[u] = own.lo;
      inverse_step_[u] = own.inverse_step;
      const WayBack back = enter_binade({params + layer.unit_begin(static_cast<int>(u)), keypoints},
                                        tables_.data() + u * keypoints);
      range_[u] = back.range;
      low_[u] = back.low;
    }
  }

  void tile(const float* in, float* out, float*) const noexcept override {
    calibrate_tile(units(), num_units_, in, out);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (std::size_t u = 0; u < num_units_; u += 16) calibrate_row(units(), u, in + u, out + u);
  }

 private:
  UniformTables units() const noexcept {
    return {lo_.data(), inverse_step_.data(), tables_.data(), range_.data(), low_.data(), last_};
  }

  int last_;
  std::size_t num_units_;
  AlignedFloats lo_, inverse_step_, tables_, range_, low_;
};

// Lattices whose table is folded input by input. For one row the lanes are lattices; where there
// are fewer than 16, each is cut along its last dimensions into smaller ones that are folded
// afterwards.
class MultilinearLattices final : public Step {
 public:
  MultilinearLattices(const Lattices& layer, const float* params)
      : size_(layer.size()), num_lattices_(static_cast<std::size_t>(layer.num_units())) {
    const std::size_t vertices = layer.num_vertices();
    slopes_.resize(num_lattices_ * vertices);
    back_ = enter_binade(layer, params, slopes_.data());
    while (cut_ + 1 < size_ && num_lattices_ << cut_ < 16) ++cut_;
    const std::size_t parts = num_lattices_ << cut_, part_vertices = vertices >> cut_;
    by_lane_.resize(padded(parts) * part_vertices, 1.0f);
    for (std::size_t p = 0; p < parts; ++p) {
      float* lane = by_lane_.data() + p / 16 * 16 * part_vertices + p % 16;
      for (std::size_t v = 0; v < part_vertices; ++v) lane[16 * v] = slopes_[p * part_vertices + v];
    }
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      float* theta = slopes_.data() + g * vertices;
      lattice_slopes(theta, size_, theta);
    }
    const std::size_t row_size = padded(num_inputs()) + padded(parts) +
                                 16 * static_cast<std::size_t>(size_) + 16 * part_vertices;
    scratch_size_ = std::max(static_cast<std::size_t>(kTile * size_), row_size);
  }

  void tile(const float* in, float* out, float* scratch) const noexcept override {
    const auto inputs = static_cast<std::size_t>(kTile * size_);
    for (std::size_t g = 0; g < num_lattices_; ++g, in += inputs, out += kTile) {
      clip_to_unit(in, inputs, scratch);
      lattice_forward(slopes_.data() + (g << size_), size_, scratch, out);
      leave_binade(back_[g].range, back_[g].low, out, kTile);
    }
  }

  void row(const float* in, float* out, float* scratch) const noexcept override {
    const int part_size = size_ - cut_;
    const std::size_t parts = num_lattices_ << cut_;
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
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      const float* last_inputs = clipped + g * static_cast<std::size_t>(size_) + part_size;
      const float y = fold_in_place(values + (g << cut_), cut_, last_inputs);
      out[g] = std::fma(back_[g].range, y - 1, back_[g].low);
    }
  }

 private:
  std::size_t num_inputs() const { return num_lattices_ * static_cast<std::size_t>(size_); }

  int size_;
  int cut_ = 0;  // a lattice is 2^cut_ lanes
  std::size_t num_lattices_;
  AlignedFloats slopes_;   // [lattice][2^size], see lattice_kernels.h
  AlignedFloats by_lane_;  // [block][2^(size - cut)][16]
  std::vector<WayBack> back_;
};

// Lattices by simplex. Inputs and table lie on a grid of 2^-23, so each product and each sum is
// exact in double, and the one rounding at the end keeps the order, whichever simplex a row is in.
class SimplexLattices final : public Step {
 public:
  SimplexLattices(const Lattices& layer, const float* params)
      : size_(layer.size()), theta_(layer.num_params()) {
    back_ = enter_binade(layer, params, theta_.data());
  }

  void tile(const float* in, float* out, float*) const noexcept override {
    for (std::size_t g = 0; g < back_.size(); ++g, in += kTile * size_, out += kTile) {
      for (int r = 0; r < kTile; ++r) out[r] = lattice(g, in + r, kTile);
    }
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (std::size_t g = 0; g < back_.size(); ++g, in += size_) out[g] = lattice(g, in, 1);
  }

 private:
  float lattice(std::size_t g, const float* in, std::ptrdiff_t stride) const noexcept {
    double x[kMaxLatticeSize];
    for (int d = 0; d < size_; ++d)
      x[d] = (1 + std::min(std::max(in[d * stride], 0.0f), 1.0f)) - 1;  // onto the grid
    const auto y = static_cast<float>(simplex_at(theta_.data() + (g << size_), size_, x));
    return std::fma(back_[g].range, y - 1, back_[g].low);
  }

  int size_;
  std::vector<float> theta_;
  std::vector<WayBack> back_;
};

}  // namespace

std::unique_ptr<const Step> calibrator_step(const Calibrators& layer, const float* params) {
  if (layer.reads_table()) return std::make_unique<RawCalibrators>(layer, params);
  return std::make_unique<UniformCalibrators>(layer, params);
}

std::unique_ptr<const Step> lattice_step(const Lattices& layer, const float* params) {
  if (layer.interpolation() == Interpolation::simplex)
    return std::make_unique<SimplexLattices>(layer, params);
  return std::make_unique<MultilinearLattices>(layer, params);
}

}  // namespace espalier
