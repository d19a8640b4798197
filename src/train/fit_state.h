// SPDX-License-Identifier: Apache-2.0
// The state of a fit between two steps, and its bytes. The wiring of a network and the order of the
// rows are not in it: they follow from the seed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/train.h"
#include "model/network.h"
#include "train/trainer.h"

namespace espalier {

struct NetworkState {
  std::string architecture;  // as built
  std::vector<float> params;
  std::vector<float> constants;
};

NetworkState state_of(const Network& network);

/// Puts a state into a network that was built from the same seed. Returns why it does not fit, or
/// an empty string.
std::string restore(const NetworkState& state, Network& network);

/// A network that is being trained.
struct FitState {
  NetworkState network;
  TrainerState trainer;
  std::vector<Epoch> history;
};

std::string format_fit_state(const FitState& state);

/// Throws Error (format) for bytes that format_fit_state has not written; `place` stands for the
/// file in messages.
FitState parse_fit_state(std::string_view bytes, const std::string& place);

}  // namespace espalier
