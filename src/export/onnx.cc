// SPDX-License-Identifier: Apache-2.0
#include "export/onnx.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>

#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "export/names.h"
#include "export/onnx_graph.h"
#include "export/onnx_steps.h"

namespace espalier {

namespace {

using Value = OnnxGraph::Value;
using Type = OnnxGraph::Type;
using OnnxCodes = std::map<std::string, float>;

// No file of protocol buffers is larger.
constexpr std::size_t kMaxBytes = std::numeric_limits<std::int32_t>::max();

constexpr double kLargest = std::numeric_limits<float>::max();

// The names of the inputs. The empty name means "none" in ONNX, and C runtimes end names at a zero.
std::set<std::string> names_of_inputs(const Schema& schema) {
  std::set<std::string> names;
  for (const Feature& feature : schema.features) names.insert(feature.name);
  for (const auto& [role, name] : prediction_columns(schema.beside)) names.insert(name);
  for (const std::string& name : names) {
    if (!name.empty() && name.find('\0') == std::string::npos) continue;
    throw Error(ErrorKind::unsupported,
                fmt::format("export: ONNX has no name for column {}; rename it", comment_of(name)));
  }
  return names;
}

// The name, or with underscores behind it the first that is free.
std::string free_name(std::string name, std::set<std::string>& taken) {
  while (!taken.insert(name).second) name += '_';
  return name;
}

// Every way to write the words that usually mean missing: they may have capitals.
std::vector<std::string> usual_missing_words() {
  std::vector<std::string> words = {"", "?"};
  for (const std::string word : {"na", "n/a", "nan", "null"}) {
    for (unsigned capitals = 0; capitals < 1u << word.size(); ++capitals) {
      std::string written = word;
      for (std::size_t i = 0; i < word.size(); ++i)
        if ((capitals >> i & 1) != 0 && word[i] != '/')
          written[i] = static_cast<char>(word[i] - 32);
      words.push_back(written);
    }
  }
  return words;
}

// A word, and if it is a plain number the shortest way to write it and those with a zero or two
// behind it: 2, 2.0 and 2.00. Other writings of a number are other words in ONNX.
std::vector<std::string> writings_of(const std::string& word) {
  std::vector<std::string> writings = {word};
  const std::string shortest(shortest_plain(word));
  for (const char* zeros : {"", "0", "00", ".0", ".00"}) {
    if (shortest_plain(shortest + zeros) == shortest) writings.push_back(shortest + zeros);
  }
  return writings;
}

// What a column of words becomes when it is encoded: the words, then those that mean missing.
OnnxCodes codes_of(const Feature& feature) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  OnnxCodes codes;
  for (std::size_t i = 0; i < feature.categories.size(); ++i) {
    for (const std::string& word : writings_of(feature.categories[i]))
      codes.emplace(word, encode_cell(feature, static_cast<float>(i)));
  }
  std::vector<std::string> missing = usual_missing_words();
  for (const std::string& word : feature.missing) {
    for (std::string& written : writings_of(word)) missing.push_back(std::move(written));
  }
  for (const std::string& word : missing) {
    if (means_missing(word, feature.missing, feature.not_missing))
      codes.emplace(word, encode_cell(feature, kMissing));
  }
  return codes;
}

// A word that is none of these is unseen, or missing where the words have an order.
float otherwise(const Feature& feature) {
  return encode_cell(feature, feature.kind == FeatureKind::category
                                  ? static_cast<float>(feature.categories.size())
                                  : std::numeric_limits<float>::quiet_NaN());
}

Value encode_categories(OnnxGraph& graph, const Feature& feature, const Value& raw) {
  std::vector<std::string> words;
  std::vector<float> codes;
  for (const auto& [word, code] : codes_of(feature)) {
    words.push_back(word);
    codes.push_back(code);
  }
  return graph.apply(
      "LabelEncoder", {raw},
      {{"keys_strings", words}, {"values_floats", codes}, {"default_float", otherwise(feature)}});
}

// [rows][cells], from an input a column.
Value encode(OnnxGraph& graph, const Program& program, const Schema& schema) {
  std::vector<Value> numbers, parts;
  std::vector<const NumberCell*> cells;
  std::vector<std::size_t> place(schema.features.size());  // of each cell in the parts
  for (std::size_t i = 0; i < place.size(); ++i) {
    const Feature& feature = schema.features[i];
    if (feature.kind == FeatureKind::number) {
      place[i] = numbers.size();
      numbers.push_back(graph.input(feature.name, Type::float32));
      cells.push_back(&std::get<NumberCell>(program.cells[i]));
    } else {
      parts.push_back(encode_categories(graph, feature, graph.input(feature.name, Type::string)));
    }
  }
  std::size_t next = numbers.size();
  for (std::size_t i = 0; i < place.size(); ++i)
    if (schema.features[i].kind != FeatureKind::number) place[i] = next++;
  const OnnxGraph::Attributes side_by_side = {{"axis", std::int64_t{1}}};
  if (!numbers.empty()) {
    const Value raw = graph.apply("Concat", numbers, side_by_side);
    parts.insert(parts.begin(), encode_numbers(graph, raw, cells));
  }
  const Value features = graph.columns(graph.apply("Concat", parts, side_by_side), place);
  if (program.pairs.empty()) return features;
  std::vector<Value> all = {features};
  for (const PairCell& pair : program.pairs) all.push_back(encode_pair(graph, features, pair));
  return graph.apply("Concat", all, side_by_side);
}

Value scalar(OnnxGraph& graph, double value) { return graph.doubles({&value, 1}, {}); }

// The mean of the members, [rows][outputs] in double.
Value mean_of_members(OnnxGraph& graph, const Program& program, const Value& inputs) {
  Value sum;
  for (std::size_t m = 0; m < program.members.size(); ++m) {
    Value own = graph.cast(add_member(graph, program.members[m], inputs), Type::float64);
    if (program.weights[m] != 1) own = graph.apply("Mul", {own, scalar(graph, program.weights[m])});
    sum = sum.empty() ? own : graph.apply("Add", {sum, own});
  }
  return graph.apply("Div", {sum, scalar(graph, program.total_weight())});
}

// The same with levels, [rows][levels]: all rows with the first level, then all with the second,
// ... go through the members as one table.
Value mean_by_level(OnnxGraph& graph, const Program& program, const Value& encoded) {
  const float zero = 0;
  const Value zeros =
      graph.apply("Mul", {graph.columns(encoded, {0}), graph.floats({&zero, 1}, {})});
  std::vector<Value> tables;
  for (const float level : program.levels) {
    const Value column = graph.apply("Add", {zeros, graph.floats({&level, 1}, {})});
    tables.push_back(graph.apply("Concat", {encoded, column}, {{"axis", std::int64_t{1}}}));
  }
  const Value all = graph.apply("Concat", tables, {{"axis", std::int64_t{0}}});
  const std::int64_t shape[] = {static_cast<std::int64_t>(program.levels.size()), -1};
  const Value by_level =
      graph.apply("Reshape", {mean_of_members(graph, program, all), graph.integers(shape, {2})});
  return graph.apply("Transpose", {by_level});
}

// In double, clipped to the range of floats.
Value clipped(OnnxGraph& graph, const Value& value, double least) {
  return graph.apply("Clip", {value, scalar(graph, least), scalar(graph, kLargest)});
}

// In double, as a float that is finite.
Value to_float(OnnxGraph& graph, const Value& value) {
  return graph.cast(clipped(graph, value, -kLargest), Type::float32);
}

// What stands beside the features of a row, [rows][1] in double: `missing` for NaN, else at least
// `least`, as objective/link.h has it.
Value usable(OnnxGraph& graph, const Value& input, double missing, double least) {
  const Value known = clipped(graph, graph.cast(input, Type::float64), least);
  return graph.apply("Where", {graph.apply("IsNaN", {input}), scalar(graph, missing), known});
}

// The columns beside the features; empty without one.
struct Beside {
  Value exposure, offset;
};

Beside inputs_beside(OnnxGraph& graph, const Schema& schema) {
  Beside beside;
  for (const auto& [role, name] : prediction_columns(schema.beside)) {
    const Value input = graph.input(name, Type::float32);
    if (role == Role::exposure) {
      beside.exposure = usable(graph, input, 1, 0);
    } else {
      beside.offset = usable(graph, input, 0, -kLargest);
    }
  }
  return beside;
}

Value score(OnnxGraph& graph, const Program& program, const Value& encoded, const Beside& beside) {
  std::vector<double> scales, offsets;
  for (const ScoreUnits& units : program.scores) {
    scales.push_back(units.scale);
    offsets.push_back(units.offset);
  }
  const Value mean = program.levels.empty() ? mean_of_members(graph, program, encoded)
                                            : mean_by_level(graph, program, encoded);
  const Value scaled = graph.apply("Mul", {mean, graph.doubles(scales, {scales.size()})});
  Value score = graph.apply("Add", {scaled, graph.doubles(offsets, {offsets.size()})});
  if (!beside.offset.empty()) score = graph.apply("Add", {score, beside.offset});
  return to_float(graph, score);
}

Value predict(OnnxGraph& graph, const Program& program, const Value& score, const Beside& beside) {
  switch (program.link) {
    case Link::identity:
      return score;
    case Link::sigmoid: {
      const Value falls =
          graph.apply("Exp", {graph.apply("Neg", {graph.cast(score, Type::float64)})});
      const Value below = graph.apply("Add", {falls, scalar(graph, 1)});
      return graph.cast(graph.apply("Reciprocal", {below}), Type::float32);
    }
    case Link::exponential: {
      const Value power = graph.apply("Exp", {graph.cast(score, Type::float64)});
      Value mean = clipped(graph, graph.apply("Mul", {power, scalar(graph, program.unit)}), 0);
      if (!beside.exposure.empty()) mean = graph.apply("Mul", {mean, beside.exposure});
      return to_float(graph, mean);
    }
    case Link::softmax:
    case Link::promised_softmax:
      return graph.apply("Softmax", {score});
  }
  throw Error(ErrorKind::unsupported, "export: ONNX does not know the link of this model");
}

}  // namespace

OnnxFile print_onnx(const Program& program, const Schema& schema, const std::string& model_hash) {
  std::set<std::string> names = names_of_inputs(schema);
  OnnxFile file;
  file.prediction = free_name("prediction", names);
  file.score = free_name("score", names);
  OnnxGraph graph(names);
  const Value encoded = encode(graph, program, schema);
  const Beside beside = inputs_beside(graph, schema);
  const Value scores = score(graph, program, encoded, beside);
  graph.output(file.prediction, predict(graph, program, scores, beside), program.num_scores());
  graph.output(file.score, scores, program.num_scores());
  file.bytes =
      graph.file({{"espalier.model_hash", model_hash}, {"espalier.label", schema.label.name}});
  if (file.bytes.size() > kMaxBytes) {
    throw Error(ErrorKind::unsupported,
                fmt::format("export: the model takes {} bytes as ONNX; a file holds at most {}",
                            file.bytes.size(), kMaxBytes));
  }
  return file;
}

}  // namespace espalier
