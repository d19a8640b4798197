// SPDX-License-Identifier: Apache-2.0
#include "objective/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/math.h"
#include "core/text.h"
#include "data/csv_cell.h"
#include "data/encode.h"
#include "data/roles.h"
#include "espalier/error.h"

namespace espalier {

namespace {

[[noreturn]] void fail(std::string_view message) {
  throw Error(ErrorKind::argument, std::string(message));
}

// Why an infinite number, or one that no float holds, cannot be a label.
std::string not_a_label(double value) {
  return fmt::format("{} is no label; wanted {}", value,
                     std::isinf(value) ? "a finite number" : "a number that a 32-bit float holds");
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

// The first of some words that is no number, or the first of all.
const std::string& word_among_numbers(const std::vector<std::string>& words) {
  const auto is_number = [](const std::string& word) {
    Number number;
    return parse_number(word, number);
  };
  const auto found = std::find_if_not(words.begin(), words.end(), is_number);
  return found != words.end() ? *found : words.front();
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

// The classes of a label that is written as numbers. Older model files have them rounded to floats,
// so doubles decide only where floats cannot.
class NumberClasses {
 public:
  explicit NumberClasses(const Label& label) {
    parse_number(label.negative, negative_);
    parse_number(label.positive, positive_);
  }

  bool is_negative(double value) const { return is(negative_, value); }
  bool is_positive(double value) const { return is(positive_, value); }

 private:
  bool is(const Number& wanted, double value) const {
    if (negative_.rounded == positive_.rounded) return value == wanted.exact;
    return static_cast<float>(value) == wanted.rounded;
  }

  Number negative_, positive_;
};

[[noreturn]] void fail_class(const Label& label, const Table& table, const Column& column,
                             std::size_t row) {
  fail_column(
      table, label.name,
      fmt::format("row {}: '{}' is neither '{}' nor '{}'", row + 1, printable(word_at(column, row)),
                  printable(label.negative), printable(label.positive)));
}

}  // namespace

Label build_label(const Table& table, const TrainOptions& options) {
  if (options.label.empty()) fail("label: which column is to be predicted?");
  const Column& column = require_column(table, options.label);
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
                              printable(word_among_numbers(values))));
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

Rows labelled_rows(const Label& label, const Table& table) {
  const Column& column = require_column(table, label.name);
  Rows rows = all_rows(table);
  std::erase_if(rows, [&](std::uint32_t row) {
    return column.type == ColumnType::number ? std::isnan(column.values()[row])
                                             : column.codes[row] == kMissingCode;
  });
  return rows;
}

std::vector<double> encode_labels(const Label& label, const Table& table, const Rows& rows) {
  std::vector<double> labels(rows.size());
  if (label.task == Task::regression) {
    const Column& column = require_numbers(table, label.name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      labels[i] = column.number(rows[i]);
      if (!std::isfinite(static_cast<float>(labels[i]))) {
        fail_column(table, label.name,
                    fmt::format("row {}: {}", rows[i] + 1, not_a_label(labels[i])));
      }
    }
    return labels;
  }
  const Column& column = require_column(table, label.name);
  if (label.is_number && column.type == ColumnType::number) {
    const NumberClasses classes(label);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = column.number(rows[i]);
      labels[i] = classes.is_positive(value) ? 1 : 0;
      if (labels[i] == 0 && !classes.is_negative(value)) fail_class(label, table, column, rows[i]);
    }
    return labels;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string word = word_at(column, rows[i]);
    labels[i] = word == label.positive ? 1 : 0;
    if (labels[i] == 0 && word != label.negative) fail_class(label, table, column, rows[i]);
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
                                              const std::vector<const Rows*>& parts) {
  std::vector<std::vector<double>> labels;
  for (const Rows* part : parts) labels.push_back(encode_labels(schema.label, table, *part));
  std::vector<Dataset> datasets = encode_and_free(schema, std::move(table), parts);
  for (std::size_t p = 0; p < parts.size(); ++p) datasets[p].labels = std::move(labels[p]);
  return datasets;
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
