// SPDX-License-Identifier: Apache-2.0
#include "anatomy.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "espalier/anatomy.h"
#include "numpy.h"

namespace nb = nanobind;

namespace espalier {
namespace {

nb::object to_array(std::vector<float> values, std::vector<std::size_t> shape) {
  return nb::cast(to_numpy(std::move(values), std::move(shape)));
}

nb::object to_array(const std::vector<float>& values) { return to_array(values, {values.size()}); }

// visit(parts, layer, its number, the number of its network) for each layer with such parts; both
// count from 1.
template <class Parts, class Visitor>
void each_layer(const Anatomy& opened, const Visitor& visit) {
  for (std::size_t m = 0; m < opened.networks.size(); ++m) {
    const std::vector<LayerAnatomy>& layers = opened.networks[m].layers;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (const auto* parts = std::get_if<Parts>(&layers[l].parts))
        visit(*parts, layers[l], l + 1, m + 1);
    }
  }
}

}  // namespace

nb::list features_of(const Model& model) {
  nb::list found;
  for (const Feature& feature : model.schema().features) {
    const nb::object words = feature.categories.empty() ? nb::none() : nb::cast(feature.categories);
    found.append(nb::make_tuple(feature.name, to_word(feature.kind), words, feature.missing,
                                feature.not_missing));
  }
  return found;
}

nb::list layers_of(const Model& model) {
  nb::list found;
  for (const NetworkAnatomy& network : anatomy(model).networks) {
    nb::list names;
    for (const LayerAnatomy& layer : network.layers) names.append(layer.name);
    found.append(names);
  }
  return found;
}

nb::list calibrators_of(const Model& model) {
  nb::list found;
  each_layer<CalibratorParts>(anatomy(model), [&](const CalibratorParts& parts,
                                                  const LayerAnatomy& layer, std::size_t index,
                                                  std::size_t member) {
    for (const Curve& curve : parts.curves) {
      const std::vector<std::string> words(curve.categories.begin(), curve.categories.end());
      found.append(nb::make_tuple(
          layer.inputs[curve.wire].name, words.empty() ? to_array(curve.inputs) : nb::cast(words),
          to_array(curve.outputs), curve.missing, curve.rises, index, member));
    }
  });
  return found;
}

nb::list lattices_of(const Model& model) {
  nb::list found;
  each_layer<LatticeParts>(anatomy(model), [&](const LatticeParts& parts, const LayerAnatomy& layer,
                                               std::size_t index, std::size_t member) {
    for (const LatticeTable& lattice : parts.lattices) {
      nb::list wires, rises;
      for (std::size_t d = 0; d < lattice.sizes.size(); ++d) {
        wires.append(layer.inputs[lattice.first_wire + d].name);
        rises.append(static_cast<bool>(lattice.rises[d]));
      }
      found.append(nb::make_tuple(wires, rises,
                                  to_array({lattice.vertices.begin(), lattice.vertices.end()},
                                           {lattice.sizes.rbegin(), lattice.sizes.rend()}),
                                  index, member, to_word(parts.interpolation)));
    }
  });
  return found;
}

}  // namespace espalier
