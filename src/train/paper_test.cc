// SPDX-License-Identifier: Apache-2.0
// dln-paper starts and steps as the paper says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/simulate.h"
#include "model/model_data.h"
#include "train/engine.h"
#include "train/initialize.h"
#include "train/problem.h"

namespace espalier {
namespace {

class ThePaper : public testing::Test {
 protected:
  // The labels contradict the directions, so that steps leave the cone.
  static Problem prepared_for(Projection projection) {
    return pose({.table = simulate({.rows = 900})},
                {.label = "default",
                 .increasing = {"income", "years_employed"},
                 .decreasing = {"debt_ratio", "late_payments"},
                 .architecture = "dln-paper(30x4)",
                 .projection = projection},
                {});
  }

  Network started() const {
    Network network(problem.architecture, input_wires(problem.schema),
                    problem.options->monotone_calibrators, Random(1));
    initialize(problem.train, problem.schema.label, problem.options, Random(2), network);
    return network;
  }

  // Steps of all layers, the last of which projects so.
  void step(int count, Projection last, Network& network) const {
    const Problem other = prepared_for(last);
    const int batch_size = problem.options->batch_size;
    Batches batches(problem.train, batch_size, {0, num_shards_of(batch_size)}, Random(3));
    batches.next_epoch();
    const Objective objective(problem.schema.label, problem.train);
    Team team(1);
    AdamState adam;
    for (int i = 1; i <= count; ++i) {
      const EngineInput input = {i < count ? &problem.options : &other.options, &objective, 20,
                                 &team};
      Engine engine(input, {{&network, &adam}});
      const std::vector<Batch> steps = {batches.batch(i - 1)};
      LossSum sum;
      engine.run({&steps, 1}, {&sum, 1});
    }
  }

  // The lattices after steps from flat ones, which are soon at an edge of the cone.
  std::vector<float> stepped_lattices(Projection last) const {
    Network network = started();
    const int l = layers_of(LayerKind::lat, network).front();
    const std::span<float> lattices =
        network.params().subspan(network.offset(l), network.layer(l).num_params());
    std::ranges::fill(lattices, 0.5f);
    step(10, last, network);
    return {lattices.begin(), lattices.end()};
  }

  static std::vector<int> layers_of(LayerKind kind, const Network& network) {
    std::vector<int> found;
    for (int l = 0; l < network.num_layers(); ++l) {
      if (network.architecture().layers[static_cast<std::size_t>(l)].kind == kind)
        found.push_back(l);
    }
    return found;
  }

  Problem problem = prepared_for(Projection::admm);
};

// Of an embedding a monotone output reads the monotone inputs, another one the others. A category
// is one column that is 1, where a number is 1/2 in the mean.
double inputs_read(const Layer& layer, const Wire& output) {
  double read = 0;
  for (const Wire& wire : layer.inputs()) {
    if (layer.num_outputs() == 1 || wire.monotone == output.monotone)
      read += wire.is_category() ? 2 : 1;
  }
  return read;
}

TEST_F(ThePaper, WeightsStartAsN21AndBiasesAsMinusTheInputsRead) {
  const Network network = started();
  const std::vector<int> embeddings = layers_of(LayerKind::lin, network);
  EXPECT_EQ(embeddings.size(), 2u);
  for (const int l : embeddings) {
    const Layer& layer = network.layer(l);
    const std::size_t weights = layer.unit_begin(layer.num_units() - 1);
    const float* params = network.layer_params(l);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < weights; ++i) {
      sum += params[i];
      squares += params[i] * params[i];
    }
    const double n = static_cast<double>(weights), mean = sum / n;
    EXPECT_NEAR(mean, 2, 4 / std::sqrt(n));
    EXPECT_NEAR(squares / n - mean * mean, 1, 6 / std::sqrt(n));
    const float* bias = params + weights;
    for (const Wire& output : layer.outputs()) EXPECT_EQ(*bias++, -inputs_read(layer, output));
  }
}

TEST_F(ThePaper, EveryOutputOfTheEmbeddingGoesToOnePlaceOfTheLattices) {
  const Network network = started();
  const auto& layers = network.architecture().layers;
  const auto gather = std::ranges::find(layers, LayerKind::gather, &LayerSpec::kind);
  ASSERT_NE(gather, layers.end());
  std::vector<int> wires = gather->wires, all(120);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NE(wires, all);  // shuffled
  std::ranges::sort(wires);
  EXPECT_EQ(wires, all);
}

// Another way back into the cone leads elsewhere: so the step had left it.
TEST_F(ThePaper, AdmmChangesTheLattices) {
  const std::vector<float> admm = stepped_lattices(Projection::admm);
  EXPECT_NE(admm, stepped_lattices(Projection::sweep));
  const std::vector<float> exact = stepped_lattices(Projection::exact);
  for (std::size_t i = 0; i < admm.size(); ++i) ASSERT_NEAR(admm[i], exact[i], 1e-5);
}

// Adam's first step is the rate for every parameter that matters; a projection shortens it at most.
TEST_F(ThePaper, AllLayersHaveOneRate) {
  Network network = started();
  const std::vector<float> before(network.params().begin(), network.params().end());
  step(1, Projection::admm, network);
  for (int l = 0; l < network.num_layers(); ++l) {
    if (network.layer(l).num_params() == 0) continue;
    double largest = 0;
    for (std::size_t i = 0; i < network.layer(l).num_params(); ++i) {
      const double moved = network.layer_params(l)[i] - before[network.offset(l) + i];
      largest = std::max(largest, std::abs(moved));
    }
    EXPECT_NEAR(largest, problem.options->learning_rate, 1e-5) << l;
  }
}

}  // namespace
}  // namespace espalier
