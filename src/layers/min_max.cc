// SPDX-License-Identifier: Apache-2.0
#include "layers/min_max.h"

#include <algorithm>

namespace espalier {

MinMax::MinMax(std::vector<Wire> inputs, int size) : FixedLayer(std::move(inputs)), size_(size) {
  const auto& in = this->inputs();
  outputs_.push_back(
      {.monotone = std::any_of(in.begin(), in.end(), [](const Wire& w) { return w.monotone; }),
       .in_unit = std::all_of(in.begin(), in.end(), [](const Wire& w) { return w.in_unit; })});
}

void MinMax::evaluate(const float*, const double* in, double* out) const {
  for (int g = 0; g < groups(); ++g, in += size_) {
    const double least = *std::min_element(in, in + size_);
    *out = g == 0 ? least : std::max(*out, least);
  }
}

void MinMax::forward(const float*, const float* in, float* out, float*) const {
  min_max<kTile>(in, groups(), size_, out);
}

// The gradient goes to the first input that gave the output.
void MinMax::backward(const float*, const float* in, const float* grad_out, float* grad_in, float*,
                      float*) const {
  if (grad_in == nullptr) return;
  float best[kTile];
  int chosen[kTile];
  for (int first = 0; first < num_inputs(); first += size_) {
    float least[kTile];
    int wire[kTile];
    std::copy_n(in + first * kTile, kTile, least);
    std::fill_n(wire, kTile, first);
    for (int w = first + 1; w < first + size_; ++w) {
      const float* x = in + w * kTile;
      for (int r = 0; r < kTile; ++r) {
        wire[r] = x[r] < least[r] ? w : wire[r];
        least[r] = std::min(least[r], x[r]);
      }
    }
    for (int r = 0; r < kTile; ++r) {
      const bool larger = first == 0 || least[r] > best[r];
      chosen[r] = larger ? wire[r] : chosen[r];
      best[r] = larger ? least[r] : best[r];
    }
  }
  std::fill_n(grad_in, num_inputs() * kTile, 0.0f);
  for (int r = 0; r < kTile; ++r) grad_in[chosen[r] * kTile + r] = grad_out[r];
}

}  // namespace espalier
