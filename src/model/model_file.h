// SPDX-License-Identifier: Apache-2.0
// The bytes of a model file; docs/model_format.md describes each of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "model/model_data.h"

namespace espalier {

std::string format_model(const ModelData& model);

enum class Inequalities { must_hold, may_fail };

/// Reads a model. `place` stands for the file in messages. Throws Error (format) for anything that
/// format_model would not have written, for must_hold also if an inequality of monotonicity is
/// broken.
ModelData parse_model(std::string_view bytes, const std::string& place, Inequalities inequalities);

/// The checksum at the end of a model file, as 16 hexadecimal digits.
std::string model_hash(std::string_view bytes);

/// What a wire may reach. Far below the largest float, so that no order of the sums can overflow:
/// infinity minus infinity would be neither a prediction nor monotone.
inline constexpr double kLargestOutput = 0x1p100;

/// Checks every layer of a network: the inequalities of monotonicity and bounds, that each
/// parameter is finite, and that no row of a table can make a wire overflow (counted only if one
/// can). visit(layer index, check of that layer); sink gets a sentence for each violation.
template <class Visit>
void check_network(const Network& network, const CulpritSink& sink, Visit&& visit) {
  double largest = network.largest_input();
  for (int l = 0; l < network.num_layers(); ++l) {
    const float* params = network.layer_params(l);
    Check check = network.layer(l).check(params, sink);
    check += check_finite({params, network.layer(l).num_params()}, [&](const Culprit& culprit) {
      sink(describe("layer", l + 1, "parameter", culprit));
    });
    largest = network.layer(l).largest_output(params, largest);
    if (!(largest <= kLargestOutput)) {
      sink(fmt::format("an output may reach {:.3g}, wanted at most {:.3g}", largest,
                       kLargestOutput));
      check += {.inequalities = 1, .violations = 1};
    }
    visit(l, check);
  }
}

/// Throws through `fail`, which must not return, if the score of some row may be beyond the largest
/// float.
void require_finite_scores(const ModelData& model,
                           const std::function<void(const std::string&)>& fail);

}  // namespace espalier
