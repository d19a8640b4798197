// SPDX-License-Identifier: Apache-2.0
#include "espalier/anatomy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "encode/encode.h"
#include "layers/lattices.h"
#include "model/visit_layer.h"
#include "support/random_model.h"

namespace espalier {
namespace {

// A network computed from nothing but its anatomy, in units of the table: what stands there is all
// that there is.
struct ByHand {
  const LayerAnatomy& layer;
  const std::vector<double>& in;

  double at(const Curve& curve, double x) const {
    if (curve.inputs.empty()) return curve.outputs[static_cast<std::size_t>(x)];
    if (std::isnan(x)) {
      if (curve.missing) return *curve.missing;
      x = layer.inputs[curve.wire].feature->typical;
    }
    const std::vector<float>& a = curve.inputs;
    x = std::clamp(x, static_cast<double>(a.front()), static_cast<double>(a.back()));
    std::size_t k = 0;
    while (k + 2 < a.size() && x >= a[k + 1]) ++k;
    const double t = (x - a[k]) / (static_cast<double>(a[k + 1]) - a[k]);
    return curve.outputs[k] + t * (static_cast<double>(curve.outputs[k + 1]) - curve.outputs[k]);
  }

  double at(const PairTable& table, double cell) const {
    const Pair& pair = *layer.inputs[table.wire].pair;
    const std::size_t width = pair.second.num_bins(), columns = pair.second.vertices.size();
    const double x = static_cast<double>(static_cast<std::size_t>(cell) / width) / kGridSteps;
    const double y = static_cast<double>(static_cast<std::size_t>(cell) % width) / kGridSteps;
    double sum = 0;
    for (std::size_t v = 0; v < table.values.size(); ++v) {
      const double dx = std::abs(x - static_cast<double>(v / columns));
      const double dy = std::abs(y - static_cast<double>(v % columns));
      sum += std::max(0.0, 1 - dx) * std::max(0.0, 1 - dy) * table.values[v];
    }
    return sum;
  }

  std::vector<double> operator()(const CalibratorParts& parts) const {
    std::vector<double> out = in;
    for (const Curve& curve : parts.curves) out[curve.wire] = at(curve, in[curve.wire]);
    for (const PairTable& table : parts.tables) out[table.wire] = at(table, in[table.wire]);
    return out;
  }
  std::vector<double> operator()(const EmbeddingParts& parts) const {
    std::vector<double> out(parts.bias.begin(), parts.bias.end());
    for (std::size_t j = 0; j < in.size(); ++j) {
      const auto& [first, count, weights] = parts.inputs[j];
      const bool picks = layer.inputs[j].feature != nullptr || layer.inputs[j].pair != nullptr;
      const std::size_t row = picks ? static_cast<std::size_t>(in[j]) : 0;
      for (std::size_t i = 0; i < count; ++i)
        out[first + i] += (picks ? 1 : in[j]) * weights[row * count + i];
    }
    return out;
  }
  std::vector<double> operator()(const LatticeParts& parts) const {
    std::vector<double> out;
    for (const LatticeTable& lattice : parts.lattices) {
      std::vector<double> x;
      for (std::size_t d = 0; d < lattice.sizes.size(); ++d)
        x.push_back(std::clamp(in[lattice.first_wire + d], 0.0, 1.0));
      if (parts.interpolation == Interpolation::simplex) {
        out.push_back(simplex_at(lattice.vertices.data(), static_cast<int>(x.size()), x.data()));
        continue;
      }
      double sum = 0;
      for (std::size_t v = 0; v < lattice.vertices.size(); ++v) {
        double weight = 1;
        std::size_t rest = v;
        for (std::size_t d = 0; d < x.size(); rest /= lattice.sizes[d], ++d)
          weight *= rest % lattice.sizes[d] == 1 ? x[d] : 1 - x[d];
        sum += weight * lattice.vertices[v];
      }
      out.push_back(sum);
    }
    return out;
  }
  std::vector<double> operator()(const GatherParts& parts) const {
    std::vector<double> out;
    for (const int wire : parts.wires) out.push_back(in[static_cast<std::size_t>(wire)]);
    return out;
  }
  std::vector<double> operator()(const SumParts&) const {
    return {std::accumulate(in.begin(), in.end(), 0.0)};
  }
  std::vector<double> operator()(const MinMaxParts& parts) const {
    double most = -INFINITY;
    for (auto group = in.begin(); group != in.end(); group += parts.group_size)
      most = std::max(most, *std::min_element(group, group + parts.group_size));
    return {most};
  }
  std::vector<double> operator()(const ReluParts&) const {
    std::vector<double> out;
    for (const double x : in) out.push_back(std::max(x, 0.0));
    return out;
  }
  std::vector<double> operator()(const TreeParts& parts) const {
    std::vector<double> out;
    for (const TreeTable& tree : parts.trees) {
      std::size_t node = 0, leaf = 0;
      out.push_back(value_at(tree, node, leaf));
      EXPECT_EQ(node, tree.nodes.size());
      EXPECT_EQ(leaf, tree.leaves.size());
    }
    return out;
  }
  // Reads what stands at a node and behind it; the value to which the answers lead.
  double value_at(const TreeTable& tree, std::size_t& node, std::size_t& leaf) const {
    const TreeNode own = tree.nodes[node++];
    if (own.is_leaf()) return tree.leaves[leaf++];
    const double no = value_at(tree, node, leaf), yes = value_at(tree, node, leaf);
    return in[static_cast<std::size_t>(own.wire)] > own.above ? yes : no;
  }
};

std::vector<double> by_hand(const NetworkAnatomy& network, std::vector<double> x) {
  for (const LayerAnatomy& layer : network.layers) {
    EXPECT_EQ(layer.inputs.size(), x.size());
    x = std::visit(ByHand{layer, x}, layer.parts);
    EXPECT_EQ(layer.num_outputs, x.size());
  }
  return x;
}

// Cells that every feature and pair knows: what an unseen word means is not in the layers.
std::vector<float> known_cells(const Schema& schema, Random& random) {
  for (;;) {
    std::vector<float> cells = random_cells(schema, random);
    cells.resize(schema.features.size());
    for (std::size_t f = 0; f < cells.size(); ++f) {
      const Feature& feature = schema.features[f];
      if (feature.kind != FeatureKind::number)
        cells[f] = static_cast<float>(random.below(num_own_categories(feature)));
    }
    const std::vector<double> row = encoded_row(schema, cells);
    const auto is_known = [&](std::size_t p) {
      const Pair& pair = schema.pairs[p];
      return pair.is_grid() || row[cells.size() + p] < static_cast<double>(pair.shares.size());
    };
    std::size_t known = 0;
    while (known < schema.pairs.size() && is_known(known)) ++known;
    if (known == schema.pairs.size()) return cells;
  }
}

// Cells that training knew: a category's is the index of its word.
float by_hand(const ForestAnatomy& forest, const std::vector<float>& cells, float level) {
  float sum = 0;
  for (const TreeAnatomy& tree : forest.trees) {
    int at = tree.splits.empty() ? ~0 : 0;
    while (at >= 0) {
      const SplitParts& split = tree.splits[static_cast<std::size_t>(at)];
      const float value = split.feature < cells.size() ? cells[split.feature] : level;
      const bool right = !split.categories_right.empty()
                             ? split.categories_right[static_cast<std::size_t>(value)]
                         : std::isnan(value) ? split.missing_right
                                             : value >= split.threshold;
      at = right ? split.right : split.left;
    }
    sum += tree.leaves[static_cast<std::size_t>(~at)];
  }
  return sum;
}

TEST(Anatomy, IsEnoughToComputeEveryMember) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const Anatomy opened = anatomy(model);
    ASSERT_EQ(opened.networks.size() + opened.forests.size(), model.data().members.size());
    for (int i = 0; i < 10; ++i) {
      const std::vector<float> cells = known_cells(model.schema(), random);
      const std::size_t level = random.below(model.schema().label.num_levels());
      const std::vector<double> row = encoded_row(model.schema(), cells, level);
      std::vector<double> wires(cells.begin(), cells.end());
      wires.insert(wires.end(), row.begin() + std::ssize(cells), row.end());
      for (std::size_t m = 0; m < opened.networks.size(); ++m) {
        const double wanted = model.data().members[m].network().evaluate(row)[0];
        ASSERT_NEAR(by_hand(opened.networks[m], wires)[0], wanted, 1e-3 * (1 + std::abs(wanted)))
            << "seed " << seed << ": " << model.architecture();
      }
      for (std::size_t f = 0; f < opened.forests.size(); ++f) {
        const ModelMember& member = model.data().members[opened.networks.size() + f];
        EXPECT_EQ(opened.forests[f].weight, member.weight);
        EXPECT_EQ(by_hand(opened.forests[f], cells, static_cast<float>(row.back())),
                  evaluate(member.forest(), model.schema(), cells, level));
      }
    }
  }
}

