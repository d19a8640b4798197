// SPDX-License-Identifier: Apache-2.0
#include "objective/label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/text.h"
#include "csv/cell.h"
#include "encode/column_options.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {

namespace {

[[noreturn]] void fail(std::string_view message) {
  throw Error(ErrorKind::argument, std::string(message));
}

// Why an infinite number, or one outside the range of floats, cannot be a label.
std::string not_a_label(double value) {
  return fmt::format("{} is no label; wanted {}", value,
                     std::isinf(value) ? "a finite number" : "a number that a 32-bit float holds");
}

// The distinct values of a column in some rows as text, without missing values; numbers in
// increasing order. Numbers stop after `limit` values.
std::vector<std::string> distinct_words(const Column& column, const Rows& rows, std::size_t limit) {
  if (column.type == ColumnType::category) {
    std::vector<char> is_there(column.categories.size());
    for (const std::uint64_t row : rows)
      is_there[static_cast<std::size_t>(column.category_codes()[row])] = 1;
    std::vector<std::string> categories;
    for (std::size_t code = 0; code < is_there.size(); ++code) {
      if (is_there[code] != 0) categories.push_back(column.categories[code]);
    }
    std::sort(categories.begin(), categories.end());
    return categories;
  }
  std::set<double> values;
  for (const std::uint64_t row : rows) {
    values.insert(column.number(row));
    if (values.size() > limit) break;
  }
  std::vector<std::string> categories;
  for (const double value : values) categories.push_back(number_text(column, value));
  return categories;
}

// The first category that is not a number, or the first of all.
const std::string& word_among_numbers(const std::vector<std::string>& categories) {
  const auto is_number = [](const std::string& category) {
    Number number;
    return parse_number(category, number);
  };
  const auto found = std::find_if_not(categories.begin(), categories.end(), is_number);
  return found != categories.end() ? *found : categories.front();
}

// The value of the column that an option names: 1.0 may stand for 1. Null if there is none.
const std::string* find_value(const std::string& text, const std::vector<std::string>& values) {
  const auto same = std::ranges::find(values, text);
  if (same != values.end()) return &*same;
  Number wanted, number;
  if (!parse_number(text, wanted)) return nullptr;
  const auto equal = std::ranges::find_if(values, [&](const std::string& value) {
    return parse_number(value, number) && number.exact == wanted.exact;
  });
  return equal != values.end() ? &*equal : nullptr;
}

// Whether text looks like a date: three groups of digits separated by the same - / or . with a year
// of four digits first or last.
bool is_date(std::string_view category) {
  std::size_t sizes[3] = {}, part = 0;
  char separator = 0;
  for (const char c : category) {
    if (c >= '0' && c <= '9') {
      ++sizes[part];
    } else if (part < 2 && (part == 0 ? c == '-' || c == '/' || c == '.' : c == separator)) {
      separator = c;
      ++part;
    } else if (part == 2 && (c == ' ' || c == 'T')) {
      break;  // a time follows
    } else {
      return false;
    }
  }
  const auto is_short = [](std::size_t size) { return size == 1 || size == 2; };
  return part == 2 && is_short(sizes[1]) &&
         ((sizes[0] == 4 && is_short(sizes[2])) || (is_short(sizes[0]) && sizes[2] == 4));
}

// Maps values to classes.
class ClassFinder {
 public:
  ClassFinder(const Label& label, const Column& column)
      : column_(column), by_number_(label.is_number && column.type == ColumnType::number) {
    std::vector<Number> numbers(label.classes.size());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      categories_.emplace(label.classes[c], c);
      if (by_number_) parse_number(label.classes[c], numbers[c]);
    }
    if (!by_number_) return;
    // Older model files have classes rounded to floats, so doubles decide only if floats cannot.
    std::set<float> rounded;
    for (const Number& number : numbers) rounded.insert(number.rounded);
    rounds_ = rounded.size() == numbers.size();
    for (std::size_t c = 0; c < numbers.size(); ++c) values_.emplace(key_of(numbers[c].exact), c);
  }

  std::optional<std::size_t> operator()(std::size_t row) const {
    return by_number_ ? found(values_, key_of(column_.number(row)))
                      : found(categories_, text_at(column_, row));
  }

 private:
  double key_of(double value) const { return rounds_ ? static_cast<float>(value) : value; }

  template <class Index, class Key>
  static std::optional<std::size_t> found(const Index& index, const Key& key) {
    const auto entry = index.find(key);
    return entry == index.end() ? std::nullopt : std::optional(entry->second);
  }

  const Column& column_;
  bool by_number_;
  bool rounds_ = false;
  std::unordered_map<double, std::size_t> values_;
  std::unordered_map<std::string, std::size_t> categories_;
};

