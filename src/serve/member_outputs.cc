// SPDX-License-Identifier: Apache-2.0
#include "serve/member_outputs.h"

#include <memory>
#include <utility>

#include "core/aligned.h"
#include "serve/compile.h"
#include "serve/interpreter.h"

namespace espalier {

namespace {

// The score of a program without offset and scale is the output of its only member.
Interpreter interpreter_of(const DecisionForest& forest, const Schema& schema) {
  const auto data = std::make_shared<ModelData>();
  data->schema = schema;
  data->members.emplace_back(forest);
  Program program = compile(Model(data));
  program.scores.assign(program.scores.size(), ScoreUnits());
  return Interpreter(std::move(program));
}

}  // namespace

std::vector<float> member_outputs(const ModelMember& member, const Schema& schema,
                                  const Dataset& data, std::size_t begin, std::size_t end,
                                  ThreadPool& pool) {
  if (member.is_network())
    return network_outputs(member.network(), schema.label, data, begin, end, pool);
  const Interpreter interpreter = interpreter_of(member.forest(), schema);
  const std::size_t num_scores = schema.label.num_scores();
  std::vector<float> outputs((end - begin) * num_scores);
  pool.run_ranges(end - begin, kTaskRows, [&](std::size_t first, std::size_t last) {
    AlignedFloats scratch(interpreter.scratch_size());
    interpreter.run_encoded(data.row(begin + first), nullptr, nullptr, last - first, Output::score,
                            scratch.data(), outputs.data() + first * num_scores);
  });
  return outputs;
}

}  // namespace espalier