TEST(Anatomy, CountsWhatTheModelHas) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const Anatomy opened = anatomy(model);
    std::size_t parameters = 0, promised = 0;
    for (const NetworkAnatomy& network : opened.networks) {
      for (const LayerAnatomy& layer : network.layers) parameters += layer.num_parameters;
      EXPECT_EQ(network.num_scores, 1u);
    }
    for (const ForestAnatomy& forest : opened.forests) {
      for (const TreeAnatomy& tree : forest.trees)
        parameters += tree.splits.size() + tree.leaves.size();
    }
    EXPECT_EQ(parameters, model.num_parameters());
    for (const Promise& promise : opened.promises) {
      EXPECT_EQ(model.schema().features[promise.feature].monotonicity, promise.direction);
      EXPECT_NE(promise.direction, Monotonicity::none);
    }
    for (const Feature& feature : model.schema().features)
      promised += feature.monotonicity != Monotonicity::none ? 1 : 0;
    EXPECT_EQ(opened.promises.size(), promised);
  }
}

TEST(Anatomy, NamesWiresByTheFeatureThatTheyCarry) {
  Schema schema;
  schema.features = {{.name = "age", .monotonicity = Monotonicity::increasing, .keypoints = {0, 1}},
                     {.name = "town",
                      .kind = FeatureKind::category,
                      .categories = {"a", "b"},
                      .shares = {0.5f, 0.5f}}};
  auto data = std::make_shared<ModelData>();
  data->schema = schema;
  data->training_json = "{}";
  data->members.emplace_back(Network(parse_architecture("cal(2) gather(1,0) lin(3) lin(1)"),
                                     input_wires(schema), MonotoneCalibrators::required,
                                     Random(1)));
  const Anatomy opened = anatomy(Model(std::move(data)));
  const std::vector<LayerAnatomy>& layers = opened.networks.front().layers;
  EXPECT_EQ(layers[0].inputs[0].name, "age");
  EXPECT_TRUE(layers[0].inputs[0].monotone);
  EXPECT_EQ(layers[1].name, "gather");
  EXPECT_EQ(layers[2].inputs[0].name, "town");
  EXPECT_EQ(layers[2].inputs[1].name, "age");
  EXPECT_EQ(layers[2].inputs[1].feature, nullptr) << "it carries the calibrated age";
  EXPECT_EQ(layers[3].inputs[2].name, "3.2");
}

}  // namespace
}  // namespace espalier
