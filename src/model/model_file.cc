// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/bytes.h"
#include "core/opening_memory.h"
#include "encode/encode.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "model/label_json.h"
#include "model/schema_json.h"

namespace espalier {

namespace {

constexpr std::string_view kMagic = "ESPALIER";
constexpr std::uint32_t kNewestFormat = 2;
// As many as training makes, with trees beside each. Each network repeats the wires of the
// features.
constexpr std::size_t kMaxMembers = 2000;

Json header_of(const ModelData& model) {
  Json header = {{"espalier", model.version}};
  put_columns(model.schema, header);
  header["monotone_calibrators"] = to_word(model.calibrators);
  header["architectures"] = Json::array();
  for (const ModelMember& member : model.members)
    header["architectures"].push_back(to_string(member.network().architecture()));
  header["training"] = Json::parse(model.training_json);
  put_pairs_and_roles(model.schema, header);
  return header;
}

// `memory` is what is left of that of all members.
Network read_member(Reader& reader, const ModelData& model, const std::vector<Wire>& inputs,
                    const std::string& text, std::uint64_t& memory) {
  const std::vector<float> params = reader.floats("parameters");
  const std::vector<float> constants = reader.floats("constants");
  // Before anything is built: what is left open could ask for more than the file holds.
  const Architecture architecture = parse_architecture(text);
  if (!is_settled(architecture)) reader.fail("header: the architecture leaves something open");
  Network network(architecture, inputs, model.calibrators, Random(0),
                  {.parameters = params.size(), .memory = memory}, score_wires(model.schema.label));
  memory -= network.build_memory();
  if (network.params().size() != params.size()) {
    reader.fail(fmt::format("{} parameters, the architecture wants {}", params.size(),
                            network.params().size()));
  }
  if (to_string(network.architecture()) != text)
    reader.fail("header: the architecture is not written as it is built");
  std::copy(params.begin(), params.end(), network.params().begin());
  const std::string error = set_constants(constants, network);
  if (!error.empty()) reader.fail(error);
  return network;
}

void read_members(Reader& reader, const Json& header, std::uint64_t memory, ModelData& model) {
  const Json& architectures = get_list(reader, header, "architectures");
  if (architectures.size() > kMaxMembers) {
    reader.fail(
        fmt::format("{} networks, at most {} are allowed", architectures.size(), kMaxMembers));
  }
  const std::vector<Wire> inputs = input_wires(model.schema);
  for (const Json& architecture : architectures)
    model.members.push_back(read_member(reader, model, inputs, architecture.string(), memory));
}

void require_inequalities(const Reader& reader, const ModelData& model) {
  check_levels(model.schema.label,
               [&](const std::string& culprit) { reader.fail("it is not monotone: " + culprit); });
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    int layer = 0;
    check_network(
        model.members[m].network(),
        [&](const std::string& culprit) {
          reader.fail(fmt::format("it is not monotone: network {}, layer {}: {}", m + 1, layer + 1,
                                  culprit));
        },
        [&](int l, const Check&) { layer = l + 1; });
  }
}

// The largest output of a network, whatever the row.
double largest_output(const Network& network) {
  double largest = network.largest_input();
  for (int l = 0; l < network.num_layers(); ++l)
    largest = network.layer(l).largest_output(network.layer_params(l), largest);
  return largest;
}

}  // namespace

void require_finite_scores(const ModelData& model,
                           const std::function<void(const std::string&)>& fail) {
  const Label& label = model.schema.label;
  double largest = 0;
  for (const ModelMember& member : model.members)
    largest = std::max(largest, largest_output(member.network()));
  double offset = 0;
  for (const double own : label.offsets) offset = std::max(offset, std::abs(own));
  const double score = offset + label.scale * largest;
  if (score <= std::numeric_limits<float>::max()) return;
  fail(fmt::format("a score may reach {:.3g}, wanted at most {:.3g}", score,
                   std::numeric_limits<float>::max()));
}

std::string format_model(const ModelData& model) {
  std::string out(kMagic);
  put(out, format_of(model.schema));
  put_text(out, header_of(model).dump());
  for (const ModelMember& member : model.members) {
    put_floats(out, member.network().params());
    put_floats(out, all_constants(member.network()));
  }
  put(out, checksum(out));
  return out;
}

ModelData parse_model(std::string_view bytes, const std::string& place, Inequalities inequalities) {
  Reader reader(bytes, place, "model");
  const std::uint32_t format = reader.open_frame(kMagic, kNewestFormat);
  ModelData model;
  try {
    const Json header =
        Json::parse(reader.text("header"), fmt::format("{}: not a usable model: header", place));
    model.schema = schema_from_json(reader, header, format);
    if (format != format_of(model.schema))
      reader.fail(
          fmt::format("format {} for what format {} holds", format, format_of(model.schema)));
    model.calibrators = get_word<MonotoneCalibrators>(reader, header, "monotone_calibrators");
    model.version = header.at("espalier").get<std::string>();
    if (!header.at("training").is_object()) reader.fail("header: training is not an object");
    model.training_json = header.at("training").dump();
    read_members(reader, header, opening_memory(bytes.size()) / 2, model);
  } catch (const JsonError& error) {
    reader.fail(fmt::format("header: {}", error.what()));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::format) throw;
    reader.fail(error.what());
  }
  if (model.members.empty()) reader.fail("no network in it");
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  if (inequalities == Inequalities::must_hold) {
    require_inequalities(reader, model);
    require_finite_scores(model, [&](const std::string& why) { reader.fail(why); });
  }
  return model;
}

std::string model_hash(std::string_view bytes) {
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - sizeof stored, sizeof stored);
  return fmt::format("{:016x}", stored);
}

}  // namespace espalier
