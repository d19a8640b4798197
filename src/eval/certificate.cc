// SPDX-License-Identifier: Apache-2.0
#include "espalier/certificate.h"

#include <fmt/format.h>

#include "core/file.h"
#include "model/model_data.h"
#include "model/model_file.h"

namespace espalier {

namespace {

constexpr std::size_t kMaxCulprits = 20;

void check_member(const ModelData& model, std::size_t m, Certificate& certificate) {
  const Network& network = model.members[m];
  const std::string member = model.members.size() > 1 ? fmt::format("network {}, ", m + 1) : "";
  const auto layer_name = [&](int l) {
    const LayerSpec& spec = network.architecture().layers[static_cast<std::size_t>(l)];
    return fmt::format("{}layer {}: {}", member, l + 1,
                       spec.wires.empty() ? to_string(spec) : "gather");
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

Certificate verify_data(const ModelData& model, std::string hash) {
  Certificate certificate{.model_hash = std::move(hash)};
  for (const Feature& feature : model.schema.features) {
    if (feature.monotonicity == Monotonicity::increasing)
      certificate.increasing.push_back(feature.name);
    if (feature.monotonicity == Monotonicity::decreasing)
      certificate.decreasing.push_back(feature.name);
  }
  for (std::size_t m = 0; m < model.members.size(); ++m) check_member(model, m, certificate);
  return certificate;
}

}  // namespace

Certificate verify(const Model& model) { return verify_data(model.data(), model.hash()); }

Certificate verify_file(const std::string& path) {
  const FileBytes bytes = read_file(path);
  const ModelData model = parse_model(bytes.view(), path, Inequalities::may_fail);
  return verify_data(model, model_hash(bytes.view()));
}

}  // namespace espalier
