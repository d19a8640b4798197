// SPDX-License-Identifier: Apache-2.0
#include "model/schema_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "encode/encode.h"
#include "encode/pairs.h"
#include "encode/roles.h"
#include "model/label_json.h"

namespace espalier {

namespace {

// What most columns do not have, and files of earlier versions never; so it is left out if empty.
void put_not_missing(const std::vector<std::string>& words, Json& json) {
  if (!words.empty()) json["not_missing"] = words;
}

std::vector<std::string> get_not_missing(const Json& json) {
  const Json* const words = json.find("not_missing");
  return words ? words->get<std::vector<std::string>>() : std::vector<std::string>();
}

Json feature_to_json(const Feature& feature) {
  Json json = {{"name", feature.name},
               {"kind", to_word(feature.kind)},
               {"monotonicity", to_word(feature.monotonicity)},
               {"keypoints", feature.keypoints},
               {"learns_missing", feature.learns_missing},
               {"typical", feature.typical},
               {"words", feature.categories},
               {"shares", feature.shares},
               {"pools_rare", feature.pools_rare},
               {"missing", feature.missing}};
  put_not_missing(feature.not_missing, json);
  return json;
}

Json pair_to_json(const Pair& pair, const Schema& schema) {
  const std::vector<Feature>& features = schema.features;
  Json json = {{"columns", Json::array({features[pair.first.feature].name,
                                        features[pair.second.feature].name})}};
  if (pair.is_grid()) {
    json["vertices"] = Json::array({Json(pair.first.vertices), Json(pair.second.vertices)});
    return json;
  }
  json["edges"] = Json::array({Json(pair.first.edges), Json(pair.second.edges)});
  json["codes"] = pair.codes;
  json["shares"] = pair.shares;
  return json;
}

// A JSON number as a float; one that no float holds is refused.
float get_float(const Reader& reader, const Json& json) {
  const double value = json.get<double>();
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || narrow != value)
    reader.fail(fmt::format("header: {} is not a float", value));
  return narrow;
}

std::vector<float> get_floats(const Reader& reader, const Json& json, const char* key) {
  std::vector<float> values;
  for (const Json& value : get_list(reader, json, key)) values.push_back(get_float(reader, value));
  return values;
}

// Shares are the weights of a mean.
void check_shares(const std::vector<float>& shares,
                  const std::function<void(bool, std::string_view)>& require) {
  double total = 0;
  for (const float share : shares) {
    require(share >= 0, "a negative share");
    total += share;
  }
  require(total > 0 && std::isfinite(total), "shares without a sum");
}

void check_feature(const Reader& reader, const Feature& feature) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) reader.fail(fmt::format("header: feature '{}': {}", feature.name, what));
  };
  require(!feature.name.empty(), "no name");
  // The word of the rare ones is never looked for.
  const std::size_t num_own = num_own_categories(feature);
  const std::set<std::string> distinct(
      feature.categories.begin(),
      feature.categories.begin() + static_cast<std::ptrdiff_t>(num_own));
  if (feature.kind == FeatureKind::category) {
    require(!feature.categories.empty() && feature.categories.size() == feature.shares.size(),
            "words and shares do not match");
    require(feature.monotonicity == Monotonicity::none, "a category cannot be monotone");
    require(feature.keypoints.empty() && !feature.learns_missing, "a category has no keypoints");
    require(distinct.size() == num_own, "words repeat");
    check_shares(feature.shares, require);
    return;
  }
  require(feature.shares.empty() && !feature.pools_rare, "shares without categories");
  require(feature.keypoints.size() >= 2, "fewer than two keypoints");
  for (std::size_t k = 1; k < feature.keypoints.size(); ++k) {
    require(feature.keypoints[k - 1] < feature.keypoints[k], "keypoints do not rise");
  }
  if (feature.kind == FeatureKind::ordered) {
    require(feature.categories.size() >= 2 && distinct.size() == feature.categories.size(),
            "words repeat or are too few");
  } else {
    require(feature.categories.empty(), "a number has no words");
  }
}

