// SPDX-License-Identifier: Apache-2.0
// The linear embedding (the paper, section 2, equation 1): x' = W x + b, with W >= 0 wherever a
// monotone wire meets a monotone output. The first `monotone_outputs` outputs are the monotone
// ones; the others never read a monotone wire. A layer with one output reads all wires.
//
// A raw category is never multiplied out: its code picks a row of weights. An unseen one counts as
// the mean of the rows, weighted by the shares of the categories.
//
// Parameters: for each input, [its categories or 1][the outputs it reaches]; then the biases.
#pragma once

#include <algorithm>
#include <vector>

#include "espalier/architecture.h"
#include "layers/kernels.h"
#include "layers/layer.h"

namespace espalier {

class Linear final : public Layer {
 public:
  struct Shape {
    int outputs = 1;
    int monotone_outputs = 0;
    Embedding embedding = Embedding::mixed;
    bool feeds_relu = false;
    float rate_scale = 1;
    std::vector<int> closed = {};  // outputs whose weights of monotone wires are 0
  };

  Linear(std::vector<Wire> inputs, const Shape& shape);

  /// The outputs that an input reaches: [begin, end).
  struct Reach {
    int begin;
    int end;
    std::size_t width() const { return static_cast<std::size_t>(end - begin); }
  };
  static Reach reach_of(const Wire& wire, const Shape& shape);

  /// The monotone share of the outputs, floor(D m / M) as the paper's counts show, but at least one
  /// (and in a split embedding at most D - 1) so that no input is cut off.
  static int monotone_share(const std::vector<Wire>& inputs, int outputs, Embedding embedding);

  // Rows of a tile [kTile][padded(num_outputs)]; then, kept, of each category input whether the
  // mean of its weights is made, and the means [category_inputs][num_outputs].
  std::size_t scratch_size() const override {
    return kept_begin() + category_inputs_.size() * (1 + outputs().size());
  }
  bool keeps_scratch() const override { return !category_inputs_.empty(); }
  void forget(float* scratch) const override {
    std::fill_n(scratch + kept_begin(), category_inputs_.size(), 0.0f);
  }
  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  void initialize(float* params, const InitialState& state) override;
  bool adjust(float* params, std::span<const WireStats> outputs) const override;
  void project(float* unit_params, int unit, Projection how,
               const ChainWeights& weights) const override;
  float decay_scale(int unit) const override;
  float rate_scale() const override { return shape_.rate_scale; }
  double largest_output(const float* params, double largest_input) const override;

  Reach reach(int input) const { return reach_of(wire(input), shape_); }
  std::size_t bias_begin() const { return unit_begin(num_inputs()); }
  int monotone_outputs() const { return shape_.monotone_outputs; }
  /// The number inputs that output i reads.
  const std::vector<LinearTerm>& terms(int output) const {
    return output < shape_.monotone_outputs ? monotone_row_terms_ : free_row_terms_;
  }

 private:
  UnitNames unit_names() const override { return {"input", "weight"}; }
  const Wire& wire(int input) const { return inputs()[static_cast<std::size_t>(input)]; }
  std::size_t kept_begin() const { return kTile * static_cast<std::size_t>(padded(num_outputs())); }
  void average_weights(const float* params, int j, float* mean) const;
  struct KeptMean {
    float* is_made;  // 0 or 1
    float* weights;
  };
  void pick_weights(const float* params, int j, const float* codes, const KeptMean& mean,
                    const float** picked, std::size_t stride) const;
  void start_rows(const float* params, const float* in, float* rows) const;
  void add_category_gradients(const float* in, const float* rows, float* grad_params) const;
  void initialize_from_data(float* params, const InitialState& state) const;
  void initialize_as_paper(float* params, const InitialState& state) const;

  Shape shape_;
  std::vector<int> category_inputs_;
  std::vector<LinearTerm> monotone_row_terms_;  // number inputs that the monotone outputs read
  std::vector<LinearTerm> free_row_terms_;      // number inputs that the other outputs read
};

}  // namespace espalier
