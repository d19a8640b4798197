// SPDX-License-Identifier: Apache-2.0
// What every layer of a network is: a shape, and a view of its share of the flat parameter buffer.
//
// Rows travel in tiles, wire-major: tile[wire][kTile]. A layer reads the tile of the layer before
// it and writes its own. `evaluate` is the reference, one row in double, written as the paper
// writes it; `forward` and `backward` are the fast twins that training and prediction use.
//
// The parameters of a layer fall into units (a calibrator, a lattice, the weights of an input) that
// no inequality connects, so that units are updated and projected independently and in parallel.
// When it is built a layer lists the inequalities of each unit, once: projection and check read
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/chain.h"
#include "constraints/check.h"
#include "constraints/inequalities.h"
#include "core/random.h"
#include "espalier/choices.h"
#include "layers/grid.h"
#include "layers/tile.h"

namespace espalier {

/// How often training saw each category of a column. Copies share the numbers: wires are copied
/// from layer to layer, a gather may repeat them, and a column may have many categories.
class CategoryWeights {
 public:
  CategoryWeights() = default;
  CategoryWeights(std::vector<float> values)
      : values_(std::make_shared<const std::vector<float>>(std::move(values))) {}
  CategoryWeights(std::initializer_list<float> values)
      : CategoryWeights(std::vector<float>(values)) {}

  operator const std::vector<float>&() const {
    static const std::vector<float> kNone;
    return values_ ? *values_ : kNone;
  }
  std::size_t size() const { return values_ ? values_->size() : 0; }
  bool empty() const { return size() == 0; }
  float operator[](std::size_t category) const { return (*values_)[category]; }

 private:
  std::shared_ptr<const std::vector<float>> values_;
};

/// One value per row between two layers.
struct Wire {
  bool monotone = false;        // rises with the inputs that must raise the prediction
  bool in_unit = false;         // always in [0, 1]
  int keypoints = 0;            // > 0: a raw number, as its position in [0, keypoints - 1]
  bool learns_missing = false;  // raw number: a negative position is a missing cell
  CategoryWeights shares =
      {};          // not empty: a raw category, as its code; the share of each code. The code
                   // shares.size() is an unseen category.
  Grid grid = {};  // not empty: the place of a row on the grid of two columns, as its code

  bool is_grid() const { return !grid.is_empty(); }
  int num_categories() const { return static_cast<int>(shares.size()); }
  bool is_category() const { return !shares.empty(); }
  /// How many inputs the paper would count: a column per category.
  int num_columns() const { return is_category() ? num_categories() : 1; }
};

/// Whether the outputs of a layer that is a table must lie in [0, 1].
enum class OutputBounds { unit_interval, none };

/// Strengths of the penalties on the shape of calibrators and lattices.
struct Penalties {
  float calibrator_laplacian = 0;
  float calibrator_hessian = 0;
  float lattice_laplacian = 0;
  float lattice_torsion = 0;

  bool any() const {
    return calibrator_laplacian > 0 || calibrator_hessian > 0 || lattice_laplacian > 0 ||
           lattice_torsion > 0;
  }
};

/// Mean and standard deviation of what arrives on a wire.
struct WireStats {
  float mean;
  float deviation;
};

/// What initialization knows.
struct InitialState {
  Initialization mode;
  float lattice_noise;
  std::span<const WireStats> inputs;  // of the layer's inputs, over a sample of the training rows
  Random* random;
};

/// Receives a sentence for each inequality that does not hold.
using CulpritSink = std::function<void(const std::string&)>;

/// "lattice 3: vertex 5 is 0.7, above vertex 7, 0.6"
std::string describe(std::string_view unit, int index, std::string_view part,
                     const Culprit& culprit);

/// The mean over the categories of values[0], values[stride], ..., weighted by their shares.
double mean_over(const std::vector<float>& shares, const float* values, std::size_t stride = 1);

/// The largest magnitude among some parameters, 0 for none.
double largest_of(std::span<const float> params);

/// Immutable once built, except for `constants`, which initialization fits to the data and then
/// leaves alone. Safe to use from any number of threads.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const std::vector<Wire>& inputs() const { return inputs_; }
  const std::vector<Wire>& outputs() const { return outputs_; }

  /// Units, and where their parameters begin: unit u has [unit_begin(u), unit_begin(u + 1)).
  int num_units() const { return static_cast<int>(begins_.size()) - 1; }
  std::size_t unit_begin(int unit) const { return begins_[static_cast<std::size_t>(unit)].params; }
  std::size_t unit_size(int unit) const { return unit_begin(unit + 1) - unit_begin(unit); }
  std::size_t num_params() const { return begins_.back().params; }

