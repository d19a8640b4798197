// SPDX-License-Identifier: Apache-2.0
// A layer of a network as its own class: the one place where a kind becomes a type.
#pragma once

#include <cstddef>

#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "layers/linear.h"
#include "layers/min_max.h"
#include "layers/relu.h"
#include "layers/trees.h"
#include "layers/wiring.h"
#include "model/network.h"

namespace espalier {

/// visit(const Calibrators&) or visit(const Linear&) or ...: the visitor takes all of them, and all
/// its results have one type.
template <class Visitor>
decltype(auto) visit_layer(const Network& network, int index, Visitor&& visit) {
  const Layer& layer = network.layer(index);
  switch (network.architecture().layers[static_cast<std::size_t>(index)].kind) {
    case LayerKind::cal:
      return visit(static_cast<const Calibrators&>(layer));
    case LayerKind::lin:
      return visit(static_cast<const Linear&>(layer));
    case LayerKind::lat:
      return visit(static_cast<const Lattices&>(layer));
    case LayerKind::gather:
      return visit(static_cast<const Gather&>(layer));
    case LayerKind::sum:
      return visit(static_cast<const Sum&>(layer));
    case LayerKind::minmax:
      return visit(static_cast<const MinMax&>(layer));
    case LayerKind::relu:
      return visit(static_cast<const Relu&>(layer));
    case LayerKind::tree:
      break;
  }
  return visit(static_cast<const Trees&>(layer));
}

/// Several functions as one visitor.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace espalier
