// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/json.h"
#include "espalier/error.h"

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

namespace espalier {

namespace {

constexpr std::string_view kMagic = "ESPALIER";
constexpr std::uint32_t kFormatVersion = 1;
// As many as training makes. Each network repeats the wires of the features.
constexpr std::size_t kMaxMembers = 1000;

std::uint64_t checksum(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

template <class Number>
void put(std::string& out, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_floats(std::string& out, std::span<const float> values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::vector<float> all_constants(const Network& network) {
  std::vector<float> constants;
  for (int l = 0; l < network.num_layers(); ++l) {
    const auto own = network.layer(l).constants();
    constants.insert(constants.end(), own.begin(), own.end());
  }
  return constants;
}

Json feature_to_json(const Feature& feature) {
  return {{"name", feature.name},
          {"kind", to_word(feature.kind)},
          {"monotonicity", to_word(feature.monotonicity)},
          {"keypoints", feature.keypoints},
          {"learns_missing", feature.learns_missing},
          {"typical", feature.typical},
          {"words", feature.words},
          {"shares", feature.shares},
          {"pools_rare", feature.pools_rare},
          {"missing", feature.missing}};
}

Json label_to_json(const Label& label) {
  return {{"name", label.name},           {"task", to_word(label.task)},
          {"is_number", label.is_number}, {"negative", label.negative},
          {"positive", label.positive},   {"offset", label.offset},
          {"scale", label.scale},         {"missing", label.missing}};
}

Json header_of(const ModelData& model) {
  Json features = Json::array(), architectures = Json::array();
  for (const Feature& feature : model.schema.features) features.push_back(feature_to_json(feature));
  for (const Network& member : model.members)
    architectures.push_back(to_string(member.architecture()));
  return {{"espalier", model.version},
          {"label", label_to_json(model.schema.label)},
          {"weight", model.schema.weight},
          {"features", features},
          {"monotone_calibrators", to_word(model.calibrators)},
          {"architectures", architectures},
          {"training", Json::parse(model.training_json)}};
}

// Reads numbers off the front of bytes that are known to be long enough only when it says so.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(place) {}

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(ErrorKind::format, fmt::format("{}: not a usable model: {}", place_, message));
  }

  template <class Number>
  Number get(std::string_view what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view take(std::uint64_t size, std::string_view what) {
    if (size > bytes_.size()) fail(fmt::format("it ends within the {}", what));
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::vector<float> floats(std::string_view what) {
    const auto count = get<std::uint64_t>(what);
    if (count > bytes_.size() / sizeof(float)) fail(fmt::format("it ends within the {}", what));
    std::vector<float> values(count);
    const std::string_view raw = take(count * sizeof(float), what);
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }

  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& place_;
};

template <class Enum>
Enum get_word(const Reader& reader, const Json& json, const char* key) {
  const auto word = json.at(key).get<std::string>();
  const auto value = from_word<Enum>(word);
  if (!value) reader.fail(fmt::format("header: '{}' is no {}", word, key));
  return *value;
}

// A JSON number as a float; one that no float holds is refused.
float get_float(const Reader& reader, const Json& json) {
  const double value = json.get<double>();
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || narrow != value)
    reader.fail(fmt::format("header: {} is not a float", value));
  return narrow;
}

const Json& get_list(const Reader& reader, const Json& json, const char* key) {
  const Json& list = json.at(key);
  if (!list.is_array()) reader.fail(fmt::format("header: {} is not a list", key));
  return list;
}

std::vector<float> get_floats(const Reader& reader, const Json& json, const char* key) {
  std::vector<float> values;
  for (const Json& value : get_list(reader, json, key)) values.push_back(get_float(reader, value));
  return values;
}

void check_feature(const Reader& reader, const Feature& feature) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) reader.fail(fmt::format("header: feature '{}': {}", feature.name, what));
  };
  require(!feature.name.empty(), "no name");
  // The word of the rare ones is never looked for.
  const std::size_t num_own = feature.words.size() - (feature.pools_rare && !feature.words.empty());
  const std::set<std::string> distinct(
      feature.words.begin(), feature.words.begin() + static_cast<std::ptrdiff_t>(num_own));
  if (feature.kind == FeatureKind::category) {
    require(!feature.words.empty() && feature.words.size() == feature.shares.size(),
            "words and shares do not match");
    require(feature.monotonicity == Monotonicity::none, "a category cannot be monotone");
    require(feature.keypoints.empty() && !feature.learns_missing, "a category has no keypoints");
    require(distinct.size() == num_own, "words repeat");
    double total = 0;
    for (const float share : feature.shares) {
      require(share >= 0, "a negative share");
      total += share;
    }
    require(total > 0 && std::isfinite(total), "shares without a sum");
    return;
  }
  require(feature.shares.empty() && !feature.pools_rare, "shares without categories");
  require(feature.keypoints.size() >= 2, "fewer than two keypoints");
  for (std::size_t k = 1; k < feature.keypoints.size(); ++k) {
    require(feature.keypoints[k - 1] < feature.keypoints[k], "keypoints do not rise");
  }
  if (feature.kind == FeatureKind::ordered) {
    require(feature.words.size() >= 2 && distinct.size() == feature.words.size(),
            "words repeat or are too few");
  } else {
    require(feature.words.empty(), "a number has no words");
  }
}

Feature feature_from_json(const Reader& reader, const Json& json) {
  Feature feature{.name = json.at("name").get<std::string>()};
  feature.kind = get_word<FeatureKind>(reader, json, "kind");
  feature.monotonicity = get_word<Monotonicity>(reader, json, "monotonicity");
  feature.keypoints = get_floats(reader, json, "keypoints");
  feature.learns_missing = json.at("learns_missing").get<bool>();
  feature.typical = get_float(reader, json.at("typical"));
  feature.words = json.at("words").get<std::vector<std::string>>();
  feature.shares = get_floats(reader, json, "shares");
  feature.pools_rare = json.at("pools_rare").get<bool>();
  feature.missing = json.at("missing").get<std::vector<std::string>>();
  check_feature(reader, feature);
  return feature;
}

Label label_from_json(const Reader& reader, const Json& json) {
  Label label{.name = json.at("name").get<std::string>()};
  label.task = get_word<Task>(reader, json, "task");
  label.is_number = json.at("is_number").get<bool>();
  label.negative = json.at("negative").get<std::string>();
  label.positive = json.at("positive").get<std::string>();
  label.offset = get_float(reader, json.at("offset"));
  label.scale = get_float(reader, json.at("scale"));
  label.missing = json.at("missing").get<std::vector<std::string>>();
  if (label.task == Task::automatic) reader.fail("header: the task is not settled");
  if (!(label.scale > 0)) reader.fail("header: the scale of the label is not positive");
  if (label.task == Task::classification && label.negative == label.positive)
    reader.fail("header: one class only");
  return label;
}

Schema schema_from_json(const Reader& reader, const Json& header) {
  Schema schema;
  schema.label = label_from_json(reader, header.at("label"));
  schema.weight = header.at("weight").get<std::string>();
  std::set<std::string> names = {schema.label.name};
  for (const Json& json : get_list(reader, header, "features")) {
    schema.features.push_back(feature_from_json(reader, json));
    if (!names.insert(schema.features.back().name).second)
      reader.fail("header: two columns of the same name");
  }
  if (schema.features.empty()) reader.fail("header: no features");
  return schema;
}

Network read_member(Reader& reader, const ModelData& model, const std::vector<Wire>& inputs,
                    const std::string& text) {
  const std::vector<float> params = reader.floats("parameters");
  const std::vector<float> constants = reader.floats("constants");
  // Before anything is built: what is left open could ask for more than the file holds.
  const Architecture architecture = parse_architecture(text);
  if (!is_settled(architecture)) reader.fail("header: the architecture leaves something open");
  Network network(architecture, inputs, model.calibrators, Random(0), params.size());
  if (network.params().size() != params.size()) {
    reader.fail(fmt::format("{} parameters, the architecture wants {}", params.size(),
                            network.params().size()));
  }
  if (to_string(network.architecture()) != text)
    reader.fail("header: the architecture is not written as it is built");
  std::copy(params.begin(), params.end(), network.params().begin());
  if (all_constants(network).size() != constants.size())
    reader.fail("constants do not match the architecture");
  const float* next = constants.data();
  for (int l = 0; l < network.num_layers(); ++l) {
    const auto own = network.layer(l).constants();
    std::copy_n(next, own.size(), own.begin());
    next += own.size();
    const std::string error = network.layer(l).constants_error();
    if (!error.empty()) reader.fail(fmt::format("layer {}: {}", l + 1, error));
  }
  return network;
}

void read_members(Reader& reader, const Json& header, ModelData& model) {
  const Json& architectures = get_list(reader, header, "architectures");
  if (architectures.size() > kMaxMembers) {
    reader.fail(
        fmt::format("{} networks, at most {} are allowed", architectures.size(), kMaxMembers));
  }
  const std::vector<Wire> inputs = input_wires(model.schema);
  for (const Json& architecture : architectures)
    model.members.push_back(read_member(reader, model, inputs, architecture.get<std::string>()));
}

void require_inequalities(const Reader& reader, const ModelData& model) {
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    int layer = 0;
    check_network(
        model.members[m],
        [&](const std::string& culprit) {
          reader.fail(fmt::format("it is not monotone: network {}, layer {}: {}", m + 1, layer + 1,
                                  culprit));
        },
        [&](int l, const Check&) { layer = l + 1; });
  }
}

