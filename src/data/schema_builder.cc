// SPDX-License-Identifier: Apache-2.0
#include "data/schema_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "core/math.h"
#include "core/text.h"
#include "data/encode.h"
#include "espalier/error.h"

namespace espalier {

namespace {

// More rows than this are thinned evenly before their values are sorted for keypoints.
constexpr std::size_t kMaxKeypointRows = 1'000'000;

[[noreturn]] void fail(std::string_view message) {
  throw Error(ErrorKind::argument, std::string(message));
}

// The distinct values of a column as words, numbers in order of size; stops after `limit`.
std::vector<std::string> distinct_words(const Column& column, std::size_t limit) {
  if (column.type == ColumnType::category) {
    std::vector<std::string> words = column.words;
    std::sort(words.begin(), words.end());
    return words;
  }
  std::set<float> values;
  for (const float value : column.values()) {
    if (!std::isnan(value)) values.insert(value);
    if (values.size() > limit) break;
  }
  std::vector<std::string> words;
  for (const float value : values) words.push_back(number_word(value));
  return words;
}

// The value that --positive names, in the words of the column: 1.0 may stand for 1.
std::string find_positive(const std::string& positive, const std::vector<std::string>& values,
                          const TrainOptions& options) {
  for (const std::string& value : values) {
    if (value == positive) return value;
  }
  float number = 0;
  const char* end = positive.data() + positive.size();
  const auto parsed = std::from_chars(positive.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end) {
    for (const std::string& value : values) {
      if (value == number_word(number)) return value;
    }
  }
  fail(fmt::format("positive: '{}' is no value of the label '{}'; its values are '{}' and '{}'",
                   positive, options.label, values[0], values[1]));
}

// Names and words go into the header of the model file.
void require_utf8(const Table& table, const Column& column) {
  constexpr const char* kWanted = "is not UTF-8; convert the file first, for example with iconv";
  if (!is_utf8(column.name))
    throw Error(ErrorKind::data, fmt::format("{}: a column name {}", table.name, kWanted));
  for (const auto* words : {&column.words, &column.missing}) {
    if (std::all_of(words->begin(), words->end(), is_utf8)) continue;
    throw Error(ErrorKind::data,
                fmt::format("{}: column '{}': a word {}", table.name, column.name, kWanted));
  }
}

struct Directions {
  std::set<std::string> increasing;
  std::set<std::string> decreasing;
};

void require_feature_names(const std::vector<std::string>& names, std::string_view field,
                           const Table& table, const TrainOptions& options) {
  for (const std::string& name : names) {
    if (name == options.label) fail(fmt::format("{}: '{}' is the label", field, name));
    if (name == options.weight) fail(fmt::format("{}: '{}' is the weight", field, name));
    if (table.find(name) != nullptr) continue;
    std::vector<std::string> columns;
    for (const Column& column : table.columns) columns.push_back(column.name);
    const auto guess = nearest(name, columns);
    fail(fmt::format("{}: {} has no column '{}'{}", field, table.name, name,
                     guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
  }
}

Directions read_directions(const Table& table, const TrainOptions& options) {
  require_feature_names(options.increasing, "increasing", table, options);
  require_feature_names(options.decreasing, "decreasing", table, options);
  Directions directions{{options.increasing.begin(), options.increasing.end()},
                        {options.decreasing.begin(), options.decreasing.end()}};
  for (const std::string& name : directions.increasing) {
    if (directions.decreasing.contains(name))
      fail(fmt::format("'{}' is both increasing and decreasing", name));
  }
  return directions;
}

// "size=S<M<L"
std::map<std::string, std::vector<std::string>> read_orders(const Table& table,
                                                            const TrainOptions& options) {
  std::map<std::string, std::vector<std::string>> orders;
  for (const std::string& text : options.order) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) fail(fmt::format("order: '{}': wanted column=low<...<high", text));
    const std::string name = text.substr(0, equals);
    require_feature_names({name}, "order", table, options);
    std::vector<std::string> words;
    for (std::size_t begin = equals + 1; begin <= text.size();) {
      const std::size_t end = std::min(text.find('<', begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    const std::set<std::string> distinct(words.begin(), words.end());
    if (words.size() < 2 || distinct.size() != words.size() || distinct.contains("")) {
      fail(fmt::format("order: '{}': wanted two or more different words, low<...<high", text));
    }
    if (!orders.emplace(name, std::move(words)).second)
      fail(fmt::format("order: '{}' is given twice", name));
  }
  return orders;
}

void fill_ordered(const Column& column, const Rows& rows, const std::vector<std::string>& words,
                  const Table& table, Feature& feature) {
  feature.kind = FeatureKind::ordered;
  feature.words = words;
  for (const std::uint32_t row : rows) {
    const std::string word = word_at(column, row);
    if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) continue;
    throw Error(ErrorKind::data,
                fmt::format("{}: column '{}': row {}: '{}' is not in its order {}", table.name,
                            column.name, row + 1, word, fmt::join(words, "<")));
  }
}

// The words of the training rows, the heaviest first; the rarest pooled beyond max_categories.
void fill_category(const Column& column, const Rows& rows, const std::vector<float>& weights,
                   int max_categories, Feature& feature) {
  feature.kind = FeatureKind::category;
  std::vector<double> totals(column.words.size() + 1, 0.0);  // the last is "missing"
  std::vector<bool> seen(totals.size(), false);
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = column.codes[rows[i]];
    const std::size_t c =
        code == kMissingCode ? column.words.size() : static_cast<std::size_t>(code);
    const double weight = weights.empty() ? 1.0 : weights[i];
    totals[c] += weight;
    total += weight;
    seen[c] = true;
  }
  const auto word = [&](std::size_t c) {
    return c < column.words.size() ? column.words[c] : std::string();
  };
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < totals.size(); ++c) {
    if (seen[c]) order.push_back(c);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return totals[a] != totals[b] ? totals[a] > totals[b] : word(a) < word(b);
  });
  const auto limit = static_cast<std::size_t>(max_categories);
  feature.pools_rare = order.size() > limit;
  double rare = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (feature.pools_rare && i + 1 >= limit) {
      rare += totals[order[i]];
      continue;
    }
    feature.words.push_back(word(order[i]));
    feature.shares.push_back(static_cast<float>(totals[order[i]] / total));
  }
  if (feature.pools_rare) {
    feature.words.emplace_back("(rare)");
    feature.shares.push_back(static_cast<float>(rare / total));
  }
  // Shares are weights of a mean; a column whose seen words all weigh nothing gets equal ones.
  if (!(total > 0)) std::fill(feature.shares.begin(), feature.shares.end(), 1.0f);
}

