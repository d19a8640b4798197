// SPDX-License-Identifier: Apache-2.0
#include "model/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/float_rank.h"
#include "layers/cell_table.h"
#include "model/visit_layer.h"
#include "support/effort.h"
#include "support/random_model.h"

namespace espalier {
namespace {

// `gather cal tree sum` of one row as the predictor has always computed it.
class OldTrees {
 public:
  explicit OldTrees(const Network& network, const Schema& schema)
      : schema_(schema),
        wires_(network.architecture().layers[0].wires),
        plan_(network.architecture().layers[2].nodes),
        leaves_(network.layer_params(2)) {
    visit_layer(network, 1,
                Overloaded{[&](const Calibrators& own) {
                             cells_ = cell_tables(own, network.layer_params(1));
                           },
                           [](const auto&) {}});
  }

  float at(std::span<const float> row, std::size_t level) const {
    const std::vector<double> encoded = encoded_row(schema_, row, level);
    std::vector<float> read;
    for (std::size_t i = 0; i < wires_.size(); ++i)
      read.push_back(
          through(cells_[i], static_cast<float>(encoded[static_cast<std::size_t>(wires_[i])])));
    float sum = 0;
    for (std::size_t g = 0; g < plan_.roots.size(); ++g)
      sum += leaves_[plan_.leaf(g, read.data(), 1)];
    return sum;
  }

 private:
  const Schema& schema_;
  std::vector<int> wires_;
  std::vector<CellTable> cells_;
  TreePlan plan_;
  const float* leaves_;
};

// Tables as forests are grown with, but now and then one that rises by steps, falls or is constant.
void make_tables(Network& network, Random& random) {
  const Layer& layer = network.layer(1);
  float* params = network.params().data() + network.offset(1);
  set_forest_tables(layer, random, params);
  for (int u = 0; u < layer.num_units(); ++u) {
    const Wire& wire = layer.inputs()[static_cast<std::size_t>(u)];
    if (wire.is_category()) continue;
    const std::span<float> values(params + layer.unit_begin(u),
                                  static_cast<std::size_t>(wire.keypoints));
    const double odd = random.uniform();
    if (odd < 0.1) {
      std::ranges::fill(values, 1.0f);
    } else if (odd < 0.2) {
      std::ranges::reverse(values);
    } else if (odd < 0.3) {
      for (float& value : values) value = static_cast<float>(random.uniform());
      std::ranges::sort(values);
    }
  }
}

// Values where an answer may change, those beside them, and odd ones.
std::vector<float> values_of(const DecisionForest& forest, std::size_t index,
                             const Feature& feature) {
  std::vector<float> values = {std::numeric_limits<float>::quiet_NaN(),
                               INFINITY,
                               -INFINITY,
                               0,
                               -0.0f,
                               1e-45f,
                               -1e-45f,
                               1e-39f,
                               3e38f,
                               -3e38f,
                               0.5f,
                               -7};
  if (feature.kind == FeatureKind::category) {
    for (std::size_t code = 0; code <= feature.categories.size() + 1; ++code)
      values.push_back(static_cast<float>(code));
    return values;
  }
  std::vector<float> centers = feature.keypoints;
  for (const DecisionTree& tree : forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      if (split.feature == index) centers.push_back(split.threshold);
    }
  }
  for (const float center : centers) {
    for (const std::int64_t step : {-1, 0, 1}) values.push_back(of_rank(rank_of(center) + step));
  }
  return values;
}

TEST(DecisionForest, GivesTheOutputOfTheOldNetworkForEveryRowOfFloats) {
  Random random(11);
  int converted = 0, levels = 0;
  for (int i = 0; i < effort(1000, 60); ++i) {
    Random own = random.split(static_cast<std::uint64_t>(i));
    Schema schema = random_schema(own);
    Network network = random_trees(schema, MonotoneCalibrators::required, own.split(1));
    make_tables(network, own);
    const std::optional<DecisionForest> forest = forest_of(network, schema);
    if (!forest) continue;
    ++converted;
    levels += schema.label.num_levels() > 1 ? 1 : 0;
    const OldTrees old(network, schema);
    std::vector<std::vector<float>> values;
    for (std::size_t f = 0; f < schema.features.size(); ++f)
      values.push_back(values_of(*forest, f, schema.features[f]));
    for (int r = 0; r < 200; ++r) {
      std::vector<float> row = random_cells(schema, own);
      for (std::size_t f = 0; f < values.size(); ++f) {
        if (own.uniform() < 0.7) row[f] = values[f][own.below(values[f].size())];
      }
      const std::size_t level = own.below(schema.label.num_levels());
      ASSERT_EQ(std::bit_cast<std::uint32_t>(evaluate(*forest, schema, row, level)),
                std::bit_cast<std::uint32_t>(old.at(row, level)))
          << "model " << i << ", row " << r;
    }
  }
  EXPECT_GE(converted, effort(500, 25));
  EXPECT_GE(levels, effort(100, 3));
}

TEST(DecisionForest, LeavesOutSplitsThatSendEveryRowTheSameWay) {
  const Schema schema = {.features = {{.name = "x", .keypoints = {0, 1, 2}}}, .label = {}};
  Network network(parse_architecture("gather(0) cal(2) tree(0>0.5,_,0>2,_,_) sum"),
                  input_wires(schema), MonotoneCalibrators::required, Random(1));
  const std::vector<float> params = {0, 0.5f, 1, 10, 20, 30};
  std::ranges::copy(params, network.params().begin());
  const std::optional<DecisionForest> forest = forest_of(network, schema);
  ASSERT_TRUE(forest);
  ASSERT_EQ(forest->trees.size(), 1u);
  EXPECT_EQ(forest->trees[0].leaves, (std::vector<float>{10, 20}));
  ASSERT_EQ(forest->trees[0].splits.size(), 1u);
  const float threshold = forest->trees[0].splits[0].threshold;
  EXPECT_GT(threshold, 1);
  EXPECT_LT(threshold, 1.000001f);
  EXPECT_EQ(evaluate(*forest, schema, std::vector<float>{1}), 10);
}

TEST(DecisionForest, IsNothingWhereTheAnswerChangesMoreThanOnce) {
  const Schema schema = {.features = {{.name = "x", .keypoints = {0, 1, 2}}}, .label = {}};
  Network network(parse_architecture("gather(0) cal(2) tree(0>0.5,_,_) sum"), input_wires(schema),
                  MonotoneCalibrators::required, Random(1));
  const std::vector<float> params = {0, 1, 0, 10, 20};
  std::ranges::copy(params, network.params().begin());
  EXPECT_FALSE(forest_of(network, schema));
  EXPECT_FALSE(forest_of(Network(parse_architecture("cal(2) sum"), input_wires(schema),
                                 MonotoneCalibrators::required, Random(1)),
                         schema));
}

}  // namespace
}  // namespace espalier
