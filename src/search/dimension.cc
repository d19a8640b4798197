// SPDX-License-Identifier: Apache-2.0
#include "search/dimension.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/math.h"
#include "core/text.h"
#include "espalier/error.h"
#include "espalier/options.h"
#include "search/shape.h"

namespace espalier {

namespace {

using Strings = std::vector<std::string>;

// Fields that say what is learned or how it is evaluated, not how well; and trees, which are grown
// when the search is over.
constexpr std::string_view kNotSearched[] = {
    "task",        "max_categories", "class_weight", "metric",  "valid_fraction",
    "ensemble",    "patience",       "seed",         "threads", "trees",
    "tree_leaves", "tree_rate",      "tree_share"};

// How many of the pairs of columns that were found are used.
constexpr Field kPairs = {"pairs", "how many pairs of columns", 0, 1000};

bool contains(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

template <class Options>
void collect(const Options& options, std::vector<Searchable>& all) {
  visit_fields(options, [&](const Field& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    const std::string_view name = field.name;
    if (contains(kNotSearched, name)) return;
    if constexpr (std::is_enum_v<Value>) {
      const auto& list = Words<Value>::list;
      Strings words(std::begin(list), std::end(list));
      std::erase(words, "auto");
      all.push_back({field, false, false, std::move(words)});
    } else if constexpr (is_auto<Value>) {
      all.push_back({field, true, std::is_integral_v<typename Value::Value>, {}});
    } else if constexpr (std::is_arithmetic_v<Value>) {
      all.push_back({field, true, std::is_integral_v<Value>, {}});
    } else if (name == "architecture") {
      all.push_back({field, false, false, {}});
    }
  });
}

const std::vector<Searchable>& searchables() {
  static const std::vector<Searchable> all = [] {
    std::vector<Searchable> list;
    collect(TrainOptions(), list);
    collect(Shape(), list);
    list.push_back({kPairs, true, true, {}});
    return list;
  }();
  return all;
}

// The parts between colons that are not within brackets.
Strings split(std::string_view text) {
  Strings parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') depth = std::max(0, depth - 1);
    if (c == ':' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

double parse_bound(const std::string& text, const Searchable& setting) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end && std::isfinite(value);
  const Field& field = setting.field;
  if (!is_number || (setting.whole && value != std::trunc(value))) {
    fail_search(
        fmt::format("{}: '{}' is not a {}number", field.name, text, setting.whole ? "whole " : ""));
  }
  if (!field.takes(value)) {
    fail_search(
        fmt::format("{}: {} is not between {} and {}", field.name, text, field.min, field.max));
  }
  return value;
}

void parse_range(const Strings& parts, const Searchable& setting, Dimension& dimension) {
  const bool logarithmic = parts.size() == 3 && parts[2] == "log";
  if (parts.size() != 2 && !logarithmic) {
    fail_search(fmt::format("{}: '{}' is no range; wanted low:high or low:high:log", dimension.name,
                            fmt::join(parts, ":")));
  }
  dimension.low = parse_bound(parts[0], setting);
  dimension.high = parse_bound(parts[1], setting);
  dimension.logarithmic = logarithmic;
  if (dimension.low > dimension.high) {
    fail_search(fmt::format("{}: the range {}:{} begins above its end", dimension.name, parts[0],
                            parts[1]));
  }
  if (logarithmic && dimension.low <= 0) {
    fail_search(
        fmt::format("{}: a logarithmic range begins above 0, not at {}", dimension.name, parts[0]));
  }
}

void check_words(const Dimension& dimension, const Searchable& setting) {
  for (const std::string& word : dimension.words) {
    const bool known = setting.words.empty()
                           ? !word.empty()
                           : std::ranges::find(setting.words, word) != setting.words.end();
    if (known) continue;
    fail_search(fmt::format(
        "{}: '{}' is not one of {}", dimension.name, word,
        setting.words.empty() ? "the presets" : fmt::to_string(fmt::join(setting.words, ", "))));
  }
}

}  // namespace

void fail_search(const std::string& message) {
  throw Error(ErrorKind::argument, "search: " + message);
}

const Searchable& find_searchable(const std::string& name) {
  Strings names;
  for (const Searchable& one : searchables()) {
    if (one.field.name == name) return one;
    names.emplace_back(one.field.name);
  }
  const std::optional<std::string> meant = nearest(name, names);
  fail_search(fmt::format("'{}' is no setting that can be searched{}", name,
                          meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

double few_digits(double value) {
  const std::string text = fmt::format("{:.3g}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Json number_of(const Dimension& dimension, double value) {
  if (dimension.whole) return static_cast<std::int64_t>(value);
  return value;
}

Json draw_from(const Dimension& dimension, Random& random) {
  const double share = random.uniform();
  if (!dimension.words.empty()) {
    const auto count = static_cast<double>(dimension.words.size());
    return dimension.words[static_cast<std::size_t>(share * count)];
  }
  const double low = dimension.low, high = dimension.high;
  double value = low + share * (high - low);
  if (dimension.logarithmic)
    value = low * portable_exp(share * (portable_log(high) - portable_log(low)));
  else if (dimension.whole)
    value = std::floor(low + share * (high - low + 1));
  value = dimension.whole ? std::round(value) : few_digits(value);
  return number_of(dimension, std::clamp(value, low, high));
}

Dimension parse_dimension(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) {
    fail_search(
        fmt::format("'{}': wanted name=low:high, name=low:high:log or name=word:word", text));
  }
  Dimension dimension{.name = text.substr(0, equals)};
  const Searchable& setting = find_searchable(dimension.name);
  dimension.whole = setting.whole;
  const Strings parts = split(std::string_view(text).substr(equals + 1));
  if (setting.is_number) {
    parse_range(parts, setting, dimension);
  } else {
    dimension.words = parts;
    check_words(dimension, setting);
  }
  return dimension;
}

std::string to_string(const Dimension& dimension) {
  if (!dimension.words.empty())
    return fmt::format("{}={}", dimension.name, fmt::join(dimension.words, ":"));
  return fmt::format("{}={}:{}{}", dimension.name, dimension.low, dimension.high,
                     dimension.logarithmic ? ":log" : "");
}

}  // namespace espalier
