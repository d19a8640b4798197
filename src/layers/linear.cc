// SPDX-License-Identifier: Apache-2.0
#include "layers/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

// The data-fitted start of a layer with one output: how far it swings from its mean when all its
// inputs move together by one standard deviation.
constexpr double kOutputSwing = 1.0;

// Outputs that are looked up at a time, so that what they are looked up in stays in the nearest
// cache.
constexpr std::size_t kOutputsAtOnce = 128;

// Calls body(begin, end) for parts of [0, width).
template <class Body>
void each_part(std::size_t width, Body&& body) {
  for (std::size_t begin = 0; begin < width; begin += kOutputsAtOnce)
    body(begin, std::min(begin + kOutputsAtOnce, width));
}

// Adds the columns [begin, end) of the rows of a tile to those rows of grad that their codes pick;
// rows with the same code together, so that each row of grad is read and written once.
void add_by_code(const float* codes, int num_categories, const float* rows, std::size_t stride,
                 std::size_t begin, std::size_t end, std::size_t width, float* grad) {
  std::uint64_t waiting = ~std::uint64_t{0};
  while (waiting != 0) {
    const float code = codes[std::countr_zero(waiting)];
    std::uint64_t same = rows_equal(code, codes) & waiting;
    waiting &= ~same;
    if (code >= static_cast<float>(num_categories)) continue;  // unseen
    float* own = grad + static_cast<std::size_t>(code) * width;
    const auto next = [&](std::size_t) {
      const auto row = static_cast<std::size_t>(std::countr_zero(same));
      same &= same - 1;
      return rows + row * stride;
    };
    sum_of_picked(own, static_cast<std::size_t>(std::popcount(same)), next, begin, end, own);
  }
}

}  // namespace

Linear::Reach Linear::reach_of(const Wire& wire, const Shape& shape) {
  if (shape.outputs == 1) return {0, 1};
  if (wire.monotone) return {0, shape.monotone_outputs};
  return {shape.embedding == Embedding::mixed ? 0 : shape.monotone_outputs, shape.outputs};
}

int Linear::monotone_share(const std::vector<Wire>& inputs, int outputs, Embedding embedding) {
  std::int64_t columns = 0, monotone = 0;
  for (const Wire& wire : inputs) {
    columns += wire.num_columns();
    monotone += wire.monotone ? 1 : 0;
  }
  if (monotone == 0) return 0;
  const int share = static_cast<int>(outputs * monotone / columns);
  const bool keeps_a_free_row = embedding == Embedding::split && monotone < columns && outputs > 1;
  return std::clamp(share, 1, keeps_a_free_row ? outputs - 1 : outputs);
}

Linear::Linear(std::vector<Wire> inputs, const Shape& shape)
    : Layer(std::move(inputs)), shape_(shape) {
  for (int j = 0; j < num_inputs(); ++j) {
    const std::size_t begin = unit_begin(j);
    const Reach reached = reach(j);
    add_unit(static_cast<std::size_t>(wire(j).num_columns()) * reached.width());
    if (wire(j).monotone) {
      require(Bounds{.count = unit_size(j), .lo = 0});
      for (const int output : shape.closed)
        require(Bounds{.first = static_cast<std::size_t>(output), .count = 1, .hi = 0});
    }
    if (wire(j).is_category()) {
      category_inputs_.push_back(j);
      continue;
    }
    const LinearTerm term = {static_cast<std::ptrdiff_t>(begin) - reached.begin, j};
    if (reached.begin < shape.monotone_outputs) monotone_row_terms_.push_back(term);
    if (reached.end > shape.monotone_outputs) free_row_terms_.push_back(term);
  }
  add_unit(static_cast<std::size_t>(shape.outputs));
  for (int i = 0; i < shape.outputs; ++i)
    outputs_.push_back({.monotone = i < shape.monotone_outputs});
  for (const int output : shape.closed) outputs_[static_cast<std::size_t>(output)].monotone = false;
}

void Linear::evaluate(const float* params, const double* in, double* out) const {
  const float* bias = params + bias_begin();
  std::copy_n(bias, num_outputs(), out);
  for (int j = 0; j < num_inputs(); ++j) {
    const Reach reached = reach(j);
    const float* weights = params + unit_begin(j);
    const auto add_row = [&](std::size_t row, double x) {
      for (std::size_t i = 0; i < reached.width(); ++i) {
        out[static_cast<std::size_t>(reached.begin) + i] += x * weights[row * reached.width() + i];
      }
    };
    const std::vector<float>& shares = wire(j).shares;
    if (shares.empty()) {
      add_row(0, in[j]);
    } else if (const auto code = static_cast<std::size_t>(in[j]); code < shares.size()) {
      add_row(code, 1);
    } else {
      const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
      for (std::size_t c = 0; c < shares.size(); ++c) add_row(c, shares[c] / total);
    }
  }
}

