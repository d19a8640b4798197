// SPDX-License-Identifier: Apache-2.0
#include "serve/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/error.h"
#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "layers/linear.h"
#include "layers/wiring.h"
#include "serve/kernels.h"

namespace espalier {

namespace {

// How a table in [1, 2] leads back to its values: fma(range, y - 1, low).
struct WayBack {
  float low;
  float range;
};

// Moves values into [1, 2]; each operation rounds monotonically, so their order stays.
WayBack enter_binade(std::span<const float> values, float* moved) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, range = *most - low;
  for (const float value : values) {
    *moved++ = range > 0 ? static_cast<float>(1 + (value - low) / range) : 1.0f;
  }
  return {*least, static_cast<float>(range)};
}

float mean_of(const float* values, std::size_t stride, const std::vector<float>& shares) {
  double sum = 0, total = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    sum += static_cast<double>(shares[c]) * values[c * stride];
    total += shares[c];
  }
  return static_cast<float>(sum / total);
}

std::size_t padded(std::size_t n) { return (n + kRowPadding - 1) / kRowPadding * kRowPadding; }

// Calibrators that read the table: positions among keypoints, and categories.
class RawCalibrators final : public Step {
 public:
  RawCalibrators(const Calibrators& layer, const float* params) {
    for (int u = 0; u < layer.num_units(); ++u) {
      const Wire& wire = layer.inputs()[static_cast<std::size_t>(u)];
      const float* begin = params + layer.unit_begin(u);
      std::vector<float> values(begin, params + layer.unit_begin(u + 1));
      Unit unit = {.last = layer.keypoints(u) - 1, .num_values = static_cast<int>(values.size())};
      if (wire.is_category() && !values.empty()) {
        values.push_back(mean_of(begin, 1, wire.shares));  // unseen
      }
      unit.table.resize(values.size());
      if (!values.empty()) unit.back = enter_binade(values, unit.table.data());
      units_.push_back(std::move(unit));
    }
    scratch_size_ = kTile;
  }

  void tile(const float* in, float* out, float* scratch) const noexcept override {
    for (const Unit& unit : units_) {
      if (unit.last > 0) {
        for (int r = 0; r < kTile; ++r) scratch[r] = std::max(in[r], 0.0f);
        interpolate(unit.table.data(), unit.last, scratch, out);
        leave_binade(unit.back.range, unit.back.low, out, kTile);
      }
      for (int r = 0; r < kTile; ++r) {
        if (unit.last < 0 || in[r] < 0) out[r] = unit(in[r]);  // a category, or missing
      }
      in += kTile;
      out += kTile;
    }
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (const Unit& unit : units_) *out++ = unit(*in++);
  }

 private:
  struct Unit {
    int last;                  // keypoint; -1: a category
    int num_values;            // learned; 0: a category that passes
    std::vector<float> table;  // keypoints, then missing; or categories, then unseen
    WayBack back = {};

    float operator()(float x) const noexcept {
      if (num_values == 0) return x;
      return std::fma(back.range, moved(x) - 1, back.low);
    }
    float moved(float x) const noexcept {
      if (last < 0) return table[static_cast<std::size_t>(x)];
      if (x < 0) return table[static_cast<std::size_t>(last) + 1];
      const int k = std::min(static_cast<int>(x), last - 1);
      const float* segment = table.data() + k;
      return std::fma(x - static_cast<float>(k), segment[1] - segment[0], segment[0]);
    }
  };
  std::vector<Unit> units_;
};

// Calibrators between two layers: uniform keypoints over a range.
class UniformCalibrators final : public Step {
 public:
  UniformCalibrators(const Calibrators& layer, const float* params)
      : last_(layer.keypoints(0) - 1), num_units_(static_cast<std::size_t>(layer.num_units())) {
    const auto keypoints = static_cast<std::size_t>(last_ + 1);
    for (auto* array : {&lo_, &inverse_step_, &range_, &low_}) array->resize(padded(num_units_));
    tables_.resize(padded(num_units_) * keypoints);
    for (std::size_t u = 0; u < num_units_; ++u) {
      const UniformKeypoints own = layer.uniform_keypoints(static_cast<int>(u));
      keypoints_.push_back(own);
      lo_[u] = own.lo;
      inverse_step_[u] = own.inverse_step;
      const WayBack back = enter_binade({params + layer.unit_begin(static_cast<int>(u)), keypoints},
                                        tables_.data() + u * keypoints);
      range_[u] = back.range;
      low_[u] = back.low;
    }
  }