  /// What monotonicity and the bounds ask of the parameters of a unit, counted from its first.
  InequalityList inequalities(int unit) const;

  /// Numbers that are stored with the model but not trained: input ranges of calibrators.
  std::span<float> constants() { return constants_; }
  std::span<const float> constants() const { return constants_; }
  /// Why the constants cannot be used, or an empty string.
  virtual std::string constants_error() const { return {}; }

  /// Floats of scratch that forward and backward need, 0 at first.
  virtual std::size_t scratch_size() const { return 0; }

  /// Whether forward keeps in scratch what follows from the parameters alone, for its next call:
  /// then no other layer may use that scratch, and forget() must follow a change of the parameters.
  virtual bool keeps_scratch() const { return false; }
  virtual void forget(float* /*scratch*/) const {}

  /// The reference: one row. in: [num_inputs], out: [num_outputs].
  virtual void evaluate(const float* params, const double* in, double* out) const = 0;

  /// in: [num_inputs][kTile], out: [num_outputs][kTile].
  virtual void forward(const float* params, const float* in, float* out, float* scratch) const = 0;

  /// Overwrites grad_in (unless it is null: nobody asks for it), adds to grad_params.
  virtual void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                        float* grad_params, float* scratch) const = 0;

  /// Starting values; may set constants. The result is projected afterwards.
  virtual void initialize(float* params, const InitialState& state) = 0;

  /// Changes starting values once it is known what they give on the sample, where that matters to
  /// the layer behind. Returns whether it has.
  virtual bool adjust(float* params, std::span<const WireStats> outputs) const {
    (void)params, (void)outputs;
    return false;
  }

  /// Puts the parameters of a unit (pointing at its first) where its inequalities() hold exactly.
  /// `weights` are those of the unit's parameters; only chains heed them.
  virtual void project(float* unit_params, int unit, Projection how,
                       const ChainWeights& weights) const = 0;

  /// Adds the gradient of the penalties of a unit.
  virtual void penalize(const float* unit_params, float* unit_grad, int unit,
                        const Penalties& penalties) const {
    (void)unit_params, (void)unit_grad, (void)unit, (void)penalties;
  }

  /// What the learning rate of the layer is multiplied by. A table in [0, 1] inside a network sees
  /// every row and moves all that comes after it, so it takes smaller steps than weights; an input
  /// calibrator before an embedding sees few rows at each keypoint and takes larger ones.
  static constexpr float kInnerTableRate = 0.1f;
  static constexpr float kEmbeddedTableRate = 2;
  virtual float rate_scale() const { return 1; }

  /// What the weight decay of a unit is multiplied by.
  virtual float decay_scale(int unit) const {
    (void)unit;
    return 0;
  }

  /// No output, and nothing on the way to it, is larger than this in magnitude if no input is
  /// larger than largest_input. It need not be sharp.
  virtual double largest_output(const float* params, double largest_input) const = 0;

  /// Checks the inequalities() of all units, exactly.
  Check check(const float* params, const CulpritSink& sink) const;

 protected:
  explicit Layer(std::vector<Wire> inputs) : inputs_(std::move(inputs)) {}

  /// What a culprit is called: "lattice" 3, "vertex" 5.
  struct UnitNames {
    std::string_view unit;
    std::string_view part;
  };
  virtual UnitNames unit_names() const { return {"unit", "parameter"}; }

  void add_unit(std::size_t num_params);
  /// Of the unit that was added last.
  void require(const Bounds& bounds);
  void require(const Rise& rise);
  void require(const Order& order);

  std::vector<Wire> outputs_;
  std::vector<float> constants_;

 private:
  // Where the share of a unit begins in the parameters and in all lists.
  struct Begin {
    std::size_t params = 0;
    std::size_t bounds = 0;
    std::size_t rises = 0;
    std::size_t orders = 0;
  };

  std::vector<Wire> inputs_;
  std::vector<Begin> begins_ = {{}};  // of each unit, then where the last one ends
  std::vector<Bounds> bounds_;
  std::vector<Rise> rises_;
  std::vector<Order> orders_;
};

/// A layer without parameters.
class FixedLayer : public Layer {
 public:
  void initialize(float*, const InitialState&) final {}
  void project(float*, int, Projection, const ChainWeights&) const final {}

 protected:
  using Layer::Layer;
};

}  // namespace espalier
