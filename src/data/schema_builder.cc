// SPDX-License-Identifier: Apache-2.0
#include "data/schema_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>

#include "core/math.h"
#include "core/text.h"
#include "data/column_wishes.h"
#include "data/csv_cell.h"
#include "data/encode.h"
#include "data/word_index.h"
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
  std::set<double> values;
  for (std::size_t row = 0; row < column.values().size() && values.size() <= limit; ++row) {
    if (const double value = column.number(row); !std::isnan(value)) values.insert(value);
  }
  std::vector<std::string> words;
  for (const double value : values) words.push_back(number_word(column, value));
  return words;
}

// The value that --positive names, in the words of the column: 1.0 may stand for 1.
std::string find_positive(const std::string& positive, const std::vector<std::string>& values,
                          const TrainOptions& options) {
  for (const std::string& value : values) {
    if (value == positive) return value;
  }
  Number wanted, number;
  if (parse_number(positive, wanted)) {
    for (const std::string& value : values) {
      if (parse_number(value, number) && number.exact == wanted.exact) return value;
    }
  }
  fail(fmt::format("positive: '{}' is no value of the label '{}'; its values are '{}' and '{}'",
                   printable(positive), printable(options.label), printable(values[0]),
                   printable(values[1])));
}

// Whether a word begins as a date does: digits in three parts with the same - / or . between them,
// one of the outer parts a year of four digits.
bool is_date(std::string_view word) {
  std::size_t sizes[3] = {}, part = 0;
  char separator = 0;
  for (const char c : word) {
    if (c >= '0' && c <= '9') {
      ++sizes[part];
    } else if (part < 2 && (part == 0 ? c == '-' || c == '/' || c == '.' : c == separator)) {
      separator = c;
      ++part;
    } else if (part == 2 && (c == ' ' || c == 'T')) {
      break;  // and a time
    } else {
      return false;
    }
  }
  const auto is_short = [](std::size_t size) { return size == 1 || size == 2; };
  return part == 2 && is_short(sizes[1]) &&
         ((sizes[0] == 4 && is_short(sizes[2])) || (is_short(sizes[0]) && sizes[2] == 4));
}

// Names and words go into the header of the model file.
void require_utf8(const Table& table, const Column& column) {
  constexpr const char* kWanted = "is not UTF-8; convert the file first, for example with iconv";
  if (!is_utf8(column.name))
    throw Error(ErrorKind::data, fmt::format("{}: a column name {}", table.name, kWanted));
  for (const auto* words : {&column.words, &column.missing, &column.not_missing}) {
    if (std::all_of(words->begin(), words->end(), is_utf8)) continue;
    throw Error(ErrorKind::data, fmt::format("{}: column '{}': a word {}", table.name,
                                             printable(column.name), kWanted));
  }
}

// The place of each cell in the order of a feature's words; NaN for a missing one.
class OrderedCells {
 public:
  OrderedCells(const Feature& feature, const Column& column) : words_(feature), column_(column) {
    for (const std::string& word : column.words) by_code_.push_back(place(word));
  }

  float operator[](std::size_t row) const {
    if (column_.type == ColumnType::number) return place(word_at(column_, row));
    const std::int32_t code = column_.codes[row];
    return code == kMissingCode ? kNan : by_code_[static_cast<std::size_t>(code)];
  }

 private:
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  float place(const std::string& word) const {
    const auto found = words_.find(word);
    return found ? static_cast<float>(*found) : kNan;
  }

  FeatureWords words_;
  const Column& column_;
  std::vector<float> by_code_;
};

void fill_ordered(const Column& column, const Rows& rows, const std::vector<std::string>& words,
                  const Table& table, Feature& feature) {
  feature.kind = FeatureKind::ordered;
  feature.words = words;
  const OrderedCells cells(feature, column);
  for (const std::uint32_t row : rows) {
    if (!std::isnan(cells[row])) continue;
    const std::string word = word_at(column, row);
    if (word.empty()) continue;
    throw Error(ErrorKind::data,
                fmt::format("{}: column '{}': row {}: '{}' is not in its order {}", table.name,
                            printable(column.name), row + 1, printable(word),
                            printable(fmt::format("{}", fmt::join(words, "<")))));
  }
}

// The words of the training rows, the heaviest first; the rarest pooled beyond max_categories.
void fill_category(const Column& column, const Rows& rows, const std::vector<float>& weights,
                   int max_categories, Feature& feature) {
  feature.kind = FeatureKind::category;
  WordIndex index;                // 1 and 1.0 are one word
  std::vector<std::size_t> same;  // by code
  for (const std::string& each : column.words)
    same.push_back(static_cast<std::size_t>(index.index_of(shortest_plain(each))));
  const std::vector<std::string> words = index.take_words();
  std::vector<double> totals(words.size() + 1, 0.0);  // the last is "missing"
  std::vector<bool> seen(totals.size(), false);
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = column.codes[rows[i]];
    const std::size_t c =
        code == kMissingCode ? words.size() : same[static_cast<std::size_t>(code)];
    const double weight = weights.empty() ? 1.0 : weights[i];
    totals[c] += weight;
    total += weight;
    seen[c] = true;
  }
  const auto word = [&](std::size_t c) { return c < words.size() ? words[c] : std::string(); };
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
  bool is_blurred = false;  // numbers that differ are the same as floats
};

