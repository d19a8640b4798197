// SPDX-License-Identifier: Apache-2.0
// max(x, 0), wire by wire: with weights >= 0 around it the paper's "monotonic DNN".
#pragma once

#include "layers/layer.h"

namespace espalier {

class Relu final : public FixedLayer {
 public:
  explicit Relu(std::vector<Wire> inputs);

  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  double largest_output(const float*, double largest_input) const override { return largest_input; }
};

}  // namespace espalier
