// SPDX-License-Identifier: Apache-2.0
// Minimum within groups, maximum across them (Daniels and Velikova, 2010): after a linear layer
// whose monotone weights are >= 0 a universal approximator of partially monotone functions.
#pragma once

#include <algorithm>

#include "layers/layer.h"

namespace espalier {

/// out[i] = max over groups of min over members of in[group * size + member][i], i < Lanes.
template <int Lanes>
void min_max(const float* in, int groups, int size, float* out) {
  for (int g = 0; g < groups; ++g) {
    float least[Lanes];
    std::copy_n(in, Lanes, least);
    for (int s = 1; s < size; ++s) {
      in += Lanes;
      for (int i = 0; i < Lanes; ++i) least[i] = std::min(least[i], in[i]);
    }
    in += Lanes;
    for (int i = 0; i < Lanes; ++i) out[i] = g == 0 ? least[i] : std::max(out[i], least[i]);
  }
}

/// One output from groups of `size` inputs each.
class MinMax final : public FixedLayer {
 public:
  MinMax(std::vector<Wire> inputs, int size);

  int groups() const { return num_inputs() / size_; }
  int size() const { return size_; }

  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  double largest_output(const float*, double largest_input) const override { return largest_input; }

 private:
  int size_;
};

}  // namespace espalier