// What the training rows of a column hold: nothing, one value only, or more.
struct Content {
  bool any_value = false;
  bool any_missing = false;
  bool varies = false;
};

Content content_of(const Column& column, const Rows& rows) {
  Content content;
  bool first = true;
  float first_number = 0;
  std::int32_t first_code = 0;
  for (const std::uint32_t row : rows) {
    const bool is_number = column.type == ColumnType::number;
    const float number = is_number ? column.values()[row] : 0;
    const std::int32_t code = is_number ? 0 : column.codes[row];
    if (std::isnan(number) || code == kMissingCode) {
      content.any_missing = true;
      continue;
    }
    if (first) {
      first_number = number;
      first_code = code;
      first = false;
    }
    if (number != first_number || code != first_code) content.varies = true;
    content.any_value = true;
    if (content.varies && content.any_missing) break;
  }
  return content;
}

// The finite values of the training rows of a number or ordered feature, sorted.
std::vector<float> sorted_values(const Feature& feature, const Column& column, const Rows& rows) {
  std::vector<float> values;
  const std::size_t step = rows.size() / kMaxKeypointRows + 1;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    float value;
    if (feature.kind == FeatureKind::ordered) {
      const auto word =
          std::find(feature.words.begin(), feature.words.end(), word_at(column, rows[i]));
      if (word == feature.words.end()) continue;
      value = static_cast<float>(word - feature.words.begin());
    } else {
      value = column.values()[rows[i]];
    }
    if (std::isfinite(value)) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<float> evenly_among(const std::vector<float>& sorted, int count) {
  std::vector<float> picked;
  const std::size_t n = sorted.size(), k = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < k; ++i)
    picked.push_back(sorted[(2 * i * (n - 1) + (k - 1)) / (2 * (k - 1))]);
  return picked;
}

std::vector<float> uniformly_over(double lo, double hi, int count) {
  std::vector<float> picked;
  for (int i = 0; i < count; ++i)
    picked.push_back(static_cast<float>(lo + (hi - lo) * i / (count - 1)));
  return picked;
}

std::vector<float> choose_keypoints(const KeypointPlan& plan, const std::vector<float>& sorted) {
  if (plan.range) return uniformly_over(plan.range->lo, plan.range->hi, plan.count);
  const float lo = sorted.front(), hi = sorted.back();
  if (lo == hi)
    return {lo, std::nextafter(lo + std::abs(lo) + 1, std::numeric_limits<float>::infinity())};
  if (plan.mode == Keypoints::uniform) return uniformly_over(lo, hi, plan.count);
  std::vector<float> values;
  std::ranges::unique_copy(sorted, std::back_inserter(values));
  if (values.size() <= static_cast<std::size_t>(plan.count)) return values;
  return evenly_among(
      plan.mode == Keypoints::quantile ? sorted : values,
      plan.continuous_count > 0 ? std::min(plan.continuous_count, plan.count) : plan.count);
}

}  // namespace

