// SPDX-License-Identifier: Apache-2.0
#include "serve/steps.h"

#include <algorithm>

#include "core/aligned.h"
#include "espalier/error.h"
#include "layers/kernels.h"
#include "layers/linear.h"
#include "layers/min_max.h"
#include "layers/relu.h"
#include "layers/wiring.h"
#include "serve/kernels.h"
#include "serve/table_steps.h"

namespace espalier {

namespace {

// The bias, then the weights that the categories pick, then a fused multiply-add a number, each in
// the order of the inputs: with weights >= 0 no output falls when an input rises.
class LinearStep final : public Step {
 public:
  LinearStep(const Linear& layer, const float* params)
      : num_outputs_(static_cast<std::size_t>(layer.num_outputs())),
        monotone_outputs_(layer.monotone_outputs()),
        monotone_terms_(layer.terms(0)),
        free_terms_(layer.terms(layer.num_outputs() - 1)),
        params_(params, params + layer.num_params()),
        bias_(params_.data() + layer.bias_begin()),
        category_begin_(num_outputs_) {
    for (int j = 0; j < layer.num_inputs(); ++j) {
      const auto [begin, end] = layer.reach(j);
      const Wire& wire = layer.inputs()[static_cast<std::size_t>(j)];
      const float* weights = params_.data() + layer.unit_begin(j);
      if (wire.is_category()) {
        category_begin_ = static_cast<std::size_t>(begin);
        category_width_ = static_cast<std::size_t>(end - begin);
        add_category(j, weights, wire.shares);
        continue;
      }
      numbers_.push_back({j, begin, static_cast<std::size_t>(end - begin), weights});
    }
    if (!categories_.empty()) scratch_size_ = kTile * padded(num_outputs_);
  }

  void tile(const float* in, float* out, float* scratch) const noexcept override {
    if (categories_.empty()) {
      for (std::size_t i = 0; i < num_outputs_; ++i) std::fill_n(out + i * kTile, kTile, bias_[i]);
    } else {
      for (std::size_t r = 0; r < kTile; ++r)
        start_row(in + r, kTile, scratch + r * padded(num_outputs_));
      rows_to_tile(scratch, static_cast<int>(num_outputs_), out);
    }
    add_terms(monotone_terms_.data(), monotone_terms_.size(), params_.data(), 0, monotone_outputs_,
              in, out);
    add_terms(free_terms_.data(), free_terms_.size(), params_.data(), monotone_outputs_,
              static_cast<int>(num_outputs_), in, out);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    start_row(in, 1, out);
    if (num_outputs_ == 1) {
      *out = add_terms_of_row(free_terms_.data(), free_terms_.size(), params_.data(), in, *out);
      return;
    }
    for (const Number& number : numbers_) {
      add_scaled(in[number.wire], number.weights, out + number.begin, number.width);
    }
  }

 private:
  struct Number {
    int wire;
    int begin;  // the outputs it reaches: [begin, begin + width)
    std::size_t width;
    const float* weights;
  };
  struct Category {
    int wire;
    AlignedFloats rows;  // [categories, then unseen][padded(category_width_)]
  };

  void add_category(int wire, const float* weights, const std::vector<float>& shares) {
    const std::size_t stride = padded(category_width_);
    Category category = {wire, AlignedFloats((shares.size() + 1) * stride)};
    float* row = category.rows.data();
    for (std::size_t c = 0; c < shares.size(); ++c, row += stride)
      std::copy_n(weights + c * category_width_, category_width_, row);
    for (std::size_t i = 0; i < category_width_; ++i)
      row[i] = static_cast<float>(mean_over(shares, weights + i, category_width_));
    categories_.push_back(std::move(category));
  }

  void start_row(const float* in, std::ptrdiff_t stride, float* out) const noexcept {
    const auto pick = [&](std::size_t k) {
      const Category& category = categories_[k];
      const auto code = static_cast<std::size_t>(in[category.wire * stride]);
      return category.rows.data() + code * padded(category_width_);
    };
    std::copy_n(bias_, category_begin_, out);
    sum_of_picked(bias_ + category_begin_, categories_.size(), pick, 0, category_width_,
                  out + category_begin_);
  }