// The weights of category input j for an unseen code: the mean over the codes.
void Linear::average_weights(const float* params, int j, float* mean) const {
  const std::size_t width = reach(j).width();
  const float* weights = params + unit_begin(j);
  const std::vector<float>& shares = wire(j).shares;
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::fill_n(mean, width, 0.0f);
  for (std::size_t c = 0; c < shares.size(); ++c)
    add_scaled(static_cast<float>(shares[c] / total), weights + c * width, mean, width);
}

// The weights that each row of a tile picks from category input j. The mean costs as much as there
// are words, so it is kept.
void Linear::pick_weights(const float* params, int j, const float* codes, const KeptMean& mean,
                          const float** picked, std::size_t stride) const {
  const std::size_t num_codes = wire(j).shares.size();
  for (int r = 0; r < kTile; ++r, picked += stride) {
    const auto code = static_cast<std::size_t>(codes[r]);
    if (code >= num_codes && std::exchange(*mean.is_made, 1.0f) == 0)
      average_weights(params, j, mean.weights);
    *picked = code < num_codes ? params + unit_begin(j) + code * reach(j).width() : mean.weights;
  }
}

// rows[kTile][padded(num_outputs)]: the biases and the weights that the codes pick. Categories are
// not monotone, so they all reach the same outputs.
void Linear::start_rows(const float* params, const float* in, float* rows) const {
  const auto stride = static_cast<std::size_t>(padded(num_outputs()));
  const Reach reached = reach(category_inputs_.front());
  const float* bias = params + bias_begin();
  float* const made = rows + kept_begin();
  float* const means = made + category_inputs_.size();
  for (std::size_t r = 0; r < kTile; ++r) std::copy_n(bias, reached.begin, rows + r * stride);
  for (std::size_t first = 0; first < category_inputs_.size(); first += kPicked) {
    const std::size_t count = std::min(kPicked, category_inputs_.size() - first);
    const float* picked[kTile][kPicked];
    for (std::size_t k = 0; k < count; ++k) {
      const int j = category_inputs_[first + k];
      const KeptMean mean = {made + first + k, means + (first + k) * reached.width()};
      pick_weights(params, j, in + j * kTile, mean, &picked[0][k], kPicked);
    }
    each_part(reached.width(), [&](std::size_t begin, std::size_t end) {
      float* row = rows + reached.begin;
      for (int r = 0; r < kTile; ++r, row += stride)
        sum_of_rows(first == 0 ? bias + reached.begin : row, picked[r], count, begin, end, row);
    });
  }
}

void Linear::forward(const float* params, const float* in, float* out, float* scratch) const {
  if (category_inputs_.empty()) {
    for (int i = 0; i < num_outputs(); ++i)
      std::fill_n(out + i * kTile, kTile, params[bias_begin() + static_cast<std::size_t>(i)]);
  } else {
    start_rows(params, in, scratch);
    rows_to_tile(scratch, num_outputs(), out);
  }
  add_terms(monotone_row_terms_.data(), monotone_row_terms_.size(), params, 0,
            shape_.monotone_outputs, in, out);
  add_terms(free_row_terms_.data(), free_row_terms_.size(), params, shape_.monotone_outputs,
            num_outputs(), in, out);
}

void Linear::backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                      float* grad_params, float* scratch) const {
  const auto stride = static_cast<std::size_t>(padded(num_outputs()));
  float* rows = scratch;  // grad_out as [kTile][stride]
  tile_to_rows(grad_out, num_outputs(), rows);
  add_row_sums(grad_out, static_cast<std::size_t>(num_outputs()), grad_params + bias_begin());
  add_category_gradients(in, rows, grad_params);
  for (int j = 0; j < num_inputs(); ++j) {
    if (wire(j).is_category()) continue;
    const Reach reached = reach(j);
    add_outer(in + j * kTile, rows + reached.begin, stride, reached.width(),
              grad_params + unit_begin(j));
    if (grad_in == nullptr) continue;
    weighted_sum(params + unit_begin(j), grad_out + reached.begin * kTile, reached.width(),
                 grad_in + j * kTile);
  }
}

// rows[kTile][padded(num_outputs)]: the gradients of the outputs.
void Linear::add_category_gradients(const float* in, const float* rows, float* grad_params) const {
  if (category_inputs_.empty()) return;
  const auto stride = static_cast<std::size_t>(padded(num_outputs()));
  const Reach reached = reach(category_inputs_.front());
  each_part(reached.width(), [&](std::size_t begin, std::size_t end) {
    for (const int j : category_inputs_) {
      add_by_code(in + j * kTile, wire(j).num_categories(), rows + reached.begin, stride, begin,
                  end, reached.width(), grad_params + unit_begin(j));
    }
  });
}