[[noreturn]] void fail_class(const Label& label, const Table& table, const Column& column,
                             std::size_t row) {
  std::vector<std::string> quoted;
  for (const std::string& category : label.classes)
    quoted.push_back(fmt::format("'{}'", printable(category)));
  const std::string wanted = quoted.size() == 2
                                 ? fmt::format("neither {} nor {}", quoted[0], quoted[1])
                                 : fmt::format("none of {}", fmt::join(quoted, ", "));
  fail_column(table, label.name,
              fmt::format("row {}: '{}' is {}", row + 1, printable(text_at(column, row)), wanted));
}

// The loss, as far as the options determine it without contradictions.
Loss wanted_loss(const TrainOptions& options) {
  Loss loss = options.loss;
  const auto imply = [&](bool given, const char* option, Loss implied) {
    if (!given) return;
    if (loss != Loss::automatic && loss != implied)
      fail(fmt::format("{}: does not go with the loss {}", option, to_word(loss)));
    loss = implied;
  };
  imply(!options.quantile.empty(), "quantile", Loss::quantile);
  imply(!options.grades.empty(), "grades", Loss::log_loss);
  imply(options.task == Task::classification, "task: classification", Loss::log_loss);
  if (options.task == Task::regression && loss == Loss::log_loss)
    fail(fmt::format("task: regression does not go with {}",
                     options.grades.empty() ? "the loss log_loss" : "grades"));
  if (options.task == Task::regression && loss == Loss::automatic) loss = Loss::squared_error;
  if (loss == Loss::quantile && options.quantile.empty())
    fail("quantile: which one is to be predicted? wanted one or some between 0 and 1");
  if (!options.exposure.empty() && loss != Loss::poisson && loss != Loss::tweedie)
    fail("exposure: wanted the loss poisson or tweedie");
  return loss;
}

std::vector<double> read_quantiles(const std::vector<double>& quantiles) {
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    if (!(quantiles[i] > 0 && quantiles[i] < 1))
      fail(fmt::format("quantile: {} is not between 0 and 1", quantiles[i]));
    if (i > 0 && quantiles[i - 1] >= quantiles[i])
      fail(fmt::format("quantile: {} after {}; wanted them in rising order", quantiles[i],
                       quantiles[i - 1]));
  }
  return quantiles;
}

double power_of(const TrainOptions& options, Loss loss) {
  if (loss == Loss::poisson) return 1;
  if (loss == Loss::gamma) return 2;
  if (loss != Loss::tweedie) return 0;
  if (options.power > 1 && options.power < 2) return options.power;
  fail(fmt::format("power: {} is not between 1 and 2; 1 is the loss poisson, 2 is gamma",
                   options.power));
}

// The grades as the values of the column.
std::vector<std::string> read_grades(const TrainOptions& options, const Label& label,
                                     const std::vector<std::string>& values) {
  std::vector<std::string> grades = split_order(options.grades);
  if (grades.size() < 3 || grades.size() > kMaxClasses || !are_distinct(grades)) {
    fail(fmt::format(
        "grades: '{}': wanted 3 to {} different words, low<...<high{}", printable(options.grades),
        kMaxClasses,
        grades.size() == 2 ? "; two are classes, and --positive names the upper one" : ""));
  }
  for (std::string& grade : grades) {
    if (means_missing(grade, label.missing, label.not_missing)) {
      fail(
          fmt::format("grades: '{}' means a missing cell; if it is a grade, say so with "
                      "not_missing",
                      printable(grade)));
    }
    if (const std::string* value = find_value(grade, values)) grade = *value;
  }
  return grades;
}

void read_classes(const TrainOptions& options, const std::string& place,
                  const std::vector<std::string>& values, Label& label) {
  if (values.size() == 1) {
    throw Error(ErrorKind::data,
                fmt::format("{} has one value only, '{}'; classification wants two classes", place,
                            printable(values[0])));
  }
  if (!options.grades.empty()) {
    if (!options.positive.empty()) fail("positive: grades have no positive class");
    label.classes = read_grades(options, label, values);
    label.ordered = true;
    return;
  }
  if (values.size() > kMaxClasses) {
    throw Error(ErrorKind::data,
                fmt::format("{} has more than {} values ('{}', '{}', '{}', ...); classification "
                            "wants fewer",
                            place, kMaxClasses, printable(values[0]), printable(values[1]),
                            printable(values[2])));
  }
  label.classes = values;
  if (options.positive.empty()) return;
  if (values.size() > 2) fail("positive: wanted a label with two values");
  const std::string* positive = find_value(options.positive, values);
  if (positive == nullptr) {
    fail(fmt::format("positive: '{}' is no value of the label '{}'; its values are '{}' and '{}'",
                     printable(options.positive), printable(options.label), printable(values[0]),
                     printable(values[1])));
  }
  if (*positive == values[0]) std::swap(label.classes[0], label.classes[1]);
}