  void tile(const float* in, float* out, float*) const noexcept override {
    const float* table = tables_.data();
    for (std::size_t u = 0; u < num_units_; ++u, in += kTile, out += kTile, table += last_ + 1) {
      calibrate(table, keypoints_[u], in, out);
      leave_binade(range_[u], low_[u], out, kTile);
    }
  }

  void row(const float* in, float* out, float*) const noexcept override {
    const UniformTables units = {lo_.data(),    inverse_step_.data(), tables_.data(),
                                 range_.data(), low_.data(),          last_};
    for (std::size_t u = 0; u < num_units_; u += 16) calibrate_row(units, u, in + u, out + u);
  }

 private:
  int last_;
  std::size_t num_units_;
  std::vector<UniformKeypoints> keypoints_;
  AlignedFloats lo_, inverse_step_, tables_, range_, low_;
};

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
    if (!categories_.empty()) scratch_size_ = kTile * num_outputs_;
  }

  void tile(const float* in, float* out, float* scratch) const noexcept override {
    if (categories_.empty()) {
      for (std::size_t i = 0; i < num_outputs_; ++i) std::fill_n(out + i * kTile, kTile, bias_[i]);
    } else {
      for (std::size_t r = 0; r < kTile; ++r) start_row(in + r, kTile, scratch + r * num_outputs_);
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
    std::vector<float> rows;  // [categories, then unseen][category_width_]
  };

  void add_category(int wire, const float* weights, const std::vector<float>& shares) {
    Category category = {wire, {weights, weights + shares.size() * category_width_}};
    for (std::size_t i = 0; i < category_width_; ++i)
      category.rows.push_back(mean_of(weights + i, category_width_, shares));
    categories_.push_back(std::move(category));
  }

  void start_row(const float* in, std::ptrdiff_t stride, float* out) const noexcept {
    const auto pick = [&](std::size_t k) {
      const Category& category = categories_[k];
      const auto code = static_cast<std::size_t>(in[category.wire * stride]);
      return category.rows.data() + code * category_width_;
    };
    std::copy_n(bias_, category_begin_, out);
    sum_of_picked(bias_ + category_begin_, categories_.size(), pick, category_width_,
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

// Lattices whose table is folded input by input. For one row the lanes are lattices; where there
// are fewer than 16, each is cut along its last dimensions into smaller ones that are folded
// afterwards.
class MultilinearLattices final : public Step {
 public:
  MultilinearLattices(const Lattices& layer, const float* params)
      : size_(layer.size()), num_lattices_(static_cast<std::size_t>(layer.num_units())) {
    const std::size_t vertices = layer.num_vertices();
    slopes_.resize(num_lattices_ * vertices);
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      back_.push_back(
          enter_binade({params + g * vertices, vertices}, slopes_.data() + g * vertices));
    }
    while (cut_ + 1 < size_ && num_lattices_ << cut_ < 16) ++cut_;
    const std::size_t parts = num_lattices_ << cut_, part_vertices = vertices >> cut_;
    by_lane_.resize(padded(parts) * part_vertices, 1.0f);
    for (std::size_t p = 0; p < parts; ++p) {
      float* lane = by_lane_.data() + p / 16 * 16 * part_vertices + p % 16;
      for (std::size_t v = 0; v < part_vertices; ++v) lane[16 * v] = slopes_[p * part_vertices + v];
    }
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      float* theta = slopes_.data() + g * vertices;
      lattice_slopes(theta, size_, theta);
    }
    const std::size_t row_size = padded(num_inputs()) + padded(parts) +
                                 16 * static_cast<std::size_t>(size_) + 16 * part_vertices;
    scratch_size_ = std::max(static_cast<std::size_t>(kTile * size_), row_size);
  }

  void tile(const float* in, float* out, float* scratch) const noexcept override {
    const auto inputs = static_cast<std::size_t>(kTile * size_);
    for (std::size_t g = 0; g < num_lattices_; ++g, in += inputs, out += kTile) {
      clip_to_unit(in, inputs, scratch);
      lattice_forward(slopes_.data() + (g << size_), size_, scratch, out);
      leave_binade(back_[g].range, back_[g].low, out, kTile);
    }
  }

  void row(const float* in, float* out, float* scratch) const noexcept override {
    const int part_size = size_ - cut_;
    const std::size_t parts = num_lattices_ << cut_;
    float* clipped = scratch;
    float* values = clipped + padded(num_inputs());
    float* x = values + padded(parts);
    float* tree = x + 16 * part_size;
    const float* theta = by_lane_.data();
    clip_to_unit(in, padded(num_inputs()), clipped);
    for (std::size_t first = 0; first < parts; first += 16) {
      for (std::size_t lane = 0; lane < 16; ++lane) {
        const std::size_t lattice = std::min(first + lane, parts - 1) >> cut_;
        const float* own = clipped + lattice * static_cast<std::size_t>(size_);
        for (int d = 0; d < part_size; ++d) x[16 * static_cast<std::size_t>(d) + lane] = own[d];
      }
      lattice_row(theta, part_size, x, tree, values + first);
      theta += std::size_t{16} << part_size;
    }
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      const float* last_inputs = clipped + g * static_cast<std::size_t>(size_) + part_size;
      const float y = fold_in_place(values + (g << cut_), cut_, last_inputs);
      out[g] = std::fma(back_[g].range, y - 1, back_[g].low);
    }
  }

 private:
  std::size_t num_inputs() const { return num_lattices_ * static_cast<std::size_t>(size_); }

  int size_;
  int cut_ = 0;  // a lattice is 2^cut_ lanes
  std::size_t num_lattices_;
  AlignedFloats slopes_;   // [lattice][2^size], see lattice_kernels.h
  AlignedFloats by_lane_;  // [block][2^(size - cut)][16]
  std::vector<WayBack> back_;
};

