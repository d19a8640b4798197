// SPDX-License-Identifier: Apache-2.0
// What a user holds: the networks and the file of src/model, and the predictor that serves them.
#include "espalier/model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/thread_pool.h"
#include "data/encode.h"
#include "espalier/csv.h"
#include "espalier/predictor.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "serve/compiled.h"

namespace espalier {

Model Model::load(const std::string& path) { return from_bytes(read_file(path).view(), path); }

void Model::save(const std::string& path) const { write_file_atomically(path, to_bytes()); }

std::string Model::to_bytes() const { return format_model(data()); }

Model Model::from_bytes(std::string_view bytes, const std::string& name) {
  return Model(
      std::make_shared<const ModelData>(parse_model(bytes, name, Inequalities::must_hold)));
}

const Schema& Model::schema() const noexcept { return data_->schema; }

std::string Model::architecture() const {
  // A gather that only permutes comes back when the architecture is built again; one that chooses
  // its wires does so by the size of the lattices that read them.
  Architecture shown = data_->members.front().architecture();
  const LayerSpec* lattices = nullptr;
  for (auto layer = shown.layers.rbegin(); layer != shown.layers.rend(); ++layer) {
    if (layer->kind == LayerKind::lat) lattices = &*layer;
    if (layer->kind != LayerKind::gather || lattices == nullptr) continue;
    std::vector<int> wires = std::move(layer->wires);
    layer->wires.clear();
    std::sort(wires.begin(), wires.end());
    const bool repeats = std::adjacent_find(wires.begin(), wires.end()) != wires.end();
    const bool leaves_out = !wires.empty() && wires.back() + 1 > static_cast<int>(wires.size());
    if (!repeats && !leaves_out) continue;
    layer->groups = lattices->groups;
    layer->group_size = lattices->group_size;
  }
  std::erase_if(shown.layers, [](const LayerSpec& layer) {
    return layer.kind == LayerKind::gather && layer.groups == 0 && layer.wires.empty();
  });
  for (LayerSpec& layer : shown.layers) {
    if (layer.outputs == 1) layer.monotone_outputs = 0;
  }
  return to_string(shown);
}

std::size_t Model::num_parameters() const noexcept {
  std::size_t total = 0;
  for (const Network& member : data_->members) total += member.params().size();
  return total;
}

int Model::num_members() const noexcept { return static_cast<int>(data_->members.size()); }

const std::string& Model::training_json() const noexcept { return data_->training_json; }

std::string Model::hash() const { return model_hash(to_bytes()); }

CsvOptions Model::csv_options() const { return csv_options(CsvOptions{}); }

CsvOptions Model::csv_options(CsvOptions base, Reading reading) const {
  const auto add = [&](const std::string& name, bool is_number) {
    base.types[name] = is_number ? ColumnType::number : ColumnType::category;
    base.only.push_back(name);
  };
  for (const Feature& feature : schema().features) {
    add(feature.name, feature.kind == FeatureKind::number);
    if (!feature.missing.empty()) base.column_missing[feature.name] = feature.missing;
  }
  if (reading == Reading::labelled) {
    add(schema().label.name, schema().label.is_number);
    if (!schema().label.missing.empty())
      base.column_missing[schema().label.name] = schema().label.missing;
    if (!schema().weight.empty()) add(schema().weight, true);
  }
  return base;
}

std::vector<float> Model::predict(const Table& table, Output output, int threads) const {
  const Predictor predictor(*this);
  ThreadPool pool(threads);
  std::vector<float> result =
      scores(predictor, encode_features(schema(), table, all_rows(table)), pool);
  if (output == Output::prediction) predictor.compiled().interpreter.link(result);
  return result;
}

}  // namespace espalier
