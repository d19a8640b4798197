// SPDX-License-Identifier: Apache-2.0
#include "train/presets.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/architecture.h"
#include "espalier/error.h"

namespace espalier {

namespace {

// How large a network the rows can feed.
struct Size {
  int lattices;
  int lattice_size;
  int input_keypoints;
  int inner_keypoints;
};

Size size_for(std::size_t rows) {
  if (rows < 1000) return {8, 3, 10, 5};
  if (rows < 5000) return {20, 4, 40, 10};
  if (rows < 15000) return {40, 4, 100, 20};
  return {70, 5, 150, 20};
}

// Monotone rows of the embedding read all wires, so there may be more of them than monotone
// features.
int monotone_rows(int rows, const std::vector<Feature>& features) {
  constexpr double kLeastShare = 0.3, kMostShare = 0.7;
  const auto is_monotone = [](const Feature& feature) {
    return feature.monotonicity != Monotonicity::none;
  };
  const auto count = std::count_if(features.begin(), features.end(), is_monotone);
  if (count == 0) return 0;
  const double share = static_cast<double>(count) / static_cast<double>(features.size());
  return static_cast<int>(std::clamp(share, kLeastShare, kMostShare) * rows);
}

std::string deep_lattice_network(std::size_t rows, const std::vector<Feature>& features) {
  const Size size = size_for(rows);
  const LayerSpec embedding = {
      .kind = LayerKind::lin,
      .outputs = size.lattices * size.lattice_size,
      .monotone_outputs = monotone_rows(size.lattices * size.lattice_size, features)};
  return fmt::format("cal({}) {} cal({}) lat({}x{}) cal({}) lin(1)", size.input_keypoints,
                     to_string(embedding), size.inner_keypoints, size.lattices, size.lattice_size,
                     size.inner_keypoints);
}

// The paper to the letter: the same range for every calibrator, the split embedding, its start, its
// projection, a constant rate.
std::string paper_network(TrainOptions& options) {
  options.initialization = Initialization::paper;
  options.projection = Projection::exact;
  options.schedule = Schedule::constant;
  options.weight_decay = 0;
  options.adam_epsilon = 1e-8;
  constexpr const char* kCalibrators = "cal(100,-100:100)";
  return fmt::format("{0} lin(350,split) {0} lat(70x5) {0} lin(1)", kCalibrators);
}

std::string calibrated_lattice(std::size_t rows, std::size_t num_features) {
  // More than this in one lattice is slow to train and rarely fed by the rows.
  constexpr std::size_t kMost = 12;
  if (num_features > kMost) {
    throw Error(ErrorKind::argument,
                fmt::format("architecture: calibrated-lattice puts all columns into one lattice; "
                            "{} are too many, at "
                            "most {}; wanted fewer columns (--drop) or random-lattices",
                            num_features, kMost));
  }
  return fmt::format("cal({}) lat", size_for(rows).input_keypoints);
}

std::string random_lattices(std::size_t rows, std::size_t num_features) {
  const Size size = size_for(rows);
  const int lattice_size = std::min(size.lattice_size, static_cast<int>(num_features));
  // At least twice as many places as features, so that each meets several others.
  const int lattices =
      std::max(size.lattices, static_cast<int>(2 * num_features) / lattice_size + 1);
  return fmt::format("cal({0}) gather({1}x{2}) lat({1}x{2}) lin(1)", size.input_keypoints, lattices,
                     lattice_size);
}

std::string layers_of(const std::string& name, std::size_t rows,
                      const std::vector<Feature>& features, TrainOptions& options) {
  const std::size_t num_features = features.size();
  if (name == "dln") return deep_lattice_network(rows, features);
  if (name == "dln-paper") return paper_network(options);
  if (name == "calibrated-linear")
    return fmt::format("cal({}) lin(1)", size_for(rows).input_keypoints);
  if (name == "calibrated-lattice") return calibrated_lattice(rows, num_features);
  if (name == "random-lattices") return random_lattices(rows, num_features);
  return name;
}

int batch_size_for(std::size_t rows) {
  int batch = 32;
  while (batch < 256 && static_cast<std::size_t>(batch) * 100 < rows) batch *= 2;
  return batch;
}

// Enough steps for small tables, enough epochs for large ones.
int epochs_for(std::size_t rows, int batch_size) {
  constexpr double kSteps = 2000;
  return std::clamp(static_cast<int>(kSteps * batch_size / static_cast<double>(rows)), 12, 200);
}

}  // namespace

void resolve_options(std::size_t rows, const std::vector<Feature>& features,
                     TrainOptions& options) {
  // Few rows want small steps and straight curves; many keep large steps from overfitting by
  // themselves.
  const bool few_rows = rows < 20000;
  if (options.learning_rate == 0) options.learning_rate = few_rows ? 0.01 : 0.03;
  if (options.calibrator_hessian == 0 && few_rows && options.architecture != "dln-paper") {
    options.calibrator_hessian = 0.005;
  }
  const std::string written = options.architecture;
  options.architecture = layers_of(options.architecture, rows, features, options);
  const bool is_preset = options.architecture != written;
  if (is_preset && options.continuous_keypoints == 0)
    options.continuous_keypoints = rows < 100000 ? 15 : 30;
  if (options.batch_size == 0) options.batch_size = batch_size_for(rows);
  if (options.epochs == 0) options.epochs = epochs_for(rows, options.batch_size);
}

Json deciding_options(const TrainOptions& options) {
  Json json = Json::parse(to_json(options));
  json.erase("threads");
  return json;
}

}  // namespace espalier
