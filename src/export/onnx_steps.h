// SPDX-License-Identifier: Apache-2.0
// The steps of a serving program as operators of ONNX. They are those of program.h, except that
// there is no fused multiply-add and that a runtime adds in an order of its own: so scores differ
// in their last digits.
#pragma once

#include <vector>

#include "export/onnx_graph.h"
#include "serve/program.h"

namespace espalier {

/// Cells as the program encodes them: [rows][1] floats of a column of words, and [rows][cells] of
/// number columns side by side. `cells` are what encodes each.
OnnxGraph::Value encode_numbers(OnnxGraph& graph, const OnnxGraph::Value& raw,
                                const std::vector<const NumberCell*>& cells);

/// The code of a pair, [rows][1], from the encoded features, [rows][cells].
OnnxGraph::Value encode_pair(OnnxGraph& graph, const OnnxGraph::Value& features,
                             const PairCell& pair);

/// The outputs of a member, [rows][num_scores], from the encoded cells, [rows][cells].
OnnxGraph::Value add_member(OnnxGraph& graph, const std::vector<Step>& steps,
                            const OnnxGraph::Value& encoded);

}  // namespace espalier