  std::size_t num_outputs_;
  int monotone_outputs_;
  std::vector<LinearTerm> monotone_terms_;  // of the first outputs
  std::vector<LinearTerm> free_terms_;      // of the others; of all if there is one output
  AlignedFloats params_;
  const float* bias_;
  std::vector<Number> numbers_;
  // Categories are not monotone, so they all reach the same outputs.
  std::vector<Category> categories_;
  std::size_t category_begin_;
  std::size_t category_width_ = 0;
};

class GatherStep final : public Step {
 public:
  explicit GatherStep(const Gather& layer) : wires_(layer.wires()) {}

  void tile(const float* in, float* out, float*) const noexcept override {
    for (const int wire : wires_) out = std::copy_n(in + wire * kTile, kTile, out);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (const int wire : wires_) *out++ = in[wire];
  }

 private:
  std::vector<int> wires_;
};

class SumStep final : public Step {
 public:
  explicit SumStep(const Sum& layer) : num_inputs_(static_cast<std::size_t>(layer.num_inputs())) {}

  void tile(const float* in, float* out, float*) const noexcept override {
    std::fill_n(out, kTile, 0.0f);
    for (std::size_t i = 0; i < num_inputs_; ++i) add(in + i * kTile, out, kTile);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    float sum = 0;
    for (std::size_t i = 0; i < num_inputs_; ++i) sum += in[i];
    *out = sum;
  }

 private:
  std::size_t num_inputs_;
};

class MinMaxStep final : public Step {
 public:
  explicit MinMaxStep(const MinMax& layer) : groups_(layer.groups()), size_(layer.size()) {}

  void tile(const float* in, float* out, float*) const noexcept override {
    min_max<kTile>(in, groups_, size_, out);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    min_max<1>(in, groups_, size_, out);
  }

 private:
  int groups_, size_;
};

class ReluStep final : public Step {
 public:
  explicit ReluStep(const Relu& layer)
      : num_inputs_(static_cast<std::size_t>(layer.num_inputs())) {}

  void tile(const float* in, float* out, float*) const noexcept override {
    for (std::size_t i = 0; i < num_inputs_ * kTile; ++i) out[i] = std::max(in[i], 0.0f);
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (std::size_t i = 0; i < num_inputs_; ++i) out[i] = std::max(in[i], 0.0f);
  }

 private:
  std::size_t num_inputs_;
};

std::unique_ptr<const Step> compile(LayerKind kind, const Layer& layer, const float* params) {
  switch (kind) {
    case LayerKind::cal:
      return calibrator_step(static_cast<const Calibrators&>(layer), params);
    case LayerKind::lin:
      return std::make_unique<LinearStep>(static_cast<const Linear&>(layer), params);
    case LayerKind::lat:
      return lattice_step(static_cast<const Lattices&>(layer), params);
    case LayerKind::gather:
      return std::make_unique<GatherStep>(static_cast<const Gather&>(layer));
    case LayerKind::sum:
      return std::make_unique<SumStep>(static_cast<const Sum&>(layer));
    case LayerKind::minmax:
      return std::make_unique<MinMaxStep>(static_cast<const MinMax&>(layer));
    case LayerKind::relu:
      return std::make_unique<ReluStep>(static_cast<const Relu&>(layer));
  }
  throw Error(ErrorKind::unsupported, "a layer that the predictor does not know");
}

}  // namespace

CompiledNetwork::CompiledNetwork(const Network& network) {
  auto widest = static_cast<std::size_t>(network.num_inputs());
  for (int l = 0; l < network.num_layers(); ++l) {
    const LayerSpec& spec = network.architecture().layers[static_cast<std::size_t>(l)];
    const Layer& layer = network.layer(l);
    steps_.push_back(compile(spec.kind, layer, network.layer_params(l)));
    widest = std::max(widest, static_cast<std::size_t>(layer.num_outputs()));
    step_scratch_size_ = std::max(step_scratch_size_, steps_.back()->scratch_size());
  }
  wires_size_ = padded(widest) * kTile;
}

const float* CompiledNetwork::tile(float* scratch) const noexcept {
  float* in = scratch;
  float* out = scratch + wires_size_;
  for (const auto& step : steps_) {
    step->tile(in, out, scratch + 2 * wires_size_);
    std::swap(in, out);
  }
  return in;
}

float CompiledNetwork::row(float* scratch) const noexcept {
  float* in = scratch;
  float* out = scratch + wires_size_;
  for (const auto& step : steps_) {
    step->row(in, out, scratch + 2 * wires_size_);
    std::swap(in, out);
  }
  return in[0];
}

}  // namespace espalier