// Lattices by simplex. Inputs and table lie on a grid of 2^-23, so each product and each sum is
// exact in double, and the one rounding at the end keeps the order, whichever simplex a row is in.
class SimplexLattices final : public Step {
 public:
  SimplexLattices(const Lattices& layer, const float* params)
      : size_(layer.size()), num_lattices_(static_cast<std::size_t>(layer.num_units())) {
    const std::size_t vertices = layer.num_vertices();
    theta_.resize(num_lattices_ * vertices);
    for (std::size_t g = 0; g < num_lattices_; ++g) {
      back_.push_back(
          enter_binade({params + g * vertices, vertices}, theta_.data() + g * vertices));
    }
  }

  void tile(const float* in, float* out, float*) const noexcept override {
    for (std::size_t g = 0; g < num_lattices_; ++g, in += kTile * size_, out += kTile) {
      for (int r = 0; r < kTile; ++r) out[r] = lattice(g, in + r, kTile);
    }
  }

  void row(const float* in, float* out, float*) const noexcept override {
    for (std::size_t g = 0; g < num_lattices_; ++g, in += size_) out[g] = lattice(g, in, 1);
  }

 private:
  struct Input {
    float x;
    std::uint32_t bit;
  };

  float lattice(std::size_t g, const float* in, std::ptrdiff_t stride) const noexcept {
    Input inputs[kMaxLatticeSize];
    for (int d = 0; d < size_; ++d) {  // into a list that falls
      const float on_grid = (1 + std::min(std::max(in[d * stride], 0.0f), 1.0f)) - 1;
      int at = d;
      for (; at > 0 && inputs[at - 1].x < on_grid; --at) inputs[at] = inputs[at - 1];
      inputs[at] = {on_grid, 1u << d};
    }
    const float* theta = theta_.data() + (g << size_);
    double sum = theta[0];
    std::uint32_t vertex = 0;
    for (int i = 0; i < size_; ++i) {
      const std::uint32_t next = vertex | inputs[i].bit;
      sum += static_cast<double>(inputs[i].x) * (theta[next] - theta[vertex]);
      vertex = next;
    }
    return std::fma(back_[g].range, static_cast<float>(sum) - 1, back_[g].low);
  }

  int size_;
  std::size_t num_lattices_;
  std::vector<float> theta_;
  std::vector<WayBack> back_;
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

std::unique_ptr<const Step> compile(LayerKind kind, const Layer& layer, const float* params) {
  switch (kind) {
    case LayerKind::cal: {
      const auto& calibrators = static_cast<const Calibrators&>(layer);
      if (calibrators.reads_table()) return std::make_unique<RawCalibrators>(calibrators, params);
      return std::make_unique<UniformCalibrators>(calibrators, params);
    }
    case LayerKind::lin:
      return std::make_unique<LinearStep>(static_cast<const Linear&>(layer), params);
    case LayerKind::lat: {
      const auto& lattices = static_cast<const Lattices&>(layer);
      if (lattices.interpolation() == Interpolation::simplex)
        return std::make_unique<SimplexLattices>(lattices, params);
      return std::make_unique<MultilinearLattices>(lattices, params);
    }
    case LayerKind::gather:
      return std::make_unique<GatherStep>(static_cast<const Gather&>(layer));
    case LayerKind::sum:
      return std::make_unique<SumStep>(static_cast<const Sum&>(layer));
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
