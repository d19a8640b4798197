// SPDX-License-Identifier: Apache-2.0
// An ONNX graph in the making: inputs, operators of the standard, constants, outputs. Values are
// known by name; those of inputs and outputs are the caller's, all others are made here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "export/protobuf.h"

namespace espalier {

class OnnxGraph {
 public:
  using Value = std::string;  // its name
  using Shape = std::vector<std::size_t>;
  using Attribute = std::variant<std::int64_t, float, std::vector<std::int64_t>, std::vector<float>,
                                 std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;
  enum class Type { float32 = 1, int64 = 7, string = 8, float64 = 11 };  // as the format has them

  /// `taken` are the names of inputs and outputs, which no other value gets.
  explicit OnnxGraph(const std::set<std::string>& taken);

  /// [rows][1] values by the name of a column.
  Value input(const std::string& name, Type type);

  Value floats(std::span<const float> values, const Shape& shape);
  Value doubles(std::span<const double> values, const Shape& shape);
  Value integers(std::span<const std::int64_t> values, const Shape& shape);

  /// What an operator gives. `outputs` of them where it gives several.
  Value apply(const std::string& op, const std::vector<Value>& inputs,
              const Attributes& attributes = {});
  std::vector<Value> apply_for(std::size_t outputs, const std::string& op,
                               const std::vector<Value>& inputs, const Attributes& attributes = {});
  Value cast(const Value& value, Type to);
  /// Columns `indices` of [rows][...].
  Value columns(const Value& value, const std::vector<std::size_t>& indices);

  /// A value as the output `name`: [rows][width] floats.
  void output(const std::string& name, const Value& value, std::size_t width);

  /// The bytes of the file; `about` are names and values of its metadata.
  std::string file(const std::vector<std::pair<std::string, std::string>>& about) const;

 private:
  Value new_name();
  Value constant(Type type, std::string_view bytes, const Shape& shape);
  void node(const std::string& op, const std::vector<Value>& inputs,
            const std::vector<Value>& outputs, const Attributes& attributes);

  std::string prefix_ = "v";  // of names made here
  std::size_t num_names_ = 0;
  ProtobufMessage nodes_, constants_, inputs_, outputs_;  // fields of the graph
};

}  // namespace espalier
