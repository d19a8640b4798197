// SPDX-License-Identifier: Apache-2.0
#include "layers/relu.h"

#include <algorithm>

namespace espalier {

Relu::Relu(std::vector<Wire> inputs) : FixedLayer(std::move(inputs)) {
  for (const Wire& wire : this->inputs())
    outputs_.push_back({.monotone = wire.monotone, .in_unit = wire.in_unit});
}

void Relu::evaluate(const float*, const double* in, double* out) const {
  for (int i = 0; i < num_inputs(); ++i) out[i] = std::max(in[i], 0.0);
}

void Relu::forward(const float*, const float* in, float* out, float*) const {
  for (int i = 0; i < num_inputs() * kTile; ++i) out[i] = std::max(in[i], 0.0f);
}

void Relu::backward(const float*, const float* in, const float* grad_out, float* grad_in, float*,
                    float*) const {
  if (grad_in == nullptr) return;
  for (int i = 0; i < num_inputs() * kTile; ++i) grad_in[i] = in[i] > 0 ? grad_out[i] : 0.0f;
}

}  // namespace espalier