Label build_label(const Table& table, const TrainOptions& options) {
  if (options.label.empty()) fail("label: which column is to be predicted?");
  const Column& column = require_column(table, options.label);
  if (options.weight == options.label)
    fail(fmt::format("weight: '{}' is the label", options.label));
  Label label{
      .name = options.label, .task = options.task, .is_number = column.type == ColumnType::number};
  label.missing = column.missing;
  const std::vector<std::string> values = distinct_words(column, 2);
  const std::string place = fmt::format("{}: label '{}'", table.name, options.label);
  if (values.empty()) throw Error(ErrorKind::data, place + " is missing in every row");
  if (label.task == Task::automatic) {
    label.task = values.size() == 2 || !label.is_number ? Task::classification : Task::regression;
    if (values.size() == 1) label.task = Task::classification;
  }
  if (label.task == Task::regression) {
    if (!label.is_number) {
      throw Error(
          ErrorKind::data,
          fmt::format("{} has words such as '{}'; regression wants numbers", place, values[0]));
    }
    if (!options.positive.empty()) fail("positive: regression has no positive class");
    return label;
  }
  if (values.size() == 1) {
    throw Error(
        ErrorKind::data,
        fmt::format("{} has one value only, '{}'; classification wants two", place, values[0]));
  }
  if (values.size() > 2) {
    throw Error(
        ErrorKind::data,
        fmt::format("{} has more than two values ('{}', '{}', '{}', ...); classification wants two",
                    place, values[0], values[1], values[2]));
  }
  label.positive =
      options.positive.empty() ? values[1] : find_positive(options.positive, values, options);
  label.negative = label.positive == values[1] ? values[0] : values[1];
  return label;
}

std::vector<Feature> build_features(const Table& table, const TrainOptions& options,
                                    const Rows& rows, const Warning& warn) {
  const Directions directions = read_directions(table, options);
  const auto orders = read_orders(table, options);
  const std::vector<float> weights = encode_weights(options.weight, table, rows);
  std::vector<Feature> features;
  for (const Column& column : table.columns) {
    require_utf8(table, column);
    if (column.name == options.label || column.name == options.weight) continue;
    Feature feature{.name = column.name, .missing = column.missing};
    const bool increasing = directions.increasing.contains(column.name);
    const bool decreasing = directions.decreasing.contains(column.name);
    if (increasing) feature.monotonicity = Monotonicity::increasing;
    if (decreasing) feature.monotonicity = Monotonicity::decreasing;
    const auto order = orders.find(column.name);
    if (column.type == ColumnType::category && order == orders.end() &&
        (increasing || decreasing)) {
      fail(fmt::format(
          "{}: '{}' is a category without an order; wanted a number, or --order '{}=low<...<high'",
          to_word(feature.monotonicity), column.name, column.name));
    }
    const Content content = content_of(column, rows);
    if (!content.varies && !(content.any_value && content.any_missing)) {
      warn(fmt::format("column '{}' is ignored: {}", column.name,
                       content.any_value ? "it has the same value in every training row"
                                         : "all its cells are missing"));
      continue;
    }
    if (order != orders.end()) {
      fill_ordered(column, rows, order->second, table, feature);
    } else if (column.type == ColumnType::category) {
      fill_category(column, rows, weights, options.max_categories, feature);
    }
    if (feature.kind != FeatureKind::category) feature.learns_missing = content.any_missing;
    features.push_back(std::move(feature));
  }
  if (features.empty())
    throw Error(ErrorKind::data, fmt::format("{}: no column is left to predict from", table.name));
  return features;
}

void fit_keypoints(const KeypointPlan& plan, const Table& table, const Rows& rows,
                   std::vector<Feature>& features) {
  for (Feature& feature : features) {
    if (feature.kind == FeatureKind::category) continue;
    const std::vector<float> values =
        sorted_values(feature, require_column(table, feature.name), rows);
    if (values.empty()) {
      throw Error(ErrorKind::data,
                  fmt::format("{}: column '{}' has no finite value", table.name, feature.name));
    }
    feature.typical = values[(values.size() - 1) / 2];
    feature.learns_missing = feature.learns_missing && plan.learn_missing;
    feature.keypoints =
        feature.kind == FeatureKind::ordered
            ? uniformly_over(0, static_cast<double>(feature.words.size() - 1),
                             plan.learn_missing ? static_cast<int>(feature.words.size()) : 2)
            : choose_keypoints(plan, values);
    // Quantiles repeat where many rows share a value, and uniform steps may be too small for
    // floats.
    auto& points = feature.keypoints;
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }
}

void fit_label(const Dataset& train, Label& label) {
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    total += train.weight(i);
    sum += static_cast<double>(train.weight(i)) * train.labels[i];
  }
  const double mean = sum / total;
  if (label.task == Task::classification) {
    const double share = std::clamp(mean, 1e-6, 1 - 1e-6);
    label.offset = static_cast<float>(portable_log(share / (1 - share)));
    return;
  }
  double squares = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    const double d = train.labels[i] - mean;
    squares += train.weight(i) * d * d;
  }
  const double deviation = std::sqrt(squares / total);
  label.offset = static_cast<float>(mean);
  label.scale = deviation > 0 ? static_cast<float>(deviation) : 1.0f;
}

}  // namespace espalier
