// SPDX-License-Identifier: Apache-2.0
#include "layers/lattices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "constraints/cube.h"
#include "layers/kernels.h"
#include "layers/lattice_gradients.h"

namespace espalier {

namespace {

// The dimensions of x sorted by value, the largest first, ties by number.
template <class Real>
void sort_dims(const Real* x, int size, int* dims) {
  for (int d = 0; d < size; ++d) {
    int at = d;
    for (; at > 0 && x[dims[at - 1]] < x[d]; --at) dims[at] = dims[at - 1];
    dims[at] = d;
  }
}

double multilinear(const float* theta, int size, const double* x) {
  double sum = 0;
  for (std::size_t v = 0; v < std::size_t{1} << size; ++v) {
    double weight = 1;
    for (int d = 0; d < size; ++d) weight *= (v >> d & 1) != 0 ? x[d] : 1 - x[d];
    sum += weight * theta[v];
  }
  return sum;
}

// The inputs of one row, clipped and sorted.
struct SimplexRow {
  SimplexRow(const float* in, int row, int size) {
    for (int d = 0; d < size; ++d) x[d] = std::min(std::max(in[d * kTile + row], 0.0f), 1.0f);
    sort_dims(x, size, dims);
  }
  float x[kMaxLatticeSize];
  int dims[kMaxLatticeSize];
};

void simplex_forward(const float* theta, int size, const float* in, float* out) {
  for (int r = 0; r < kTile; ++r) {
    const SimplexRow row(in, r, size);
    float sum = theta[0];
    std::size_t vertex = 0;
    for (int i = 0; i < size; ++i) {
      const std::size_t next = vertex | std::size_t{1} << row.dims[i];
      sum += row.x[row.dims[i]] * (theta[next] - theta[vertex]);
      vertex = next;
    }
    out[r] = sum;
  }
}

void simplex_backward(const float* theta, int size, const float* in, const float* grad_out,
                      float* grad_in, float* grad_theta) {
  for (int r = 0; r < kTile; ++r) {
    const SimplexRow row(in, r, size);
    grad_theta[0] += grad_out[r];
    std::size_t vertex = 0;
    for (int i = 0; i < size; ++i) {
      const int d = row.dims[i];
      const std::size_t next = vertex | std::size_t{1} << d;
      const float step = grad_out[r] * row.x[d];
      grad_theta[vertex] -= step;
      grad_theta[next] += step;
      const bool clipped = row.x[d] != in[d * kTile + r];
      grad_in[d * kTile + r] = clipped ? 0.0f : grad_out[r] * (theta[next] - theta[vertex]);
      vertex = next;
    }
  }
}

}  // namespace

double simplex_at(const float* theta, int size, const double* x) {
  int dims[kMaxLatticeSize];
  sort_dims(x, size, dims);
  double sum = theta[0];
  std::size_t vertex = 0;
  for (int i = 0; i < size; ++i) {
    const std::size_t next = vertex | std::size_t{1} << dims[i];
    sum += x[dims[i]] * (static_cast<double>(theta[next]) - theta[vertex]);
    vertex = next;
  }
  return sum;
}

Lattices::Lattices(std::vector<Wire> inputs, const Shape& shape)
    : Layer(std::move(inputs)),
      shape_(shape),
      vertices_(LatticeShape::cube(shape.size)),
      clips_(!std::all_of(this->inputs().begin(), this->inputs().end(),
                          [](const Wire& wire) { return wire.in_unit; })) {
  const int num_lattices = num_inputs() / shape.size;
  for (int g = 0; g < num_lattices; ++g) {
    add_unit(num_vertices());
    if (shape.bounds == OutputBounds::unit_interval)
      require(Bounds{.count = num_vertices(), .lo = 0, .hi = 1});
    for (int d = 0; d < shape.size; ++d) {
      if (rises(g, d)) require(vertices_.rise(d));
    }
    outputs_.push_back({.monotone = !inequalities(g).rises.empty(),
                        .in_unit = shape.bounds == OutputBounds::unit_interval});
  }
}

// The clipped inputs of a lattice, their gradient where nobody asks for it, what its kernel needs,
// and its slopes or coefficients.
std::size_t Lattices::scratch_size() const {
  return 2 * static_cast<std::size_t>(kTile * shape_.size) + lattice_scratch(shape_.size) +
         num_vertices();
}

void Lattices::evaluate(const float* params, const double* in, double* out) const {
  double x[kMaxLatticeSize];
  for (int g = 0; g < num_units(); ++g) {
    for (int d = 0; d < shape_.size; ++d) x[d] = std::clamp(in[g * shape_.size + d], 0.0, 1.0);
    const float* theta = params + unit_begin(g);
    out[g] = shape_.interpolation == Interpolation::multilinear ? multilinear(theta, shape_.size, x)
                                                                : simplex_at(theta, shape_.size, x);
  }
}

void Lattices::forward(const float* params, const float* in, float* out, float* scratch) const {
  const auto tile = static_cast<std::size_t>(kTile * shape_.size);
  float* slopes = scratch + tile;
  for (int g = 0; g < num_units(); ++g, in += tile, out += kTile) {
    const float* theta = params + unit_begin(g);
    if (shape_.interpolation == Interpolation::simplex) {
      simplex_forward(theta, shape_.size, in, out);
      continue;
    }
    lattice_slopes(theta, shape_.size, slopes);
    if (clips_) clip_to_unit(in, tile, scratch);
    lattice_forward(slopes, shape_.size, clips_ ? scratch : in, out);
  }
}

void Lattices::backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                        float* grad_params, float* scratch) const {
  const auto tile = static_cast<std::size_t>(kTile * shape_.size);
  float* kernel_scratch = scratch + 2 * tile;
  float* coefficients = kernel_scratch + lattice_scratch(shape_.size);
  for (int g = 0; g < num_units(); ++g, in += tile, grad_out += kTile) {
    float* grad_x =
        grad_in != nullptr ? grad_in + static_cast<std::size_t>(g) * tile : scratch + tile;
    const float* theta = params + unit_begin(g);
    float* grad_theta = grad_params + unit_begin(g);
    if (shape_.interpolation == Interpolation::simplex) {
      simplex_backward(theta, shape_.size, in, grad_out, grad_x, grad_theta);
      continue;
    }
    lattice_coefficients(theta, shape_.size, coefficients);
    if (clips_) clip_to_unit(in, tile, scratch);
    lattice_backward(coefficients, shape_.size, clips_ ? scratch : in, grad_out, grad_x, grad_theta,
                     kernel_scratch);
    if (clips_) keep_where_unit(in, tile, grad_x);
  }
}