// Why a number is not a valid label; empty if it is valid.
std::string problem_of(const Label& label, double value) {
  if (!std::isfinite(static_cast<float>(value))) return not_a_label(value);
  const bool fits = label.loss == Loss::gamma ? value > 0 : value >= 0;
  if (!label.has_log_link() || fits) return {};
  return fmt::format("{} is no label of the loss {}; wanted {}", value, to_word(label.loss),
                     label.loss == Loss::gamma ? "more than 0" : "0 or more");
}

}  // namespace

Label build_label(const Table& table, const TrainOptions& options) {
  if (options.label.empty()) fail("label: which column is to be predicted?");
  const Column& column = require_column(table, options.label);
  Label label{.name = options.label,
              .loss = wanted_loss(options),
              .is_number = column.type == ColumnType::number};
  label.missing = column.missing;
  label.not_missing = column.not_missing;
  const Rows rows = labelled_rows(label, table, weighted_rows(table, options.weight));
  const std::vector<std::string> values = distinct_words(column, rows, kMaxClasses);
  const std::string place = fmt::format("{}: label '{}'", table.name, printable(options.label));
  if (values.empty()) throw Error(ErrorKind::data, place + " is missing in every row");
  for (const std::string& value : values) {
    Number number;
    if (label.is_number && parse_number(value, number) && !std::isfinite(number.rounded))
      throw Error(ErrorKind::data, fmt::format("{}: {}", place, not_a_label(number.exact)));
  }
  if (!label.is_number && std::all_of(values.begin(), values.end(), is_date)) {
    throw Error(ErrorKind::data, fmt::format("{} has dates such as '{}'; wanted numbers or classes",
                                             place, printable(values[0])));
  }
  if (label.loss == Loss::automatic)
    label.loss = values.size() <= 2 || !label.is_number ? Loss::log_loss : Loss::squared_error;
  if (label.loss == Loss::log_loss) {
    read_classes(options, place, values, label);
    if (label.has_many_classes() && !options.offset.empty())
      fail("offset: it cancels among classes without an order");
    label.offsets.resize(label.num_scores());
    return label;
  }
  if (!label.is_number) {
    throw Error(ErrorKind::data,
                fmt::format("{} has words such as '{}'; {} wants numbers", place,
                            printable(word_among_numbers(values)),
                            options.loss == Loss::automatic ? "regression" : to_word(label.loss)));
  }
  if (!options.positive.empty()) fail("positive: regression has no positive class");
  label.quantiles = read_quantiles(options.quantile);
  label.power = power_of(options, label.loss);
  label.offsets.resize(label.num_scores());
  return label;
}

Rows labelled_rows(const Label& label, const Table& table) {
  return labelled_rows(label, table, all_rows(table));
}

Rows labelled_rows(const Label& label, const Table& table, Rows rows) {
  const Column& column = require_column(table, label.name);
  std::erase_if(rows, [&](std::uint64_t row) {
    return column.type == ColumnType::number ? std::isnan(column.values()[row])
                                             : column.category_codes()[row] == kMissingCode;
  });
  return rows;
}

LargeVector<double> encode_labels(const Label& label, const Table& table, const Rows& rows) {
  LargeVector<double> labels(rows.size());
  if (label.task() == Task::classification) {
    const Column& column = require_column(table, label.name);
    const ClassFinder class_of(label, column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::optional<std::size_t> found = class_of(rows[i]);
      if (!found) fail_class(label, table, column, rows[i]);
      labels[i] = static_cast<double>(*found);
    }
    return labels;
  }
  const Column& column = require_numbers(table, label.name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    labels[i] = column.number(rows[i]);
    if (const std::string problem = problem_of(label, labels[i]); !problem.empty())
      fail_column(table, label.name, fmt::format("row {}: {}", rows[i] + 1, problem));
  }
  return labels;
}

Dataset encode_labelled(const Schema& schema, const Table& table, const Rows& rows) {
  Dataset data = encode_features(schema, table, rows);
  encode_beside(schema.beside, table, rows, data);
  data.labels = encode_labels(schema.label, table, rows);
  return data;
}

std::vector<Dataset> encode_labelled_and_free(const Schema& schema, Table table,
                                              const RankRows& share,
                                              const std::vector<const Rows*>& lists) {
  std::vector<LargeVector<double>> labels;
  for (const Rows* list : lists) labels.push_back(encode_labels(schema.label, table, *list));
  std::vector<Dataset> datasets = encode_and_free(schema, std::move(table), share, lists);
  for (std::size_t l = 0; l < lists.size(); ++l) datasets[l].labels = std::move(labels[l]);
  return datasets;
}

}  // namespace espalier
