// SPDX-License-Identifier: Apache-2.0
// A piecewise linear function per wire (the paper, section 2, "Calibration Layer"):
//
//   c(x) = b[k] + t (b[k+1] - b[k]),  a[k] <= x <= a[k+1],  t = (x - a[k]) / (a[k+1] - a[k])
//
// A raw number arrives as its position k + t among the keypoints of its feature, or as "missing",
// which has an output of its own. A raw category has a learned value per category, or, before a
// linear layer, passes through to be looked up there. A raw grid has a table over two columns, see
// layers/grid.h. Any other wire has uniform keypoints over a range.
#pragma once

#include <algorithm>
#include <optional>

#include "espalier/architecture.h"
#include "layers/kernels.h"
#include "layers/layer.h"

namespace espalier {

enum class CategoryWires { calibrate, pass };

class Calibrators final : public Layer {
 public:
  struct Shape {
    int keypoints = 20;          // of wires that are not raw
    std::optional<Range> range;  // of wires that are not raw; fitted to the data if absent
    MonotoneCalibrators monotone = MonotoneCalibrators::required;
    CategoryWires categories = CategoryWires::calibrate;
    OutputBounds bounds = OutputBounds::unit_interval;
  };

  Calibrators(std::vector<Wire> inputs, const Shape& shape);

  /// Parameters that a wire needs.
  static std::size_t num_params_of(const Wire& wire, const Shape& shape);

  std::string constants_error() const override;
  // Of each unit that reads the table, kept: whether the mean of its categories is made, and it.
  std::size_t scratch_size() const override { return reads_table() ? 2 * inputs().size() : 0; }
  bool keeps_scratch() const override { return reads_table(); }
  void forget(float* scratch) const override { std::fill_n(scratch, scratch_size(), 0.0f); }
  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  void initialize(float* params, const InitialState& state) override;
  void project(float* unit_params, int unit, Projection how,
               const ChainWeights& weights) const override;
  void penalize(const float* unit_params, float* unit_grad, int unit,
                const Penalties& penalties) const override;
  float rate_scale() const override;
  double largest_output(const float* params, double largest_input) const override;

  /// Whether the inputs are cells of the table; else they are the outputs of another layer.
  bool reads_table() const;
  /// Unit u: keypoints (0: a category, a grid or a wire that passes) and whether they must rise.
  int keypoints(int unit) const;
  bool rises(int unit) const;
  /// The range of a wire that is not raw.
  Range range(int unit) const;

 private:
  UnitNames unit_names() const override { return {"calibrator", "output"}; }

  enum class UnitKind { position, uniform, category, pass, grid };
  UnitKind kind(int unit) const;
  UniformUnits uniform(const float* params) const;
  const Wire& wire(int unit) const { return inputs()[static_cast<std::size_t>(unit)]; }

  Shape shape_;
};

}  // namespace espalier
