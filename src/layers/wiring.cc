// SPDX-License-Identifier: Apache-2.0
#include "layers/wiring.h"

#include <algorithm>

#include "layers/kernels.h"

namespace espalier {

Gather::Gather(std::vector<Wire> inputs, std::vector<int> wires)
    : FixedLayer(std::move(inputs)), wires_(std::move(wires)) {
  outputs_.reserve(wires_.size());
  for (const int wire : wires_) outputs_.push_back(this->inputs()[static_cast<std::size_t>(wire)]);
}

void Gather::evaluate(const float*, const double* in, double* out) const {
  for (const int wire : wires_) *out++ = in[wire];
}

void Gather::forward(const float*, const float* in, float* out, float*) const {
  for (const int wire : wires_) out = std::copy_n(in + wire * kTile, kTile, out);
}

void Gather::backward(const float*, const float*, const float* grad_out, float* grad_in, float*,
                      float*) const {
  if (grad_in == nullptr) return;
  std::fill_n(grad_in, num_inputs() * kTile, 0.0f);
  for (const int wire : wires_) {
    add(grad_out, grad_in + wire * kTile, kTile);
    grad_out += kTile;
  }
}

Sum::Sum(std::vector<Wire> inputs) : FixedLayer(std::move(inputs)) {
  const auto monotone = [](const Wire& wire) { return wire.monotone; };
  outputs_.push_back(
      {.monotone = std::any_of(this->inputs().begin(), this->inputs().end(), monotone)});
}

void Sum::evaluate(const float*, const double* in, double* out) const {
  *out = 0;
  for (int i = 0; i < num_inputs(); ++i) *out += in[i];
}

void Sum::forward(const float*, const float* in, float* out, float*) const {
  std::fill_n(out, kTile, 0.0f);
  for (int i = 0; i < num_inputs(); ++i) add(in + i * kTile, out, kTile);
}

void Sum::backward(const float*, const float*, const float* grad_out, float* grad_in, float*,
                   float*) const {
  if (grad_in == nullptr) return;
  for (int i = 0; i < num_inputs(); ++i) std::copy_n(grad_out, kTile, grad_in + i * kTile);
}

}  // namespace espalier