bool has_blurred_numbers(const Column& column, const Rows& rows) {
  std::unordered_map<float, double> first;
  for (const std::uint32_t row : rows) {
    const float rounded = column.values()[row];
    if (std::isnan(rounded)) continue;
    if (first.emplace(rounded, column.exact[row]).first->second != column.exact[row]) return true;
  }
  return false;
}

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
  content.is_blurred = !column.exact.empty() && has_blurred_numbers(column, rows);
  return content;
}

std::string_view why_ignored(const Content& content) {
  if (!content.any_value) return "all its cells are missing";
  return content.is_blurred
             ? "its numbers differ by less than 32-bit floats can tell; subtract a constant to "
               "tell them apart"
             : "it has the same value in every training row";
}

// The finite values of the training rows of a number or ordered feature, sorted.
std::vector<float> sorted_values(const Feature& feature, const Column& column, const Rows& rows) {
  std::vector<float> values;
  const std::size_t step = rows.size() / kMaxKeypointRows + 1;
  const auto add_all = [&](const auto& cells) {
    for (std::size_t i = 0; i < rows.size(); i += step) {
      if (const float value = cells[rows[i]]; std::isfinite(value)) values.push_back(value);
    }
  };
  if (feature.kind == FeatureKind::ordered) {
    add_all(OrderedCells(feature, column));
  } else {
    add_all(column.values());
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
  label.not_missing = column.not_missing;
  const std::vector<std::string> values = distinct_words(column, 2);
  const std::string place = fmt::format("{}: label '{}'", table.name, printable(options.label));
  if (values.empty()) throw Error(ErrorKind::data, place + " is missing in every row");
  for (const std::string& value : values) {
    Number number;
    if (label.is_number && parse_number(value, number) && !std::isfinite(number.rounded))
      throw Error(ErrorKind::data, fmt::format("{}: {}", place, not_a_label(number.exact)));
  }
  if (!label.is_number && std::all_of(values.begin(), values.end(), is_date)) {
    throw Error(ErrorKind::data,
                fmt::format("{} has dates such as '{}'; wanted numbers or two classes", place,
                            printable(values[0])));
  }
  if (label.task == Task::automatic) {
    label.task = values.size() == 2 || !label.is_number ? Task::classification : Task::regression;
    if (values.size() == 1) label.task = Task::classification;
  }
  if (label.task == Task::regression) {
    if (!label.is_number) {
      throw Error(ErrorKind::data,
                  fmt::format("{} has words such as '{}'; regression wants numbers", place,
                              printable(values[0])));
    }
    if (!options.positive.empty()) fail("positive: regression has no positive class");
    return label;
  }
  if (values.size() == 1) {
    throw Error(ErrorKind::data,
                fmt::format("{} has one value only, '{}'; classification wants two", place,
                            printable(values[0])));
  }
  if (values.size() > 2) {
    throw Error(
        ErrorKind::data,
        fmt::format("{} has more than two values ('{}', '{}', '{}', ...); classification wants two",
                    place, printable(values[0]), printable(values[1]), printable(values[2])));
  }
  label.positive =
      options.positive.empty() ? values[1] : find_positive(options.positive, values, options);
  label.negative = label.positive == values[1] ? values[0] : values[1];
  return label;
}

std::vector<Feature> build_features(const Table& table, const TrainOptions& options,
                                    const Rows& rows, const Warning& warn) {
  const ColumnIndex columns(table);
  const Directions directions = read_directions(table, columns, options);
  const Orders orders = read_orders(table, columns, options);
  const std::vector<float> weights = encode_weights(options.weight, table, rows);
  std::vector<Feature> features;
  for (const Column& column : table.columns) {
    require_utf8(table, column);
    if (column.name == options.label || column.name == options.weight) continue;
    Feature feature{
        .name = column.name, .missing = column.missing, .not_missing = column.not_missing};
    const auto direction = directions.find(column.name);
    if (direction != directions.end()) feature.monotonicity = direction->second;
    const auto order = orders.find(column.name);
    if (column.type == ColumnType::category && order == orders.end() &&
        direction != directions.end()) {
      fail(
          fmt::format("{0}: '{1}' is a category without an order; wanted a number, or --order "
                      "'{1}=low<...<high'",
                      to_word(feature.monotonicity), printable(column.name)));
    }
    const Content content = content_of(column, rows);
    if (!content.varies && !(content.any_value && content.any_missing)) {
      warn(fmt::format("column '{}' is ignored: {}", printable(column.name), why_ignored(content)));
      continue;
    }
    if (content.is_blurred) {
      warn(
          fmt::format("column '{}': some of its numbers differ by less than 32-bit floats can "
                      "tell and count as the same; subtract a constant to tell them apart",
                      printable(column.name)));
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
  const ColumnIndex columns(table);
  for (Feature& feature : features) {
    if (feature.kind == FeatureKind::category) continue;
    const std::vector<float> values = sorted_values(feature, columns.require(feature.name), rows);
    if (values.empty()) {
      throw Error(ErrorKind::data, fmt::format("{}: column '{}' has no finite value", table.name,
                                               printable(feature.name)));
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
  if (deviation > 0 && deviation < std::numeric_limits<float>::min()) {
    throw Error(
        ErrorKind::data,
        fmt::format("label '{}': its values differ by about {:.3g}, which is too little for "
                    "32-bit floats; multiply them by a constant",
                    label.name, deviation));
  }
  label.scale = deviation > 0 ? static_cast<float>(deviation) : 1.0f;
  // The nearest float does, unless it is off by a share of the deviation that one could notice.
  const auto rounded = static_cast<float>(mean);
  label.offset = std::abs(rounded - mean) <= deviation / 1024 ? rounded : mean;
}

}  // namespace espalier
