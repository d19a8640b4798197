// SPDX-License-Identifier: Apache-2.0
#include "data/encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#include "core/text.h"
#include "espalier/error.h"

namespace espalier {

namespace {

[[noreturn]] void fail(const Table& table, const std::string& column, std::string_view message) {
  throw Error(ErrorKind::data, fmt::format("{}: column '{}': {}", table.name, column, message));
}

// Rows are counted in 32 bits.
void require_countable(const Table& table) {
  if (table.num_rows <= std::numeric_limits<std::uint32_t>::max()) return;
  throw Error(ErrorKind::unsupported, fmt::format("{}: more than 2^32 - 1 rows", table.name));
}

const Column& require_numbers(const Table& table, const std::string& name) {
  const Column& column = require_column(table, name);
  if (column.type != ColumnType::number) {
    const std::string example =
        column.words.empty() ? "" : fmt::format(" such as '{}'", column.words.front());
    fail(table, name, fmt::format("has words{}, wanted numbers", example));
  }
  return column;
}

// Feature `f` of the rows of a dataset from `first` on.
struct CellsOfFeature {
  Dataset& data;
  std::size_t first;
  std::size_t f;

  float& operator[](std::size_t i) const { return data.cells[(first + i) * data.num_features + f]; }
};

// index(word) is the number that stands for a word; the word of a missing cell is empty.
template <class Index>
void encode_words(const Column& column, const Rows& rows, const CellsOfFeature& cells,
                  Index&& index) {
  if (column.type == ColumnType::number) {
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i] = index(word_at(column, rows[i]));
    return;
  }
  std::vector<float> by_code;
  for (const std::string& word : column.words) by_code.push_back(index(word));
  const float missing = index("");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = column.codes[rows[i]];
    cells[i] = code == kMissingCode ? missing : by_code[static_cast<std::size_t>(code)];
  }
}

std::unordered_map<std::string, std::size_t> index_words(const Feature& feature) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < num_own_words(feature); ++i) index.emplace(feature.words[i], i);
  return index;
}

// place(value) is the number that stands for a value of a number or for the index of an ordered
// word; NaN is missing.
template <class Place>
void encode_feature(const Feature& feature, const Table& table, const Rows& rows,
                    const CellsOfFeature& cells, Place&& place) {
  if (feature.kind == FeatureKind::number) {
    const std::span<const float> values = require_numbers(table, feature.name).values();
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i] = place(values[rows[i]]);
    return;
  }
  const auto index = index_words(feature);
  const Column& column = require_column(table, feature.name);
  if (feature.kind == FeatureKind::ordered) {
    encode_words(column, rows, cells, [&](const std::string& word) {
      const auto found = index.find(word);
      return place(found != index.end() ? static_cast<float>(found->second)
                                        : std::numeric_limits<float>::quiet_NaN());
    });
    return;
  }
  const std::size_t unseen = num_own_words(feature);
  encode_words(column, rows, cells, [&](const std::string& word) {
    const auto found = index.find(word);
    return static_cast<float>(found == index.end() ? unseen : found->second);
  });
}

// Adds some rows of a table to a dataset, without labels and weights.
void append_features(const Schema& schema, const Table& table, const Rows& rows, Dataset& data) {
  const std::size_t first = data.num_rows;
  data.num_rows += rows.size();
  data.num_features = schema.features.size();
  data.cells.resize(data.num_rows * data.num_features);
  for (std::size_t f = 0; f < schema.features.size(); ++f) {
    const Feature& feature = schema.features[f];
    encode_feature(feature, table, rows, {data, first, f},
                   [&](float value) { return encode_number(feature, value); });
  }
}

// Cuts off the first rows and gives their memory back.
void drop_rows(std::size_t count, Table& table) {
  const auto drop = [count](auto& cells) {
    if (cells.empty()) return;
    cells = std::remove_reference_t<decltype(cells)>(
        cells.begin() + static_cast<std::ptrdiff_t>(count), cells.end());
  };
  for (Column& column : table.columns) {
    drop(column.numbers);
    drop(column.codes);
    if (!column.borrowed.empty()) column.borrowed = column.borrowed.subspan(count);
  }
  table.num_rows -= count;
}

void keep_features(const Schema& schema, Table& table) {
  std::erase_if(table.columns, [&](const Column& column) {
    return std::none_of(schema.features.begin(), schema.features.end(),
                        [&](const Feature& feature) { return feature.name == column.name; });
  });
}

}  // namespace

std::size_t num_own_words(const Feature& feature) {
  return feature.words.size() - (feature.pools_rare && !feature.words.empty() ? 1 : 0);
}

