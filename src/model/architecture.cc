// SPDX-License-Identifier: Apache-2.0
// Reading and writing the grammar of layers.
#include "espalier/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.h"
#include "espalier/error.h"

namespace espalier {

namespace {

constexpr int kMaxSize = 1 << 24;
constexpr std::string_view kLeaf = "_";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// One layer while it is read: its text for messages, and what is in the brackets.
struct LayerText {
  std::string_view whole;
  std::string_view name;
  std::vector<std::string_view> arguments;

  [[noreturn]] void fail(std::string_view wanted) const {
    throw Error(ErrorKind::argument, fmt::format("architecture: '{}': {}", whole, wanted));
  }
};

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int parse_size(const LayerText& layer, std::string_view text, std::string_view what, int least) {
  const auto value = parse_number<int>(text);
  if (!value || *value < least || *value > kMaxSize) {
    layer.fail(
        fmt::format("{}: '{}' is not a whole number from {} to {}", what, text, least, kMaxSize));
  }
  return *value;
}

void parse_cal(const LayerText& layer, LayerSpec& spec) {
  if (layer.arguments.size() > 2) layer.fail("wanted cal(keypoints) or cal(keypoints,lo:hi)");
  if (!layer.arguments.empty())
    spec.keypoints = parse_size(layer, layer.arguments[0], "keypoints", 2);
  if (layer.arguments.size() < 2) return;
  const std::string_view text = layer.arguments[1];
  const std::size_t colon = text.find(':');
  const auto lo = parse_number<float>(trim(text.substr(0, colon)));
  const auto hi =
      colon == text.npos ? std::nullopt : parse_number<float>(trim(text.substr(colon + 1)));
  const bool usable =
      lo && hi && std::isfinite(*lo) && std::isfinite(*hi) && *lo < *hi && std::isfinite(*hi - *lo);
  if (!usable) layer.fail(fmt::format("'{}' is not a range such as -100:100", text));
  spec.range = Range{*lo, *hi};
}

void parse_lin(const LayerText& layer, LayerSpec& spec) {
  for (const std::string_view argument : layer.arguments) {
    constexpr std::string_view kMonotone = "monotone=";
    if (const auto embedding = from_word<Embedding>(argument)) {
      spec.embedding = *embedding;
    } else if (argument.starts_with(kMonotone)) {
      spec.monotone_outputs =
          parse_size(layer, argument.substr(kMonotone.size()), "monotone outputs", 1);
    } else {
      spec.outputs = parse_size(layer, argument, "outputs", 1);
    }
  }
  if (spec.outputs > 0 && spec.monotone_outputs > spec.outputs) {
    layer.fail(fmt::format("{} monotone outputs of {}", spec.monotone_outputs, spec.outputs));
  }
}

// GxS
bool parse_groups(const LayerText& layer, std::string_view text, LayerSpec& spec) {
  const std::size_t x = text.find('x');
  if (x == text.npos) return false;
  spec.groups = parse_size(layer, trim(text.substr(0, x)), "groups", 1);
  spec.group_size = parse_size(layer, trim(text.substr(x + 1)), "inputs", 1);
  return true;
}

void parse_lat(const LayerText& layer, LayerSpec& spec) {
  for (const std::string_view argument : layer.arguments) {
    if (const auto interpolation = from_word<Interpolation>(argument)) {
      spec.interpolation = *interpolation;
    } else if (!parse_groups(layer, argument, spec)) {
      layer.fail(fmt::format("'{}': wanted lat(GxS), {} or {}", argument,
                             to_word(Interpolation::multilinear), to_word(Interpolation::simplex)));
    }
  }
}

void parse_minmax(const LayerText& layer, LayerSpec& spec) {
  if (layer.arguments.size() != 1 || !parse_groups(layer, layer.arguments[0], spec))
    layer.fail("wanted minmax(GxS)");
}

void parse_gather(const LayerText& layer, LayerSpec& spec) {
  if (!layer.arguments.empty() && parse_groups(layer, layer.arguments[0], spec)) {
    if (layer.arguments.size() == 1) return;
    const auto wiring = from_word<Wiring>(layer.arguments[1]);
    if (!wiring || layer.arguments.size() > 2)
      layer.fail("wanted gather(GxS), gather(GxS,crystals) or a list of wires");
    spec.wiring = *wiring;
    return;
  }
  for (const std::string_view argument : layer.arguments) {
    spec.wires.push_back(parse_size(layer, argument, "wire", 0));
  }
}

// Every question is followed by two trees, so that the text alone says where one is complete.
void parse_tree(const LayerText& layer, LayerSpec& spec) {
  std::size_t left = 0;  // trees that are to come before this one is complete
  for (const std::string_view argument : layer.arguments) {
    if (left == 0) left = 1;
    --left;
    TreeNode& node = spec.nodes.emplace_back();
    if (argument == kLeaf) continue;
    const std::size_t sign = argument.find('>');
    if (sign == argument.npos)
      layer.fail(fmt::format("'{}' is neither a question such as 3>0.25 nor a leaf, _", argument));
    node.wire = parse_size(layer, trim(argument.substr(0, sign)), "wire", 0);
    const auto above = parse_number<float>(trim(argument.substr(sign + 1)));
    if (!above || !std::isfinite(*above))
      layer.fail(fmt::format("'{}' does not compare with a number", argument));
    node.above = *above;
    left += 2;
  }
  if (spec.nodes.empty() || left > 0)
    layer.fail(fmt::format("the last tree is not complete: {} more wanted",
                           std::max<std::size_t>(left, 1)));
}

LayerSpec parse_layer(const LayerText& layer) {
  const auto kind = from_word<LayerKind>(layer.name);
  if (!kind) {
    const std::vector<std::string> names(std::begin(Words<LayerKind>::list),
                                         std::end(Words<LayerKind>::list));
    const auto guess = nearest(layer.name, names);
    layer.fail(fmt::format("no layer or preset of that name{}; layers are {}",
                           guess ? fmt::format(", did you mean '{}'?", *guess) : "",
                           fmt::join(names, ", ")));
  }
  LayerSpec spec{.kind = *kind};
  switch (*kind) {
    case LayerKind::cal:
      parse_cal(layer, spec);
      break;
    case LayerKind::lin:
      parse_lin(layer, spec);
      break;
    case LayerKind::lat:
      parse_lat(layer, spec);
      break;
    case LayerKind::gather:
      parse_gather(layer, spec);
      break;
    case LayerKind::minmax:
      parse_minmax(layer, spec);
      break;
    case LayerKind::tree:
      parse_tree(layer, spec);
      break;
    case LayerKind::sum:
    case LayerKind::relu:
      if (!layer.arguments.empty()) layer.fail(fmt::format("{} takes no size", layer.name));
  }
  return spec;
}

// Takes one layer off the front of the text.
LayerText take_layer(std::string_view& text) {
  LayerText layer;
  const std::size_t name_end = std::min(text.find_first_of(" ("), text.size());
  layer.name = text.substr(0, name_end);
  if (name_end == text.size() || text[name_end] == ' ') {
    layer.whole = layer.name;
    text = trim(text.substr(name_end));
    return layer;
  }
  const std::size_t close = text.find(')');
  layer.whole = text.substr(0, std::min(close, text.size() - 1) + 1);
  if (close == text.npos) layer.fail("the bracket is not closed");
  std::string_view inside = text.substr(name_end + 1, close - name_end - 1);
  while (true) {
    const std::size_t comma = inside.find(',');
    layer.arguments.push_back(trim(inside.substr(0, comma)));
    if (comma == inside.npos) break;
    inside.remove_prefix(comma + 1);
  }
  text = trim(text.substr(close + 1));
  return layer;
}

std::string arguments_of(const LayerSpec& spec) {
  std::vector<std::string> parts;
  switch (spec.kind) {
    case LayerKind::cal:
      if (spec.keypoints > 0) parts.push_back(fmt::to_string(spec.keypoints));
      if (spec.range) parts.push_back(fmt::format("{}:{}", spec.range->lo, spec.range->hi));
      break;
    case LayerKind::lin:
      if (spec.outputs > 0) parts.push_back(fmt::to_string(spec.outputs));
      if (spec.embedding == Embedding::split) parts.emplace_back(to_word(spec.embedding));
      if (spec.monotone_outputs > 0)
        parts.push_back(fmt::format("monotone={}", spec.monotone_outputs));
      break;
    case LayerKind::lat:
    case LayerKind::gather:
    case LayerKind::minmax:
      if (spec.groups > 0) parts.push_back(fmt::format("{}x{}", spec.groups, spec.group_size));
      for (const int wire : spec.wires) parts.push_back(fmt::to_string(wire));
      if (spec.wiring == Wiring::crystals) parts.emplace_back(to_word(spec.wiring));
      if (spec.interpolation == Interpolation::simplex)
        parts.emplace_back(to_word(spec.interpolation));
      break;
    case LayerKind::tree:
      for (const TreeNode& node : spec.nodes)
        parts.push_back(node.is_leaf() ? std::string(kLeaf)
                                       : fmt::format("{}>{}", node.wire, node.above));
      break;
    case LayerKind::sum:
    case LayerKind::relu:
      break;
  }
  return parts.empty() ? "" : fmt::format("({})", fmt::join(parts, ","));
}

}  // namespace

Architecture parse_architecture(std::string_view text) {
  Architecture architecture;
  text = trim(text);
  while (!text.empty()) architecture.layers.push_back(parse_layer(take_layer(text)));
  if (architecture.layers.empty()) {
    throw Error(ErrorKind::argument,
                "architecture: no layers; wanted a preset or layers such as 'cal(20) lin(1)'");
  }
  return architecture;
}

std::string to_string(const LayerSpec& layer) {
  return std::string(to_word(layer.kind)) + arguments_of(layer);
}

std::string short_name(const LayerSpec& layer) {
  const bool is_listed = !layer.wires.empty() || !layer.nodes.empty();
  return is_listed ? std::string(to_word(layer.kind)) : to_string(layer);
}

std::string to_string(const Architecture& architecture) {
  std::vector<std::string> layers;
  for (const LayerSpec& layer : architecture.layers) layers.push_back(to_string(layer));
  return fmt::format("{}", fmt::join(layers, " "));
}

}  // namespace espalier
