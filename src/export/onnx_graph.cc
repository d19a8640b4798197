// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of onnx.proto.
#include "export/onnx_graph.h"

#include <algorithm>

#include "espalier/version.h"

namespace espalier {

namespace {

// Understood by every runtime since 2020.
constexpr std::int64_t kIrVersion = 7, kOperators = 13, kMlOperators = 2;
constexpr const char* kMlDomain = "ai.onnx.ml";

template <class Number>
std::string_view bytes_of(std::span<const Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// [rows][width]
ProtobufMessage value_info(const std::string& name, OnnxGraph::Type type, std::size_t width) {
  ProtobufMessage rows, columns, shape, tensor, own;
  rows.add(2, "rows");
  columns.add(1, static_cast<std::int64_t>(width));
  shape.add(1, rows).add(1, columns);
  tensor.add(1, static_cast<std::int64_t>(type)).add(2, shape);
  return own.add(1, name).add(2, ProtobufMessage().add(1, tensor));
}

// Adds the value to an attribute, then its type.
struct AddValue {
  ProtobufMessage& own;

  void operator()(std::int64_t value) const { own.add(3, value).add(20, std::int64_t{2}); }
  void operator()(float value) const { own.add(2, value).add(20, std::int64_t{1}); }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) own.add(8, value);
    own.add(20, std::int64_t{7});
  }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) own.add(7, value);
    own.add(20, std::int64_t{6});
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) own.add(9, std::string_view(value));
    own.add(20, std::int64_t{8});
  }
};

ProtobufMessage operator_set(std::string_view domain, std::int64_t version) {
  return ProtobufMessage().add(1, domain).add(2, version);
}

}  // namespace

OnnxGraph::OnnxGraph(const std::set<std::string>& taken) {
  const auto is_hit = [&](const std::string& name) { return name.starts_with(prefix_); };
  while (std::any_of(taken.begin(), taken.end(), is_hit)) prefix_ += '_';
}

OnnxGraph::Value OnnxGraph::input(const std::string& name, Type type) {
  inputs_.add(11, value_info(name, type, 1));
  return name;
}

OnnxGraph::Value OnnxGraph::floats(std::span<const float> values, const Shape& shape) {
  return constant(Type::float32, bytes_of(values), shape);
}
OnnxGraph::Value OnnxGraph::doubles(std::span<const double> values, const Shape& shape) {
  return constant(Type::float64, bytes_of(values), shape);
}
OnnxGraph::Value OnnxGraph::integers(std::span<const std::int64_t> values, const Shape& shape) {
  return constant(Type::int64, bytes_of(values), shape);
}

OnnxGraph::Value OnnxGraph::apply(const std::string& op, const std::vector<Value>& inputs,
                                  const Attributes& attributes) {
  return apply_for(1, op, inputs, attributes).front();
}

std::vector<OnnxGraph::Value> OnnxGraph::apply_for(std::size_t outputs, const std::string& op,
                                                   const std::vector<Value>& inputs,
                                                   const Attributes& attributes) {
  std::vector<Value> results;
  while (results.size() < outputs) results.push_back(new_name());
  node(op, inputs, results, attributes);
  return results;
}

OnnxGraph::Value OnnxGraph::cast(const Value& value, Type to) {
  return apply("Cast", {value}, {{"to", static_cast<std::int64_t>(to)}});
}

OnnxGraph::Value OnnxGraph::columns(const Value& value, const std::vector<std::size_t>& indices) {
  const std::vector<std::int64_t> wires(indices.begin(), indices.end());
  return apply("Gather", {value, integers(wires, {wires.size()})}, {{"axis", std::int64_t{1}}});
}

void OnnxGraph::output(const std::string& name, const Value& value, std::size_t width) {
  node("Identity", {value}, {name}, {});
  outputs_.add(12, value_info(name, Type::float32, width));
}

std::string OnnxGraph::file(const std::vector<std::pair<std::string, std::string>>& about) const {
  ProtobufMessage model;
  model.add(1, kIrVersion).add(2, "espalier").add(3, kVersion);
  const std::string graph = nodes_.bytes() + ProtobufMessage().add(2, "espalier").bytes() +
                            constants_.bytes() + inputs_.bytes() + outputs_.bytes();
  model.add(7, std::string_view(graph));
  model.add(8, operator_set("", kOperators)).add(8, operator_set(kMlDomain, kMlOperators));
  for (const auto& [key, value] : about)
    model.add(14, ProtobufMessage().add(1, std::string_view(key)).add(2, std::string_view(value)));
  return model.bytes();
}

OnnxGraph::Value OnnxGraph::new_name() { return prefix_ + std::to_string(num_names_++); }

OnnxGraph::Value OnnxGraph::constant(Type type, std::string_view bytes, const Shape& shape) {
  ProtobufMessage tensor;
  for (const std::size_t size : shape) tensor.add(1, static_cast<std::int64_t>(size));
  Value name = new_name();
  tensor.add(2, static_cast<std::int64_t>(type)).add(8, std::string_view(name)).add(9, bytes);
  constants_.add(5, tensor);
  return name;
}

void OnnxGraph::node(const std::string& op, const std::vector<Value>& inputs,
                     const std::vector<Value>& outputs, const Attributes& attributes) {
  ProtobufMessage own;
  for (const Value& name : inputs) own.add(1, std::string_view(name));
  for (const Value& name : outputs) own.add(2, std::string_view(name));
  own.add(4, std::string_view(op));
  for (const auto& [name, value] : attributes) {
    ProtobufMessage attribute;
    attribute.add(1, std::string_view(name));
    std::visit(AddValue{attribute}, value);
    own.add(5, attribute);
  }
  if (op == "LabelEncoder" || op == "TreeEnsembleRegressor") own.add(7, kMlDomain);
  nodes_.add(1, own);
}

}  // namespace espalier
