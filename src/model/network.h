// SPDX-License-Identifier: Apache-2.0
// Layers over one flat buffer of parameters.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/aligned.h"
#include "model/builder.h"

namespace espalier {

/// A network is its layers and one flat buffer. Training writes `params`; otherwise it is const,
/// and any number of threads may share it, each with a Scratch of its own.
class Network {
 public:
  /// As build_layers.
  Network(const Architecture& architecture, std::vector<Wire> inputs,
          MonotoneCalibrators calibrators, Random random, const BuildLimits& limits = {},
          const ScoreWires& scores = {});

  /// Every size written out, every wire of a gather listed: enough to build the same network again.
  const Architecture& architecture() const { return architecture_; }
  int num_layers() const { return static_cast<int>(layers_.size()); }
  const Layer& layer(int index) const { return *layers_[static_cast<std::size_t>(index)]; }
  Layer& layer(int index) { return *layers_[static_cast<std::size_t>(index)]; }
  std::size_t offset(int index) const { return offsets_[static_cast<std::size_t>(index)]; }
  /// As BuildLimits counts it.
  std::uint64_t build_memory() const { return build_memory_; }
  int num_inputs() const { return layer(0).num_inputs(); }
  int num_scores() const { return layer(num_layers() - 1).num_outputs(); }
  /// No position or code of a feature is larger than this.
  double largest_input() const;

  std::span<float> params() { return params_; }
  std::span<const float> params() const { return params_; }
  const float* layer_params(int index) const { return params_.data() + offset(index); }

  /// Working memory for one thread.
  struct Scratch {
    explicit Scratch(const Network& network);
    float* input() { return tiles.data(); }  ///< [num_inputs][kTile], to be filled by the caller
    float* tile(int index) { return tiles.data() + tile_begin[static_cast<std::size_t>(index)]; }

    std::vector<std::size_t> tile_begin;  // of the input of each layer, then of the output
    AlignedFloats tiles;
    AlignedFloats grads;  // two tiles as wide as the widest layer
    std::size_t grad_width;
    float* layer(int index) { return layers.data() + layer_begin[static_cast<std::size_t>(index)]; }
    std::vector<std::size_t> layer_begin;  // of the scratch of each layer; most share theirs
    AlignedFloats layers;
  };

  /// To be called when the parameters have changed since the last forward with this scratch.
  void forget(Scratch& scratch) const;

  /// Carries the input tile through all layers; returns the scores,
  /// [num_scores][kTile].
  const float* forward(Scratch& scratch) const;

  /// After forward: adds the gradient of the parameters, given that of the scores,
  /// [num_scores][kTile].
  void backward(Scratch& scratch, const float* grad_out, float* grad_params) const;

  /// Moves the parameters to the nearest ones that meet every inequality.
  void project();

  /// The reference: the scores of one row, in double.
  std::vector<double> evaluate(std::span<const double> row) const;

 private:
  Architecture architecture_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::size_t> offsets_;
  AlignedFloats params_;
  std::uint64_t build_memory_ = 0;
};

/// The constants of all layers, one after another.
std::vector<float> all_constants(const Network& network);

/// Sets them; returns why they cannot be used, or an empty string.
std::string set_constants(std::span<const float> constants, Network& network);

}  // namespace espalier
