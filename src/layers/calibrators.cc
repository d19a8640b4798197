// SPDX-License-Identifier: Apache-2.0
#include "layers/calibrators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "constraints/chain.h"
#include "constraints/grid.h"
#include "layers/kernels.h"

namespace espalier {

namespace {

// Half the width of a fitted range, in standard deviations of what arrives.
constexpr float kRangeDeviations = 3;

// A value for each code of a tile; for the unseen ones the mean, which is kept because it costs as
// much as there are words: kept[0] is whether it is made, kept[1] the mean.
void pick_values(const float* values, const Wire& wire, const float* codes, float* kept,
                 float* out) {
  for (int r = 0; r < kTile; ++r) {
    const int c = static_cast<int>(codes[r]);
    if (c >= wire.num_categories() && std::exchange(kept[0], 1.0f) == 0)
      kept[1] = static_cast<float>(mean_over(wire.shares, values));
    out[r] = c < wire.num_categories() ? values[c] : kept[1];
  }
}

// Values b that lie `step` apart: (b[k+1] - b[k])^2 and (b[k] - 2 b[k+1] + b[k+2])^2.
void penalize_line(const float* b, float* grad, std::size_t step, std::size_t length,
                   const Penalties& penalties) {
  for (std::size_t k = 0; k + 1 < length; ++k) {
    const std::size_t i = k * step, j = i + step;
    const float d = 2 * penalties.calibrator_laplacian * (b[j] - b[i]);
    grad[i] -= d;
    grad[j] += d;
  }
  for (std::size_t k = 0; k + 2 < length; ++k) {
    const std::size_t h = k * step, i = h + step, j = i + step;
    const float d = 2 * penalties.calibrator_hessian * (b[h] - 2 * b[i] + b[j]);
    grad[h] += d;
    grad[i] -= 2 * d;
    grad[j] += d;
  }
}

}  // namespace

Calibrators::Calibrators(std::vector<Wire> inputs, const Shape& shape)
    : Layer(std::move(inputs)), shape_(shape) {
  const Range range = shape.range.value_or(Range{0, 1});
  for (int u = 0; u < num_inputs(); ++u) {
    add_unit(num_params_of(wire(u), shape_));
    if (shape_.bounds == OutputBounds::unit_interval)
      require(Bounds{.count = unit_size(u), .lo = 0, .hi = 1});
    if (rises(u)) require(Rise{.length = static_cast<std::size_t>(keypoints(u))});
    for (const Rise& rise : rises_of(wire(u).grid)) require(rise);
    outputs_.push_back(kind(u) == UnitKind::pass
                           ? wire(u)
                           : Wire{.monotone = wire(u).monotone,
                                  .in_unit = shape_.bounds == OutputBounds::unit_interval});
    constants_.push_back(range.lo);
    constants_.push_back(range.hi);
  }
}

std::size_t Calibrators::num_params_of(const Wire& wire, const Shape& shape) {
  if (wire.is_grid()) return wire.grid.num_vertices();
  if (wire.is_category()) return shape.categories == CategoryWires::pass ? 0 : wire.shares.size();
  if (wire.keypoints > 0)
    return static_cast<std::size_t>(wire.keypoints) + (wire.learns_missing ? 1 : 0);
  return static_cast<std::size_t>(shape.keypoints);
}

Calibrators::UnitKind Calibrators::kind(int unit) const {
  if (wire(unit).is_grid()) return UnitKind::grid;
  if (wire(unit).is_category()) {
    return shape_.categories == CategoryWires::pass ? UnitKind::pass : UnitKind::category;
  }
  return wire(unit).keypoints > 0 ? UnitKind::position : UnitKind::uniform;
}

int Calibrators::keypoints(int unit) const {
  switch (kind(unit)) {
    case UnitKind::position:
      return wire(unit).keypoints;
    case UnitKind::uniform:
      return shape_.keypoints;
    default:
      return 0;
  }
}

bool Calibrators::reads_table() const { return kind(0) != UnitKind::uniform; }

bool Calibrators::rises(int unit) const {
  return keypoints(unit) > 0 &&
         (wire(unit).monotone || shape_.monotone == MonotoneCalibrators::all);
}

Range Calibrators::range(int unit) const {
  const std::size_t i = 2 * static_cast<std::size_t>(unit);
  return {constants_[i], constants_[i + 1]};
}

UniformUnits Calibrators::uniform(const float* params) const {
  return {shape_.keypoints - 1, inputs().size(), params, constants_.data()};
}

std::string Calibrators::constants_error() const {
  for (int u = 0; u < num_units(); ++u) {
    const auto [lo, hi] = range(u);
    // Positions are counted in steps of the range, so its inverse must be finite too.
    const bool usable = std::isfinite(lo) && std::isfinite(hi) && lo < hi &&
                        std::isfinite(hi - lo) &&
                        std::isfinite(static_cast<float>(shape_.keypoints) / (hi - lo));
    if (!usable) return fmt::format("calibrator {} has the range {}:{}", u, lo, hi);
  }
  return {};
}

void Calibrators::evaluate(const float* params, const double* in, double* out) const {
  for (int u = 0; u < num_units(); ++u) {
    const float* table = params + unit_begin(u);
    const double x = in[u];
    if (kind(u) == UnitKind::pass) {
      out[u] = x;
    } else if (kind(u) == UnitKind::category) {
      const auto code = static_cast<std::size_t>(x);
      out[u] = code < wire(u).shares.size() ? table[code] : mean_over(wire(u).shares, table);
    } else if (kind(u) == UnitKind::grid) {
      out[u] = grid_at(wire(u).grid, table, static_cast<int>(x));
    } else if (kind(u) == UnitKind::position && wire(u).learns_missing && x < 0) {
      out[u] = table[keypoints(u)];
    } else {
      const int last = keypoints(u) - 1;
      const auto [lo, hi] = range(u);
      const double scaled =
          kind(u) == UnitKind::position ? x : (x - lo) / (static_cast<double>(hi) - lo) * last;
      const double position = std::clamp(scaled, 0.0, static_cast<double>(last));
      const int k = std::min(static_cast<int>(position), last - 1);
      out[u] = table[k] + (position - k) * (static_cast<double>(table[k + 1]) - table[k]);
    }
  }
}

void Calibrators::forward(const float* params, const float* in, float* out, float* scratch) const {
  if (!reads_table()) return calibrate(uniform(params), in, out);
  for (int u = 0; u < num_units(); ++u, in += kTile, out += kTile) {
    const float* table = params + unit_begin(u);
    const int last = keypoints(u) - 1;
    if (kind(u) == UnitKind::pass) {
      std::copy_n(in, kTile, out);
    } else if (kind(u) == UnitKind::category) {
      pick_values(table, wire(u), in, scratch + 2 * u, out);
    } else if (kind(u) == UnitKind::grid) {
      grid_forward(wire(u).grid, table, in, out);
    } else {
      interpolate(table, last, in, out);
      for (int r = 0; wire(u).learns_missing && r < kTile; ++r) {
        if (in[r] < 0) out[r] = table[last + 1];
      }
    }
  }
}

void Calibrators::backward(const float* params, const float* in, const float* grad_out,
                           float* grad_in, float* grad_params, float*) const {
  if (!reads_table())
    return calibrate_backward(uniform(params), in, grad_out, grad_params, grad_in);
  for (int u = 0; u < num_units(); ++u, in += kTile, grad_out += kTile) {
    float* grad = grad_params + unit_begin(u);
    const int last = keypoints(u) - 1;
    if (kind(u) == UnitKind::category) {
      for (int r = 0; r < kTile; ++r) {
        const int c = static_cast<int>(in[r]);
        if (c < wire(u).num_categories()) grad[c] += grad_out[r];
      }
    } else if (kind(u) == UnitKind::grid) {
      grid_backward(wire(u).grid, in, grad_out, grad);
    } else if (kind(u) == UnitKind::position) {
      interpolate_backward(last, in, grad_out, grad);
      for (int r = 0; wire(u).learns_missing && r < kTile; ++r) {
        if (in[r] < 0) grad[last + 1] += grad_out[r];
      }
    }
  }
}

void Calibrators::initialize(float* params, const InitialState& state) {
  for (int u = 0; u < num_units(); ++u) {
    float* table = params + unit_begin(u);
    const auto& stats = state.inputs[static_cast<std::size_t>(u)];
    if (kind(u) == UnitKind::uniform && !shape_.range) {
      const float spread = std::max(kRangeDeviations * stats.deviation, 1e-3f);
      constants_[2 * static_cast<std::size_t>(u)] = stats.mean - spread;
      constants_[2 * static_cast<std::size_t>(u) + 1] = stats.mean + spread;
    }
    // A straight line from 0 to 1; around 0 where the output has no bounds.
    const float shift = shape_.bounds == OutputBounds::none ? 0.5f : 0.0f;
    if (kind(u) == UnitKind::grid) {
      start_grid(wire(u).grid, table);
      for (std::size_t i = 0; i < unit_size(u); ++i) table[i] -= shift;
      continue;
    }
    const int last = keypoints(u) - 1;
    for (int k = 0; k <= last; ++k)
      table[k] = static_cast<float>(k) / static_cast<float>(last) - shift;
    for (std::size_t i = static_cast<std::size_t>(last + 1); i < unit_begin(u + 1) - unit_begin(u);
         ++i) {
      table[i] = 0.5f - shift;  // missing, and categories
    }
  }
}

void Calibrators::project(float* unit_params, int unit, Projection,
                          const ChainWeights& weights) const {
  const std::span<float> table(unit_params, unit_size(unit));
  const InequalityList list = inequalities(unit);
  if (kind(unit) == UnitKind::grid) {
    project_grid(table, list.rises, weights);
  } else {
    for (const Rise& rise : list.rises) project_chain(table.first(rise.length), weights);
  }
  for (const Bounds& bounds : list.bounds) clip(table, bounds);
}

void Calibrators::penalize(const float* unit_params, float* unit_grad, int unit,
                           const Penalties& penalties) const {
  const auto along = [&](std::size_t first, std::size_t step, std::size_t length) {
    penalize_line(unit_params + first, unit_grad + first, step, length, penalties);
  };
  if (kind(unit) == UnitKind::grid) return for_each_smooth_line(wire(unit).grid, along);
  along(0, 1, static_cast<std::size_t>(keypoints(unit)));
}

float Calibrators::rate_scale() const {
  if (reads_table()) return shape_.categories == CategoryWires::pass ? kEmbeddedTableRate : 1;
  return shape_.bounds == OutputBounds::none ? 1 : kInnerTableRate;
}

double Calibrators::largest_output(const float* params, double) const {
  double largest = 2 * largest_of({params, num_params()});  // interpolation takes differences
  // The code of a category that passes.
  for (const Wire& output : outputs())
    largest = std::max(largest, static_cast<double>(output.num_categories()));
  return largest;
}

}  // namespace espalier
