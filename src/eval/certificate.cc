// SPDX-License-Identifier: Apache-2.0
#include "espalier/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/default_floats.h"
#include "core/file.h"
#include "core/thread_pool.h"
#include "encode/promises.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "eval/counter_examples.h"
#include "model/label_json.h"
#include "model/leaf_orders.h"
#include "model/model_data.h"
#include "model/model_file.h"

namespace espalier {

namespace {

constexpr std::size_t kMaxCulprits = 20;

void check_network(const ModelData& model, std::size_t m, Certificate& certificate) {
  const Network& network = model.members[m].network();
  const std::string member = model.members.size() > 1 ? fmt::format("network {}, ", m + 1) : "";
  const auto layer_name = [&](int l) {
    const LayerSpec& spec = network.architecture().layers[static_cast<std::size_t>(l)];
    return fmt::format("{}layer {}: {}", member, l + 1, short_name(spec));
  };
  int layer = 0;
  check_network(
      network,
      [&](const std::string& culprit) {
        if (certificate.culprits.size() < kMaxCulprits) {
          certificate.culprits.push_back(fmt::format("{}: {}", layer_name(layer), culprit));
        }
      },
      [&](int l, const Check& check) {
        if (check.inequalities > 0)
          certificate.layers.push_back({layer_name(l), check.inequalities, check.violations});
        certificate.inequalities += check.inequalities;
        certificate.violations += check.violations;
        layer = l + 1;
      });
}

// The forests of a model are counted apart from its networks.
void check_forest(const ModelData& model, std::size_t m, Certificate& certificate) {
  const auto before = std::ranges::count_if(model.members.begin(),
                                            model.members.begin() + static_cast<std::ptrdiff_t>(m),
                                            [](const auto& own) { return !own.is_network(); });
  const DecisionForest& forest = model.members[m].forest();
  const std::string name = fmt::format("forest {}", before + 1);
  const Check check = check_forest(forest, model.schema, [&](const std::string& culprit) {
    if (certificate.culprits.size() < kMaxCulprits)
      certificate.culprits.push_back(fmt::format("{}: {}", name, culprit));
  });
  certificate.layers.push_back({fmt::format("{}: {} trees", name, forest.trees.size()),
                                check.inequalities, check.violations});
  certificate.inequalities += check.inequalities;
  certificate.violations += check.violations;
  certificate.leaf_orders += count_leaf_orders(forest, model.schema);
}

// The offsets of levels come before the layers.
void check_offsets(const Label& label, Certificate& certificate) {
  const Check check = check_levels(
      label, [&](const std::string& culprit) { certificate.culprits.push_back(culprit); });
  if (check.inequalities == 0) return;
  certificate.layers.push_back({"offsets of the levels", check.inequalities, check.violations});
  certificate.inequalities += check.inequalities;
  certificate.violations += check.violations;
}

// Scores or predictions of rows, in turn: both must be monotone.
RowFunction row_function(const Predictor& predictor, Output output) {
  const auto scratch = std::make_shared<Predictor::Scratch>(predictor);
  return [=](std::span<const float> rows, std::span<float> out) {
    predictor.predict(rows, out, *scratch, output);
  };
}

// How each number moves along a chain of rows.
std::vector<int> directions_of(const Label& label, Output output) {
  std::vector<int> directions;
  for (std::size_t s = 0; s < label.num_scores(); ++s) {
    const bool promised = output == Output::prediction && !label.promises.empty();
    directions.push_back(!promised                                       ? label.score_direction(s)
                         : label.promises[s] == Monotonicity::increasing ? 1
                         : label.promises[s] == Monotonicity::decreasing ? -1
                                                                         : 0);
  }
  return directions;
}

void pairs_to_try(const Model& model, const VerifyOptions& options, Certificate& certificate) {
  const Predictor predictor(model);
  const TreeThresholds thresholds = options.pairs > 0 ? TreeThresholds(model) : TreeThresholds();
  ThreadPool pool(options.threads);
  std::size_t before = 0;
  for (const Output output : {Output::score, Output::prediction}) {
    const std::size_t half = options.pairs / 2;
    const CounterExamples result = find_counter_examples(
        model.schema(), [&] { return row_function(predictor, output); },
        output == Output::score ? half : options.pairs - half,
        Random(options.seed).split(static_cast<std::uint64_t>(output)), pool,
        [&](std::size_t pairs) {
          if (options.progress) options.progress(before + pairs);
        },
        directions_of(model.schema().label, output), thresholds);
    before += result.pairs;
    certificate.pairs += result.pairs;
    certificate.pair_violations += result.violations;
    certificate.crossings += result.crossings;
    certificate.thresholds = result.thresholds;
    certificate.thresholds_crossed =
        std::max(certificate.thresholds_crossed, result.thresholds_crossed);
    certificate.largest_drop = std::max(certificate.largest_drop, result.largest_drop);
    for (const std::string& culprit : result.culprits) {
      if (certificate.culprits.size() < kMaxCulprits) certificate.culprits.push_back(culprit);
    }
  }
}

Certificate verify_model(const Model& model, std::string hash, const VerifyOptions& options) {
  Certificate certificate{.model_hash = std::move(hash), .seed = options.seed};
  certificate.increasing = promises_of(model.schema(), Monotonicity::increasing);
  certificate.decreasing = promises_of(model.schema(), Monotonicity::decreasing);
  const ModelData& data = model.data();
  certificate.levels = level_names(model.schema().label);
  check_offsets(model.schema().label, certificate);
  for (std::size_t m = 0; m < data.members.size(); ++m) {
    data.members[m].is_network() ? check_network(data, m, certificate)
                                 : check_forest(data, m, certificate);
  }
  if (certificate.holds()) pairs_to_try(model, options, certificate);
  return certificate;
}

}  // namespace

Certificate verify(const Model& model, const VerifyOptions& options) {
  const DefaultFloats floats;
  return verify_model(model, model.hash(), options);
}

Certificate verify_file(const std::string& path, const VerifyOptions& options) {
  const DefaultFloats floats;
  const FileBytes bytes = read_file(path);
  const Model model(
      std::make_shared<const ModelData>(parse_model(bytes.view(), path, Inequalities::may_fail)));
  return verify_model(model, model_hash(bytes.view()), options);
}

}  // namespace espalier
