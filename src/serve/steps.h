// SPDX-License-Identifier: Apache-2.0
// The layers of a network as a predictor runs them: tables moved into [1, 2], where interpolation
// is monotone bit for bit, and each layer twice, over a tile of rows and over one row, with the
// same bits. docs/monotonicity.md has the proof.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/network.h"

namespace espalier {

/// A compiled layer. Immutable.
class Step {
 public:
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// in: [num_inputs][kTile], out: [num_outputs][kTile].
  virtual void tile(const float* in, float* out, float* scratch) const noexcept = 0;
  /// in: [num_inputs], out: [num_outputs], both padded: what lies behind the last wire may be
  /// overwritten.
  virtual void row(const float* in, float* out, float* scratch) const noexcept = 0;

  std::size_t scratch_size() const { return scratch_size_; }

 protected:
  Step() = default;
  std::size_t scratch_size_ = 0;
};

/// A network as steps. Its parameters must pass check_network: then no value on a wire overflows,
/// and no infinity meets another.
class CompiledNetwork {
 public:
  explicit CompiledNetwork(const Network& network);

  /// Both read the encoded inputs at the beginning of scratch, which they overwrite.
  const float* tile(float* scratch) const noexcept;  // [kTile] outputs
  float row(float* scratch) const noexcept;

  std::size_t scratch_size() const { return 2 * wires_size_ + step_scratch_size_; }

 private:
  std::vector<std::unique_ptr<const Step>> steps_;
  std::size_t wires_size_ = 0;  // floats of the widest tile of wires
  std::size_t step_scratch_size_ = 0;
};

}  // namespace espalier