Feature feature_from_json(const Reader& reader, const Json& json) {
  Feature feature{.name = json.at("name").get<std::string>()};
  feature.kind = get_word<FeatureKind>(reader, json, "kind");
  feature.monotonicity = get_word<Monotonicity>(reader, json, "monotonicity");
  feature.keypoints = get_floats(reader, json, "keypoints");
  feature.learns_missing = json.at("learns_missing").get<bool>();
  feature.typical = get_float(reader, json.at("typical"));
  feature.categories = json.at("words").get<std::vector<std::string>>();
  feature.shares = get_floats(reader, json, "shares");
  feature.pools_rare = json.at("pools_rare").get<bool>();
  feature.missing = json.at("missing").get<std::vector<std::string>>();
  feature.not_missing = get_not_missing(json);
  check_feature(reader, feature);
  return feature;
}

using Require = std::function<void(bool, std::string_view)>;

Pair::Side side_from_json(const Reader& reader, const Json& column, const Schema& schema) {
  const auto name = column.get<std::string>();
  const auto found = std::ranges::find(schema.features, name, &Feature::name);
  if (found == schema.features.end())
    reader.fail(fmt::format("header: pair of '{}': no such feature", name));
  return {.feature = static_cast<std::size_t>(found - schema.features.begin()), .edges = {}};
}

void read_edges(const Reader& reader, const Json& edges, const Require& require, Pair::Side& side) {
  for (const Json& edge : edges) side.edges.push_back(get_float(reader, edge));
  require(!side.edges.empty(), "one bin only");
  for (std::size_t e = 1; e < side.edges.size(); ++e)
    require(side.edges[e - 1] < side.edges[e], "edges do not rise");
}

// Vertices are encoded cells: of a number its keypoints, and -1 for missing; of a category codes.
void read_vertices(const Json& vertices, const Feature& feature, const Require& require,
                   Pair::Side& side) {
  const std::size_t places = feature.kind == FeatureKind::category ? feature.categories.size() + 1
                                                                   : feature.keypoints.size();
  for (const Json& vertex : vertices) {
    require(vertex.is_whole(), "a vertex that is no whole number");
    const auto place = vertex.get<std::int64_t>();
    require(place >= (feature.learns_missing ? -1 : 0) && place < static_cast<std::int64_t>(places),
            "a vertex where the column has no place");
    require(side.vertices.empty() || side.vertices.back() < place, "vertices do not rise");
    side.vertices.push_back(static_cast<std::int32_t>(place));
  }
  const bool has_missing = !side.vertices.empty() && side.vertices.front() < 0;
  require(has_missing == feature.learns_missing, "vertices and missing cells do not match");
  require(side.vertices.size() >= (has_missing ? 3 : 2), "fewer than two vertices");
  require(side.vertices.size() <= static_cast<std::size_t>(kMaxPairVertices) + 1,
          "too many vertices");
  side.edges = grid_edges(side.vertices);
}

void read_crossed(const Reader& reader, const Json& json, const Require& require, Pair& pair) {
  pair.shares = get_floats(reader, json, "shares");
  check_shares(pair.shares, require);
  for (const Json& code : get_list(reader, json, "codes")) {
    const auto number = code.get<std::int32_t>();
    require(std::cmp_less_equal(0, number) && std::cmp_less_equal(number, pair.shares.size()),
            "a code without a share");
    pair.codes.push_back(number);
  }
  require(pair.codes.size() == pair.first.num_bins() * pair.second.num_bins(),
          "codes and bins do not match");
}

