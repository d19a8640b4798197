// SPDX-License-Identifier: Apache-2.0
// An ensemble of lattices (the paper, section 2, "Ensemble of Lattices Layer"): lattice g
// interpolates a table of 2^S values, one per vertex of the unit cube, at its S wires
// g*S ... g*S + S - 1.
//
//   multilinear: sum over vertices v of theta[v] * prod_d x[d]^v[d] (1 - x[d])^(1 - v[d])
//   simplex:     theta[0] + sum_i x[p_i] (theta[v_i] - theta[v_{i-1}]), where
//                x[p_1] >= x[p_2] >= ... and v_i has the bits p_1 ... p_i
//
// theta: [num_lattices][2^S], bit d of a vertex is v[d]. Inputs are clipped to [0, 1].
#pragma once

#include "constraints/lattice_shape.h"
#include "espalier/architecture.h"
#include "layers/lattice_kernels.h"
#include "layers/layer.h"

namespace espalier {

/// The value of a lattice at x[size], within [0, 1]; the reference.
double simplex_at(const float* theta, int size, const double* x);

class Lattices final : public Layer {
 public:
  struct Shape {
    int size = 1;  // S
    Interpolation interpolation = Interpolation::multilinear;
    OutputBounds bounds = OutputBounds::unit_interval;
  };

  Lattices(std::vector<Wire> inputs, const Shape& shape);

  std::size_t scratch_size() const override;
  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  void initialize(float* params, const InitialState& state) override;
  void project(float* unit_params, int unit, Projection how,
               const ChainWeights& weights) const override;
  void penalize(const float* unit_params, float* unit_grad, int unit,
                const Penalties& penalties) const override;
  float rate_scale() const override {
    return shape_.bounds == OutputBounds::none ? 1 : kInnerTableRate;
  }
  double largest_output(const float* params, double largest_input) const override;

  int size() const { return shape_.size; }
  Interpolation interpolation() const { return shape_.interpolation; }
  const LatticeShape& vertices() const { return vertices_; }
  std::size_t num_vertices() const { return vertices_.num_vertices(); }
  /// Whether a lattice must rise along a dimension.
  bool rises(int lattice, int dim) const {
    return inputs()[static_cast<std::size_t>(lattice * shape_.size + dim)].monotone;
  }

 private:
  UnitNames unit_names() const override { return {"lattice", "vertex"}; }

  Shape shape_;
  LatticeShape vertices_;
  bool clips_;  // an input may leave [0, 1]
};

}  // namespace espalier
