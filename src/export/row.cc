// SPDX-License-Identifier: Apache-2.0
#include "export/row.h"

#include <fmt/format.h>

#include <map>

#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "export/names.h"

namespace espalier {

namespace {

bool has_categories(const Feature& feature) { return feature.kind != FeatureKind::number; }

// What the model promises of a feature.
std::string promise_text(const Feature& feature, const Label& label) {
  if (!label.promises.empty() && feature.monotonicity != Monotonicity::none)
    return "; classes have directions along it";
  switch (feature.monotonicity) {
    case Monotonicity::none:
      break;
    case Monotonicity::increasing:
      return "; no prediction falls when it rises";
    case Monotonicity::decreasing:
      return "; no prediction rises when it rises";
  }
  return "";
}

std::string range_of(const Feature& feature) {
  if (has_categories(feature)) return "";
  return fmt::format(" from {} to {}, beyond as there", feature.keypoints.front(),
                     feature.keypoints.back());
}

// missing is -1, the words count from 0, a category has unseen behind them.
std::string print_enum(const Feature& feature, const std::string& field) {
  Scope scope({"missing", "unseen"});
  std::string entries = "  missing = -1,\n";
  const std::size_t num_categories = num_own_categories(feature);
  for (std::size_t i = 0; i < num_categories; ++i) {
    const std::string& word = feature.categories[i];
    if (word.empty()) continue;  // missing, as a category of its own
    const std::string name = scope.take(word);
    entries +=
        fmt::format("  {} = {},{}\n", name, i, name == word ? "" : "  // " + comment_of(word));
  }
  if (feature.kind == FeatureKind::category)
    entries += fmt::format("  unseen = {},\n", num_categories);
  return fmt::format("// {}: {}.\nenum class {}_code : std::int32_t {{\n{}}};\n\n",
                     comment_of(feature.name),
                     feature.kind == FeatureKind::ordered ? "words from low to high" : "a category",
                     field, entries);
}

using Codes = std::map<std::string, long>;

std::string print_codes(const std::string& name, const Codes& codes) {
  std::string entries;
  for (const auto& [word, code] : codes)
    entries += fmt::format("    {{{{{}, {}}}, {}}},\n", literal_of(word), word.size(), code);
  return fmt::format("inline constexpr Word {}[] = {{\n{}}};\n", name, entries);
}

// The words, each also as the shortest way to write it if it is a number.
Codes codes_of_categories(const Feature& feature) {
  Codes codes;
  for (std::size_t i = 0; i < feature.categories.size(); ++i) {
    const bool is_missing = feature.kind == FeatureKind::category && feature.categories[i].empty();
    codes.emplace(feature.categories[i], is_missing ? -1 : static_cast<long>(i));
  }
  for (std::size_t i = 0; i < feature.categories.size(); ++i)
    codes.emplace(shortest_plain(feature.categories[i]), static_cast<long>(i));
  return codes;
}

// Words of a category that are missing or not although they are none of the usual ones or one.
Codes codes_of_exceptions(const Feature& feature) {
  Codes codes;
  if (feature.kind == FeatureKind::ordered) return codes;
  for (const std::string& word : feature.missing) {
    codes.emplace(word, -1);
    codes.emplace(shortest_plain(word), -1);
  }
  for (const std::string& word : feature.not_missing) {
    if (!word.empty()) codes.emplace(word, static_cast<long>(num_own_categories(feature)));
  }
  return codes;
}

std::string print_words(const Feature& feature, const std::string& field) {
  const Codes exceptions = codes_of_exceptions(feature);
  return print_codes("words_of_" + field, codes_of_categories(feature)) +
         (exceptions.empty() ? "" : print_codes("exceptions_of_" + field, exceptions));
}

std::string print_from_string(const Feature& feature, const std::string& field) {
  const bool is_category = feature.kind == FeatureKind::category;
  std::string otherwise = "-1";
  if (is_category)
    otherwise = fmt::format("detail::means_missing(word) ? -1 : {}", num_own_categories(feature));
  if (!codes_of_exceptions(feature).empty())
    otherwise =
        fmt::format("detail::code_of(detail::exceptions_of_{}, word, {})", field, otherwise);
  return fmt::format(
      "// Of a word of {0}; {1}.\n"
      "inline {2}_code {2}_from_string(std::string_view word) noexcept {{\n"
      "  return static_cast<{2}_code>(\n"
      "      detail::code_of(detail::words_of_{2}, word,\n"
      "                      {3}));\n"
      "}}\n\n",
      comment_of(feature.name), is_category ? "any other is unseen" : "any other is missing", field,
      otherwise);
}

}  // namespace

RowText print_row(const Schema& schema) {
  RowText text;
  Scope scope({"Row"});
  for (const Feature& feature : schema.features) {
    const bool words = has_categories(feature);
    const std::string field =
        scope.take(feature.name, words ? std::vector<std::string>{"_code", "_from_string"}
                                       : std::vector<std::string>{});
    text.fields.push_back({feature.name, field});
    const std::string type = words ? field + "_code" : "float";
    const std::string none = words ? type + "::missing" : "std::numeric_limits<float>::quiet_NaN()";
    text.row += fmt::format("  // {}: {}{}{}.\n  {} {} = {};\n", comment_of(feature.name),
                            to_word(feature.kind), range_of(feature),
                            promise_text(feature, schema.label), type, field, none);
    text.cells +=
        words ? fmt::format("      detail::cell_of(static_cast<std::int32_t>(row.{})),\n", field)
              : fmt::format("      row.{},\n", field);
    if (!words) continue;
    text.enums += print_enum(feature, field);
    text.categories += print_words(feature, field);
    text.from_string += print_from_string(feature, field);
  }
  for (const auto& [role, name] : prediction_columns(schema.beside)) {
    const std::string field = scope.take(name);
    text.fields.push_back({name, field});
    const bool is_exposure = role == Role::exposure;
    text.row += fmt::format(
        "  // {}: the {} of the row; no prediction falls when it rises. {}.\n  float {} = {};\n",
        comment_of(name), to_word(role),
        is_exposure ? "NaN counts as 1, a negative one as 0" : "NaN counts as 0", field,
        is_exposure ? 1 : 0);
    text.cells += fmt::format("      row.{},\n", field);
    if (is_exposure) text.exposure = field;
  }
  return text;
}

}  // namespace espalier