// The bytes between the magic and the checksum, if both are in order.
std::string_view checked_body(std::string_view bytes, const Reader& reader) {
  if (!bytes.starts_with(kMagic)) reader.fail("it does not begin with ESPALIER");
  std::uint32_t version = 0;
  if (bytes.size() < kMagic.size() + sizeof version + sizeof(std::uint64_t))
    reader.fail("it is cut short");
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  if (version != kFormatVersion) {
    reader.fail(
        fmt::format("format version {}, this program reads version {}", version, kFormatVersion));
  }
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + content.size(), sizeof stored);
  if (stored != checksum(content))
    reader.fail("its checksum does not match: it is cut short or was altered");
  return content.substr(kMagic.size() + sizeof version);
}

}  // namespace

std::string format_model(const ModelData& model) {
  std::string out(kMagic);
  put(out, kFormatVersion);
  const std::string header = header_of(model).dump();
  put(out, static_cast<std::uint64_t>(header.size()));
  out += header;
  for (const Network& member : model.members) {
    put_floats(out, member.params());
    put_floats(out, all_constants(member));
  }
  put(out, checksum(out));
  return out;
}

ModelData parse_model(std::string_view bytes, const std::string& place, Inequalities inequalities) {
  const std::string_view body = checked_body(bytes, Reader(bytes, place));
  Reader reader(body, place);
  ModelData model;
  try {
    const auto header_size = reader.get<std::uint64_t>("header");
    const Json header = parse_json(reader.take(header_size, "header"), ErrorKind::format,
                                   fmt::format("{}: not a usable model: header", place));
    model.schema = schema_from_json(reader, header);
    model.calibrators = get_word<MonotoneCalibrators>(reader, header, "monotone_calibrators");
    model.version = header.at("espalier").get<std::string>();
    if (!header.at("training").is_object()) reader.fail("header: training is not an object");
    model.training_json = header.at("training").dump();
    read_members(reader, header, model);
  } catch (const Json::exception& error) {
    reader.fail(fmt::format("header: {}", message_of(error)));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::format) throw;
    reader.fail(error.what());
  }
  if (model.members.empty()) reader.fail("no network in it");
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  if (inequalities == Inequalities::must_hold) require_inequalities(reader, model);
  return model;
}

std::string model_hash(std::string_view bytes) {
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - sizeof stored, sizeof stored);
  return fmt::format("{:016x}", stored);
}

}  // namespace espalier
