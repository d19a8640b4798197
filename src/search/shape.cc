// SPDX-License-Identifier: Apache-2.0
#include "search/shape.h"

#include <algorithm>
#include <cmath>

#include "model/builder.h"

namespace espalier {

namespace {

using Layers = std::vector<LayerSpec>;

// The only layer lat(GxS) or minmax(GxS), or the end.
template <class List>
auto lattices_of(List& layers) {
  const auto found = std::find_if(layers.begin(), layers.end(), has_groups);
  return std::count_if(layers.begin(), layers.end(), has_groups) == 1 ? found : layers.end();
}

// Whether any number of lattices ends in one wire.
bool are_joined(const Layers& layers) {
  const auto joins = [](const LayerSpec& layer) {
    return layer.kind == LayerKind::lin || layer.kind == LayerKind::lat ||
           layer.kind == LayerKind::sum || layer.kind == LayerKind::minmax;
  };
  const auto lattices = lattices_of(layers);
  return lattices->kind == LayerKind::minmax || std::any_of(lattices + 1, layers.end(), joins);
}

// What hands its wires to the lattices, a lin or a gather(GxS) before calibrators; or the end.
template <class List>
auto feeder_of(List& layers) {
  auto at = lattices_of(layers);
  if (at == layers.end()) return at;
  while (at != layers.begin()) {
    --at;
    if (at->kind == LayerKind::lin || (at->kind == LayerKind::gather && at->wires.empty()))
      return at;
    if (at->kind != LayerKind::cal) break;
  }
  return layers.end();
}

void set_monotone_share(double share, LayerSpec& embedding) {
  const double outputs = std::round(share * embedding.outputs);
  embedding.monotone_outputs = std::max(1, static_cast<int>(outputs));
}

// Crystals are lattices of two columns or more, and each column is in one.
void give_all_a_place(int num_columns, LayerSpec& crystals) {
  crystals.group_size = std::max(2, crystals.group_size);
  const int least = (num_columns + crystals.group_size - 1) / crystals.group_size;
  crystals.groups = std::max(crystals.groups, least);
}

void resize_lattices(const Shape& shape, int num_columns, Layers& layers) {
  const auto feeder = feeder_of(layers);
  if (feeder == layers.end()) return;
  LayerSpec& lattices = *lattices_of(layers);
  const double share = static_cast<double>(feeder->monotone_outputs) / std::max(1, feeder->outputs);
  if (shape.lattices > 0 && are_joined(layers)) lattices.groups = shape.lattices;
  if (shape.lattice_size > 0) lattices.group_size = shape.lattice_size;
  if (feeder->kind == LayerKind::gather) {
    lattices.group_size = std::min(lattices.group_size, num_columns);
    if (feeder->wiring == Wiring::crystals) give_all_a_place(num_columns, lattices);
    feeder->groups = lattices.groups;
    feeder->group_size = lattices.group_size;
    return;
  }
  feeder->outputs = lattices.groups * lattices.group_size;
  if (feeder->monotone_outputs == 0) return;
  const bool is_free = shape.monotone_share > 0 && lattices.kind == LayerKind::lat;
  set_monotone_share(is_free ? shape.monotone_share : share, *feeder);
}

}  // namespace

Shape shape_of(const Architecture& architecture) {
  const Layers& layers = architecture.layers;
  Shape shape;
  const auto input = input_calibrators_at(architecture);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].kind != LayerKind::cal) continue;
    (i == input ? shape.input_keypoints : shape.inner_keypoints) = layers[i].keypoints;
  }
  const auto feeder = feeder_of(layers);
  if (feeder == layers.end()) return shape;
  const LayerSpec& lattices = *lattices_of(layers);
  if (are_joined(layers)) shape.lattices = lattices.groups;
  shape.lattice_size = lattices.group_size;
  // All pieces of a minmax read the monotone wires.
  if (feeder->outputs > 0 && lattices.kind == LayerKind::lat)
    shape.monotone_share = static_cast<double>(feeder->monotone_outputs) / feeder->outputs;
  return shape;
}

Architecture reshape(Architecture architecture, const Shape& shape, int num_columns) {
  Layers& layers = architecture.layers;
  const auto input = input_calibrators_at(architecture);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].kind != LayerKind::cal) continue;
    const int keypoints = i == input ? shape.input_keypoints : shape.inner_keypoints;
    if (keypoints > 0) layers[i].keypoints = keypoints;
  }
  if (shape.lattices > 0 || shape.lattice_size > 0 || shape.monotone_share > 0)
    resize_lattices(shape, num_columns, layers);
  return architecture;
}

}  // namespace espalier
