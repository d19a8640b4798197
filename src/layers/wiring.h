// SPDX-License-Identifier: Apache-2.0
// Layers without parameters: which wires go where, and the sum of all.
#pragma once

#include "layers/layer.h"

namespace espalier {

/// Output i is input wires[i]; inputs may be repeated or left out.
class Gather final : public FixedLayer {
 public:
  Gather(std::vector<Wire> inputs, std::vector<int> wires);

  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  double largest_output(const float*, double largest_input) const override { return largest_input; }

  const std::vector<int>& wires() const { return wires_; }

 private:
  std::vector<int> wires_;
};

/// One output: the sum of the inputs.
class Sum final : public FixedLayer {
 public:
  explicit Sum(std::vector<Wire> inputs);

  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  double largest_output(const float*, double largest_input) const override {
    return num_inputs() * largest_input;
  }
};

}  // namespace espalier
