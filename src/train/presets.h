// SPDX-License-Identifier: Apache-2.0
// Names for architectures that size themselves, each with the way it is best trained.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/options.h"
#include "espalier/schema.h"

namespace espalier {

/// How a kind of network is best trained, where the options leave it open.
struct Recipe {
  Initialization initialization = Initialization::data;
  Projection projection = Projection::sweep;
  Keypoints keypoints = Keypoints::distinct;
  Schedule schedule = Schedule::cosine;
  double weight_decay = 0.3;
  double adam_epsilon = 1e-3;
  double calibrator_hessian = 0.005;  // with few rows, which want straight curves; else 0
  int ensemble = 5;                   // with very few rows; else 1
  std::optional<double> rate = {};    // of learning; empty: what suits the number of rows
  std::optional<int> epochs = {};     // empty: what suits the number of rows
  bool asks_the_data = false;         // for pairs of columns, trees, and when to stop
};

struct Preset {
  std::string layers;  // in the grammar of architecture.h
  Recipe recipe;
};

std::vector<std::string> preset_names();

/// Whether a text is the name of a preset, with a size or without.
bool is_preset(std::string_view text);

/// Whether it is a preset for which pairs of columns are searched, trees are grown, and training
/// stops by itself.
bool asks_the_data(std::string_view architecture);

/// The preset of that name for a table of this size; nothing for a list of layers. Throws Error
/// (argument) for a word that is neither, and for a size that cannot be.
std::optional<Preset> find_preset(const std::string& text, std::size_t rows,
                                  const std::vector<Feature>& features, const Label& label = {});

}  // namespace espalier