// A linear function from 0 to 1, the same slope along each input, plus noise; around 0 where the
// output has no bounds.
void Lattices::initialize(float* params, const InitialState& state) {
  const double shift =
      shape_.bounds == OutputBounds::none && state.mode == Initialization::data ? 0.5 : 0.0;
  for (int g = 0; g < num_units(); ++g) {
    for (std::size_t v = 0; v < num_vertices(); ++v) {
      const double line = static_cast<double>(std::popcount(v)) / shape_.size - shift;
      const double noise =
          state.lattice_noise > 0 ? state.lattice_noise * state.random->normal() : 0;
      params[unit_begin(g) + v] = static_cast<float>(line + noise);
    }
  }
}

void Lattices::project(float* unit_params, int unit, Projection how, const ChainWeights&) const {
  const std::span<float> theta(unit_params, num_vertices());
  const InequalityList list = inequalities(unit);
  if (how == Projection::exact) {
    project_cube(theta, list.rises);
  } else if (how == Projection::admm) {
    project_cube_by_admm(theta, list.rises);
  } else {
    sweep_cube(theta, list.rises);
  }
  for (const Bounds& bounds : list.bounds) clip(theta, bounds);
}

void Lattices::penalize(const float* unit_params, float* unit_grad, int,
                        const Penalties& penalties) const {
  const float* theta = unit_params;
  for (int d = 0; d < shape_.size; ++d) {
    const std::size_t step = std::size_t{1} << d;
    for (std::size_t v = 0; v < num_vertices();
         ++v) {  // (theta[v + d] - theta[v])^2 along each edge
      if ((v & step) != 0) continue;
      const float slope = 2 * penalties.lattice_laplacian * (theta[v | step] - theta[v]);
      unit_grad[v] -= slope;
      unit_grad[v | step] += slope;
    }
    if (penalties.lattice_torsion <= 0) continue;
    for (int e = 0; e < d; ++e) {
      const std::size_t other = std::size_t{1} << e;
      for (std::size_t v = 0; v < num_vertices(); ++v) {  // (t00 + t11 - t01 - t10)^2 on each face
        if ((v & (step | other)) != 0) continue;
        const float twist = theta[v] + theta[v | step | other] - theta[v | step] - theta[v | other];
        const float slope = 2 * penalties.lattice_torsion * twist;
        unit_grad[v] += slope;
        unit_grad[v | step | other] += slope;
        unit_grad[v | step] -= slope;
        unit_grad[v | other] -= slope;
      }
    }
  }
}

double Lattices::largest_output(const float* params, double) const {
  return 2 * largest_of({params, num_params()});  // interpolation takes differences
}

}  // namespace espalier
