// SPDX-License-Identifier: Apache-2.0
#include "train/fit_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/builder.h"
#include "train/state_bytes.h"

namespace espalier {

namespace {

constexpr const char* kThing = "checkpoint";

}  // namespace

template <Is<NetworkState> T, class Visitor>
void visit_fields(T& network, Visitor& visit) {
  visit(network.architecture, "architecture");
  visit(network.params, "parameters");
  visit(network.constants, "constants");
}

template <Is<TrainerState> T, class Visitor>
void visit_fields(T& trainer, Visitor& visit) {
  visit(trainer.adam.mean, "means");
  visit(trainer.adam.variance, "variances");
  visit(trainer.adam.beta1_power, "powers");
  visit(trainer.adam.beta2_power, "powers");
  visit(trainer.adam.steps_done, "steps");
  visit(trainer.epochs_done, "epochs");
  visit(trainer.epoch_loss.loss, "loss");
  visit(trainer.epoch_loss.weight, "loss");
  visit_fields(trainer.best, visit);
  visit(trainer.best_params, "best parameters");
  visit(trainer.averages, "averages");
  visit(trainer.improved, "epochs");
  visit(trainer.improved_metric, "epochs");
}

template <Is<FitState> T, class Visitor>
void visit_fields(T& state, Visitor& visit) {
  visit_fields(state.network, visit);
  visit_fields(state.trainer, visit);
  visit.list(state.history, "history");
}

NetworkState state_of(const Network& network) {
  return {to_string(network.architecture()),
          {network.params().begin(), network.params().end()},
          all_constants(network)};
}

std::string restore(const NetworkState& state, Network& network) {
  if (state.architecture != to_string(network.architecture())) return "the architecture differs";
  if (state.params.size() != network.params().size())
    return "its parameters do not match the architecture";
  std::copy(state.params.begin(), state.params.end(), network.params().begin());
  return set_constants(state.constants, network);
}

std::string format_fit_state(const FitState& state) {
  StateWriter writer;
  visit_fields(state, writer);
  return std::move(writer.out);
}

FitState parse_fit_state(std::string_view bytes, const std::string& place) {
  Reader reader(bytes, place, kThing);
  StateReader visitor(reader);
  FitState state;
  visit_fields(state, visitor);
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  return state;
}

}  // namespace espalier