void Linear::initialize(float* params, const InitialState& state) {
  if (state.mode == Initialization::paper) {
    initialize_as_paper(params, state);
  } else {
    initialize_from_data(params, state);
  }
}

// Weights N(0, 1), positive where they must be; the biases centre each output on the sample. A
// layer with one output starts as the mean of its inputs, scaled.
void Linear::initialize_from_data(float* params, const InitialState& state) const {
  std::vector<double> mean(static_cast<std::size_t>(num_outputs()), 0.0);
  double spread = 0;
  for (const WireStats& stats : state.inputs) spread += stats.deviation;
  const double output_weight = kOutputSwing / std::max(spread, 1e-3);
  for (int j = 0; j < num_inputs(); ++j) {
    const Reach reached = reach(j);
    float* weights = params + unit_begin(j);
    for (int c = 0; c < wire(j).num_columns(); ++c) {
      const double x = wire(j).is_category() ? wire(j).shares[static_cast<std::size_t>(c)]
                                             : state.inputs[static_cast<std::size_t>(j)].mean;
      for (int i = reached.begin; i < reached.end; ++i) {
        double w = state.random->normal();
        if (wire(j).monotone) w = std::abs(w);
        if (num_outputs() == 1) w = wire(j).is_category() ? 0 : output_weight;
        *weights++ = static_cast<float>(w);
        mean[static_cast<std::size_t>(i)] += w * x;
      }
    }
  }
  for (std::size_t i = 0; i < mean.size(); ++i)
    params[bias_begin() + i] = static_cast<float>(-mean[i]);
}

// No range is fitted to what a relu reads: each output gets the deviation 1, and where they bend is
// spread from below almost all rows to above most of them. If all bent at their mean, half of the
// rows would be lost in every layer, and twenty layers would give one value for nearly all of them.
bool Linear::adjust(float* params, std::span<const WireStats> outputs) const {
  if (!shape_.feeds_relu) return false;
  constexpr double kLowest = -4, kHighest = 1;  // bends, in deviations from the mean
  float* const bias = params + bias_begin();
  for (int i = 0; i < num_outputs(); ++i) {
    const WireStats& stats = outputs[static_cast<std::size_t>(i)];
    const float scale = 1 / std::max(stats.deviation, 1e-3f);
    const double bend = kHighest - (kHighest - kLowest) * (i + 0.5) / num_outputs();
    bias[i] = (bias[i] - stats.mean) * scale - static_cast<float>(bend);
    for (int j = 0; j < num_inputs(); ++j) {
      const Reach reached = reach(j);
      if (i < reached.begin || i >= reached.end) continue;
      float* weight = params + unit_begin(j) + (i - reached.begin);
      for (int c = 0; c < wire(j).num_columns(); ++c, weight += reached.width()) *weight *= scale;
    }
  }
  return true;
}

// Weights N(2, 1) and biases -(inputs that the output reads), for inputs of mean 1/2; of the
// columns of a category one is 1, so it counts twice.
void Linear::initialize_as_paper(float* params, const InitialState& state) const {
  for (std::size_t i = 0; i < bias_begin(); ++i)
    params[i] = static_cast<float>(2 + state.random->normal());
  float* bias = params + bias_begin();
  std::fill_n(bias, num_outputs(), 0.0f);
  for (int j = 0; j < num_inputs(); ++j) {
    const Reach reached = reach(j);
    for (int i = reached.begin; i < reached.end; ++i)
      bias[i] -= wire(j).is_category() ? 2.0f : 1.0f;
  }
}

// Categories decay: the rows of a rare one say little. A monotone number does not: the sign that
// its weights must have is enough. Other numbers decay the more, the more of them there are.
float Linear::decay_scale(int unit) const {
  constexpr float kManyNumbers = 100;
  if (num_outputs() == 1 || unit == num_inputs() || wire(unit).monotone) return 0;
  if (wire(unit).is_category()) return 1;
  const auto numbers = static_cast<float>(inputs().size() - category_inputs_.size());
  return numbers / (numbers + kManyNumbers);
}

void Linear::project(float* unit_params, int unit, Projection, const ChainWeights&) const {
  for (const Bounds& bounds : inequalities(unit).bounds)
    clip({unit_params, unit_size(unit)}, bounds);
}

double Linear::largest_output(const float* params, double largest_input) const {
  double sum = 0;
  for (int u = 0; u < num_units(); ++u) {
    const bool is_number = u < num_inputs() && !wire(u).is_category();  // else picked, or the bias
    sum += (is_number ? largest_input : 1) *
           largest_of({params + unit_begin(u), unit_begin(u + 1) - unit_begin(u)});
  }
  return sum;
}

}  // namespace espalier