Rows all_rows(const Table& table) {
  require_countable(table);
  Rows rows(table.num_rows);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

const Column& require_column(const Table& table, const std::string& name) {
  if (const Column* column = table.find(name)) return *column;
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  const auto guess = nearest(name, names);
  throw Error(ErrorKind::data,
              fmt::format("{}: no column '{}'{}", table.name, name,
                          guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
}

std::string number_word(float value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

std::string word_at(const Column& column, std::size_t row) {
  if (column.type == ColumnType::number) {
    const float value = column.values()[row];
    return std::isnan(value) ? "" : number_word(value);
  }
  const std::int32_t code = column.codes[row];
  return code == kMissingCode ? "" : column.words[static_cast<std::size_t>(code)];
}

float position_among(std::span<const float> keypoints, float value, bool turned) noexcept {
  // Each step rounds monotonically, so a larger value never gets a smaller position.
  const float clipped = std::clamp(value, keypoints.front(), keypoints.back());
  const auto above = std::upper_bound(keypoints.begin(), keypoints.end() - 1, clipped);
  const auto k = static_cast<std::size_t>(above - keypoints.begin()) - 1;
  const double lo = keypoints[k], hi = keypoints[k + 1];
  const double position = static_cast<double>(k) + (clipped - lo) / (hi - lo);
  const double last = static_cast<double>(keypoints.size() - 1);
  return static_cast<float>(turned ? last - position : position);
}

float encode_number(const Feature& feature, float value) {
  if (std::isnan(value)) {
    if (feature.learns_missing) return kMissingPosition;
    value = feature.typical;
  }
  return position_among(feature.keypoints, value, feature.monotonicity == Monotonicity::decreasing);
}

float encode_cell(const Feature& feature, float cell) {
  if (feature.kind != FeatureKind::category) return encode_number(feature, cell);
  const std::size_t own = num_own_words(feature);
  if (std::isnan(cell)) {
    const auto end = feature.words.begin() + static_cast<std::ptrdiff_t>(own);
    return static_cast<float>(std::find(feature.words.begin(), end, "") - feature.words.begin());
  }
  const auto unseen = static_cast<float>(own);
  return cell >= 0 && cell < unseen && cell == std::floor(cell) ? cell : unseen;
}

Dataset encode_features(const Schema& schema, const Table& table, const Rows& rows) {
  Dataset data;
  append_features(schema, table, rows, data);
  return data;
}

Dataset read_features(const Schema& schema, const Table& table) {
  const Rows rows = all_rows(table);
  Dataset data{.num_rows = rows.size(), .num_features = schema.features.size()};
  data.cells.resize(data.num_rows * data.num_features);
  for (std::size_t f = 0; f < data.num_features; ++f) {
    encode_feature(schema.features[f], table, rows, {data, 0, f},
                   [](float value) { return value; });
  }
  return data;
}

Rows labelled_rows(const Label& label, const Table& table) {
  require_countable(table);
  const Column& column = require_column(table, label.name);
  Rows rows;
  rows.reserve(table.num_rows);
  for (std::uint32_t i = 0; i < table.num_rows; ++i) {
    const bool missing = column.type == ColumnType::number ? std::isnan(column.values()[i])
                                                           : column.codes[i] == kMissingCode;
    if (!missing) rows.push_back(i);
  }
  return rows;
}

std::vector<float> encode_labels(const Label& label, const Table& table, const Rows& rows) {
  std::vector<float> labels(rows.size());
  if (label.task == Task::regression) {
    const Column& column = require_numbers(table, label.name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      labels[i] = column.values()[rows[i]];
      if (!std::isfinite(labels[i])) {
        fail(table, label.name, fmt::format("row {}: {} is no label", rows[i] + 1, labels[i]));
      }
    }
    return labels;
  }
  const Column& column = require_column(table, label.name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string word = word_at(column, rows[i]);
    if (word != label.negative && word != label.positive) {
      fail(table, label.name,
           fmt::format("row {}: '{}' is neither '{}' nor '{}'", rows[i] + 1, word, label.negative,
                       label.positive));
    }
    labels[i] = word == label.positive ? 1.0f : 0.0f;
  }
  return labels;
}

std::vector<float> encode_weights(const std::string& column_name, const Table& table,
                                  const Rows& rows) {
  if (column_name.empty()) return {};
  const Column& column = require_numbers(table, column_name);
  std::vector<float> weights;
  weights.reserve(rows.size());
  double total = 0;
  for (const std::uint32_t row : rows) {
    const float weight = column.values()[row];
    if (!std::isfinite(weight) || weight < 0) {
      fail(table, column_name,
           fmt::format("row {}: {} is no weight; wanted 0 or more", row + 1, weight));
    }
    weights.push_back(weight);
    total += weight;
  }
  if (!rows.empty() && total <= 0) fail(table, column_name, "all weights are 0");
  return weights;
}

Dataset encode(const Schema& schema, const Table& table, const Rows& rows) {
  Dataset data = encode_features(schema, table, rows);
  data.labels = encode_labels(schema.label, table, rows);
  data.weights = encode_weights(schema.weight, table, rows);
  return data;
}

std::vector<Dataset> encode_and_free(const Schema& schema, Table table,
                                     const std::vector<const Rows*>& parts) {
  // More blocks hold less of the table twice, and copy the rest of the columns more often.
  constexpr std::size_t kBlocks = 8;
  std::vector<Dataset> datasets(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    datasets[p].labels = encode_labels(schema.label, table, *parts[p]);
    datasets[p].weights = encode_weights(schema.weight, table, *parts[p]);
    datasets[p].cells.reserve(parts[p]->size() * schema.features.size());
  }
  keep_features(schema, table);
  const std::size_t num_rows = table.num_rows;
  std::vector<std::size_t> next(parts.size());  // of the rows of a part
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::size_t begin = num_rows * block / kBlocks, end = num_rows * (block + 1) / kBlocks;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Rows rows;  // as the table now counts them
      rows.reserve(end - begin);
      for (std::size_t& i = next[p]; i < parts[p]->size() && (*parts[p])[i] < end; ++i) {
        rows.push_back((*parts[p])[i] - static_cast<std::uint32_t>(begin));
      }
      append_features(schema, table, rows, datasets[p]);
    }
    drop_rows(end - begin, table);
  }
  return datasets;
}

}  // namespace espalier