Pair pair_from_json(const Reader& reader, const Json& json, const Schema& schema) {
  const Json& columns = get_list(reader, json, "columns");
  const bool is_grid = json.contains("vertices");
  const Json& sides = get_list(reader, json, is_grid ? "vertices" : "edges");
  const Require require = [&](bool holds, std::string_view what) {
    if (!holds) reader.fail(fmt::format("header: a pair: {}", what));
  };
  require(columns.size() == 2 && sides.size() == 2 && sides[0].is_array() && sides[1].is_array(),
          "wanted two columns with their edges or vertices");
  Pair pair{.first = side_from_json(reader, columns[0], schema),
            .second = side_from_json(reader, columns[1], schema)};
  require(pair.first.feature != pair.second.feature, "a column crossed with itself");
  const bool wants_grid = needs_grid(schema, pair.first.feature, pair.second.feature);
  require(is_grid || !wants_grid, "a monotone feature cannot be crossed");
  require(!is_grid || wants_grid, "a grid of two features without a direction");
  for (std::size_t s = 0; s < 2; ++s) {
    Pair::Side& side = s == 0 ? pair.first : pair.second;
    if (is_grid) {
      read_vertices(sides[s], schema.features[side.feature], require, side);
    } else {
      read_edges(reader, sides[s], require, side);
    }
  }
  if (!is_grid) read_crossed(reader, json, require, pair);
  return pair;
}

}  // namespace

std::uint32_t format_of(const Schema& schema) {
  const bool is_plain = prediction_columns(schema.beside).empty() && schema.pairs.empty();
  return is_plain ? format_of(schema.label) : 2;
}

const Json& get_list(const Reader& reader, const Json& json, const char* key) {
  const Json& list = json.at(key);
  if (!list.is_array()) reader.fail(fmt::format("header: {} is not a list", key));
  return list;
}

void put_columns(const Schema& schema, Json& header) {
  const auto weight = schema.beside.find(Role::weight);
  header["label"] = label_to_json(schema.label);
  put_not_missing(schema.label.not_missing, header["label"]);
  header["weight"] = weight == schema.beside.end() ? "" : weight->second;
  header["features"] = Json::array();
  for (const Feature& feature : schema.features)
    header["features"].push_back(feature_to_json(feature));
}

void put_pairs_and_roles(const Schema& schema, Json& header) {
  for (const Pair& pair : schema.pairs) header["pairs"].push_back(pair_to_json(pair, schema));
  for (const auto& [role, name] : prediction_columns(schema.beside))
    header[std::string(to_word(role))] = name;
}

Schema schema_from_json(const Reader& reader, const Json& header, std::uint32_t format) {
  Schema schema;
  schema.label = label_from_json(reader, header.at("label"), format);
  schema.label.not_missing = get_not_missing(header.at("label"));
  if (auto weight = header.at("weight").get<std::string>(); !weight.empty())
    schema.beside[Role::weight] = std::move(weight);
  std::set<std::string> names = {schema.label.name};
  for (const Role role : kPredictionRoles) {
    const Json* const found = header.find(to_word(role));
    if (!found || format == 1) continue;
    auto name = found->get<std::string>();
    if (name.empty()) continue;
    if (!names.insert(name).second) reader.fail("header: two columns of the same name");
    schema.beside[role] = std::move(name);
  }
  for (const Json& json : get_list(reader, header, "features")) {
    schema.features.push_back(feature_from_json(reader, json));
    if (!names.insert(schema.features.back().name).second)
      reader.fail("header: two columns of the same name");
  }
  if (schema.features.empty()) reader.fail("header: no features");
  const auto has_direction = [](const Feature& feature) {
    return feature.monotonicity != Monotonicity::none;
  };
  if (schema.label.has_many_classes() && schema.label.promises.empty() &&
      std::ranges::any_of(schema.features, has_direction))
    reader.fail("header: a direction that promises nothing of any class");
  if (!header.contains("pairs")) return schema;
  for (const Json& json : get_list(reader, header, "pairs"))
    schema.pairs.push_back(pair_from_json(reader, json, schema));
  if (schema.pairs.empty()) reader.fail("header: an empty list of pairs");
  return schema;
}

}  // namespace espalier
