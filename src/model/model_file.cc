// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "core/opening_memory.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "model/forest_file.h"
#include "model/label_json.h"
#include "model/leaf_orders.h"
#include "model/schema_json.h"

namespace espalier {

namespace {

constexpr std::string_view kMagic = "ESPALIER";
// The first format with forests and with weights of members.
constexpr std::uint32_t kFormatOfMixtures = 3;
constexpr std::uint32_t kNewestFormat = kFormatOfMixtures;
// As many as training makes, with trees beside each. Each network repeats the wires of the
// features.
constexpr std::size_t kMaxMembers = 2000;

// The least format that can hold a model.
std::uint32_t format_of(const ModelData& model) {
  const bool is_plain = std::ranges::all_of(model.members, [](const ModelMember& member) {
    return member.is_network() && member.weight == 1;
  });
  return is_plain ? format_of(model.schema) : kFormatOfMixtures;
}

Json members_to_json(const ModelData& model) {
  Json list = Json::array();
  for (const ModelMember& member : model.members) {
    Json own = Json::object();
    own["kind"] = member.is_network() ? "network" : "forest";
    if (member.is_network()) own["architecture"] = to_string(member.network().architecture());
    own["weight"] = member.weight;
    list.push_back(own);
  }
  return list;
}

Json header_of(const ModelData& model) {
  Json header = {{"espalier", model.version}};
  put_columns(model.schema, header);
  header["monotone_calibrators"] = to_word(model.calibrators);
  if (format_of(model) < kFormatOfMixtures) {
    header["architectures"] = Json::array();
    for (const ModelMember& member : model.members)
      header["architectures"].push_back(to_string(member.network().architecture()));
  } else {
    header["members"] = members_to_json(model);
  }
  header["training"] = Json::parse(model.training_json);
  put_pairs_and_roles(model.schema, header);
  return header;
}

// Reads the members of a model, one after another.
class MemberReader {
 public:
  // memory: what all networks may take.
  MemberReader(Reader& reader, std::uint64_t memory, ModelData& model)
      : reader_(reader), memory_(memory), model_(model), inputs_(input_wires(model.schema)) {}

  void read(const Json& header, std::uint32_t format) {
    const bool has_mixture = format >= kFormatOfMixtures;
    const Json& members = get_list(reader_, header, has_mixture ? "members" : "architectures");
    if (members.size() > kMaxMembers) {
      reader_.fail(fmt::format("{} members, at most {} are allowed", members.size(), kMaxMembers));
    }
    for (const Json& member : members)
      model_.members.push_back(has_mixture ? read_member(member)
                                           : with_features(read_network(member.string())));
  }

 private:
  ModelMember read_member(const Json& json) {
    const auto weight = json.at("weight").get<double>();
    const auto rounded = static_cast<float>(weight);
    if (!(weight > 0) || !std::isfinite(rounded) || rounded != weight)
      reader_.fail(fmt::format("header: {} is no weight of a member", weight));
    const auto kind = json.at("kind").get<std::string>();
    if (kind == "network") return {read_network(json.at("architecture").string()), rounded};
    if (kind != "forest") reader_.fail(fmt::format("header: '{}' is no kind of member", kind));
    require_one_output();
    return {read_forest(reader_, model_.schema), rounded};
  }

  void require_one_output() const {
    if (model_.schema.label.num_outputs() == 1) return;
    reader_.fail("header: a forest for classes without an order");
  }

  // Older files have trees as networks, which give the same outputs as forests. One that breaks an
  // inequality stays as it is, so that checks name what is in the file.
  ModelMember with_features(Network network) const {
    std::optional<DecisionForest> forest = forest_of(network, model_.schema);
    if (!forest) return network;
    bool is_sound = true;
    check_network(
        network, [&](const std::string&) { is_sound = false; }, [](int, const Check&) {});
    if (is_sound) return *std::move(forest);
    return network;
  }

  Network read_network(const std::string& text) {
    const std::vector<float> params = reader_.floats("parameters");
    const std::vector<float> constants = reader_.floats("constants");
    // Before anything is built: what is left open could ask for more than the file holds.
    const Architecture architecture = parse_architecture(text);
    if (!is_settled(architecture)) reader_.fail("header: the architecture leaves something open");
    Network network(architecture, inputs_, model_.calibrators, Random(0),
                    {.parameters = params.size(), .memory = memory_},
                    score_wires(model_.schema.label));
    memory_ -= network.build_memory();
    if (network.params().size() != params.size()) {
      reader_.fail(fmt::format("{} parameters, the architecture wants {}", params.size(),
                               network.params().size()));
    }
    if (to_string(network.architecture()) != text)
      reader_.fail("header: the architecture is not written as it is built");
    std::copy(params.begin(), params.end(), network.params().begin());
    const std::string error = set_constants(constants, network);
    if (!error.empty()) reader_.fail(error);
    return network;
  }

  Reader& reader_;
  std::uint64_t memory_;
  ModelData& model_;
  const std::vector<Wire> inputs_;
};

void require_inequalities(const Reader& reader, const ModelData& model) {
  check_levels(model.schema.label,
               [&](const std::string& culprit) { reader.fail("it is not monotone: " + culprit); });
  for (std::size_t m = 0; m < model.members.size(); ++m) {
    const ModelMember& member = model.members[m];
    if (!member.is_network()) {
      check_forest(member.forest(), model.schema, [&](const std::string& culprit) {
        reader.fail(fmt::format("it is not monotone: member {}: {}", m + 1, culprit));
      });
      continue;
    }
    int layer = 0;
    check_network(
        member.network(),
        [&](const std::string& culprit) {
          reader.fail(fmt::format("it is not monotone: member {}, layer {}: {}", m + 1, layer + 1,
                                  culprit));
        },
        [&](int l, const Check&) { layer = l + 1; });
  }
}

// The largest output of a member, whatever the row.
double largest_output(const ModelMember& member) {
  if (!member.is_network()) return largest_output(member.forest());
  const Network& network = member.network();
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
    largest = std::max(largest, largest_output(member));
  double offset = 0;
  for (const double own : label.offsets) offset = std::max(offset, std::abs(own));
  const double score = offset + label.scale * largest;
  if (score <= std::numeric_limits<float>::max()) return;
  fail(fmt::format("a score may reach {:.3g}, wanted at most {:.3g}", score,
                   std::numeric_limits<float>::max()));
}

std::string format_model(const ModelData& model) {
  std::string out(kMagic);
  put(out, format_of(model));
  put_text(out, header_of(model).dump());
  for (const ModelMember& member : model.members) {
    if (!member.is_network()) {
      put_forest(out, member.forest(), model.schema);
      continue;
    }
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
    model.calibrators = get_word<MonotoneCalibrators>(reader, header, "monotone_calibrators");
    model.version = header.at("espalier").get<std::string>();
    if (!header.at("training").is_object()) reader.fail("header: training is not an object");
    model.training_json = header.at("training").dump();
    MemberReader(reader, opening_memory(bytes.size()) / 2, model).read(header, format);
    const std::uint32_t least =
        format < kFormatOfMixtures ? format_of(model.schema) : format_of(model);
    if (format != least)
      reader.fail(fmt::format("format {} for what format {} holds", format, least));
  } catch (const JsonError& error) {
    reader.fail(fmt::format("header: {}", error.what()));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::format) throw;
    reader.fail(error.what());
  }
  if (model.members.empty()) reader.fail("no member in it");
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  model.file_hash = model_hash(bytes);
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
