// SPDX-License-Identifier: Apache-2.0
#include "encode/encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_set>

#include "core/text.h"
#include "csv/cell.h"
#include "encode/pairs.h"
#include "encode/roles.h"
#include "espalier/error.h"

namespace espalier {

namespace {

const Column& with_numbers(const Table& table, const Column& column) {
  if (column.type != ColumnType::number) {
    const std::string example =
        column.categories.empty()
            ? ""
            : fmt::format(" such as '{}'", printable(column.categories.front()));
    fail_column(table, column.name, fmt::format("has words{}, wanted numbers", example));
  }
  return column;
}

const Column& require_found(const Table& table, const Column* column, const std::string& name) {
  if (column != nullptr) return *column;
  const auto guess = nearest(name, table.columns, &Column::name);
  throw Error(ErrorKind::data,
              fmt::format("{}: no column '{}'{}", table.name, printable(name),
                          guess ? fmt::format("; did you mean '{}'?", printable(*guess)) : ""));
}

template <class Float>
std::string fewest_digits(Float value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

// Feature `f` of the rows of a dataset from `first` on.
struct CellsOfFeature {
  Dataset& data;
  std::size_t first;
  std::size_t f;

  float& operator[](std::size_t i) const { return data.cells[(first + i) * data.num_features + f]; }
};

// index(category) is the code of a category; a missing value is the empty category.
template <class Index>
void encode_categories(const Column& column, const Rows& rows, const CellsOfFeature& cells,
                       Index&& index) {
  if (column.type == ColumnType::number) {
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i] = index(text_at(column, rows[i]));
    return;
  }
  std::vector<float> by_code;
  for (const std::string& category : column.categories) by_code.push_back(index(category));
  const float missing = index("");
  const std::span<const std::int32_t> codes = column.category_codes();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = codes[rows[i]];
    cells[i] = code == kMissingCode ? missing : by_code[static_cast<std::size_t>(code)];
  }
}

// place(value) is the encoding of a number, or of the index of an ordered category; NaN is missing.
template <class Place>
void encode_feature(const Feature& feature, const ColumnIndex& columns, const Rows& rows,
                    const CellsOfFeature& cells, Place&& place) {
  if (feature.kind == FeatureKind::number) {
    const std::span<const float> values = columns.require_numbers(feature.name).values();
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i] = place(values[rows[i]]);
    return;
  }
  const FeatureCategories categories(feature);
  const Column& column = columns.require(feature.name);
  if (feature.kind == FeatureKind::ordered) {
    encode_categories(column, rows, cells, [&](const std::string& category) {
      const auto found = categories.find(category);
      return place(found ? static_cast<float>(*found) : std::numeric_limits<float>::quiet_NaN());
    });
    return;
  }
  const std::size_t unseen = num_own_categories(feature);
  encode_categories(column, rows, cells, [&](const std::string& category) {
    return static_cast<float>(categories.find(category).value_or(unseen));
  });
}

// Adds some rows of a table to a dataset, without labels and weights.
void append_features(const Schema& schema, const ColumnIndex& columns, const Rows& rows,
                     Dataset& data) {
  const std::size_t first = data.num_rows;
  data.num_rows += rows.size();
  data.num_features = num_inputs(schema);
  data.cells.resize(data.num_rows * data.num_features);
  for (std::size_t f = 0; f < schema.features.size(); ++f) {
    const Feature& feature = schema.features[f];
    encode_feature(feature, columns, rows, {data, first, f},
                   [&](float value) { return encode_number(feature, value); });
  }
  for (std::size_t p = 0; p < schema.pairs.size(); ++p) {
    const CellsOfFeature cells{data, first, schema.features.size() + p};
    for (std::size_t i = 0; i < rows.size(); ++i)
      cells[i] = encode_pair(schema.pairs[p], data.row(first + i));
  }
}

// Removes the first rows and frees their memory.
void drop_rows(std::size_t count, Table& table) {
  if (count == 0) return;
  const auto drop = [count](auto& cells) {
    if (cells.empty()) return;
    cells = std::remove_reference_t<decltype(cells)>(
        cells.begin() + static_cast<std::ptrdiff_t>(count), cells.end());
  };
  for (Column& column : table.columns) {
    drop(column.numbers);
    drop(column.exact);
    drop(column.codes);
    const auto skip = [count](auto& borrowed) {
      if (!borrowed.empty()) borrowed = borrowed.subspan(count);
    };
    skip(column.borrowed);
    skip(column.borrowed_exact);
    skip(column.borrowed_codes);
  }
}

void keep_features(const Schema& schema, Table& table) {
  std::unordered_set<std::string_view> names;
  for (const Feature& feature : schema.features) names.insert(feature.name);
  std::erase_if(table.columns, [&](const Column& column) { return !names.contains(column.name); });
}

}  // namespace

void fail_column(const Table& table, const std::string& column, std::string_view message) {
  throw Error(ErrorKind::data,
              fmt::format("{}: column '{}': {}", table.name, printable(column), message));
}

std::size_t num_own_categories(const Feature& feature) {
  return feature.categories.size() - (feature.pools_rare && !feature.categories.empty() ? 1 : 0);
}

Rows all_rows(const Table& table) { return rows_between(0, table.num_rows); }

FeatureCategories::FeatureCategories(const Feature& feature) {
  const std::size_t count = num_own_categories(feature);
  for (std::size_t i = 0; i < count; ++i) index_.emplace(feature.categories[i], i);
  for (std::size_t i = 0; i < count; ++i) index_.emplace(shortest_plain(feature.categories[i]), i);
}

std::optional<std::size_t> FeatureCategories::find(std::string_view category) const {
  auto found = index_.find(category);
  if (found == index_.end()) found = index_.find(shortest_plain(category));
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

ColumnIndex::ColumnIndex(const Table& table) : table_(table) {
  index_.reserve(table.columns.size());
  for (const Column& column : table.columns) index_.emplace(column.name, &column);
}

const Column* ColumnIndex::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : found->second;
}

const Column& ColumnIndex::require(const std::string& name) const {
  return require_found(table_, find(name), name);
}

const Column& ColumnIndex::require_numbers(const std::string& name) const {
  return with_numbers(table_, require(name));
}

const Column& require_column(const Table& table, const std::string& name) {
  return require_found(table, table.find(name), name);
}

const Column& require_numbers(const Table& table, const std::string& name) {
  return with_numbers(table, require_column(table, name));
}

std::string number_text(const Column& column, double value) {
  return column.doubles().empty() ? fewest_digits(static_cast<float>(value)) : fewest_digits(value);
}

std::string text_at(const Column& column, std::size_t row) {
  if (column.type == ColumnType::number) {
    const double value = column.number(row);
    return std::isnan(value) ? "" : number_text(column, value);
  }
  const std::int32_t code = column.category_codes()[row];
  return code == kMissingCode ? "" : column.categories[static_cast<std::size_t>(code)];
}

float position_among(std::span<const float> keypoints, float value, bool reversed) noexcept {
  // At least the distance of two floats, so that there is no division by 0, even where the CPU
  // flushes subnormal keypoints to 0.
  constexpr double kLeastGap = 0x1p-149;
  // Each step rounds monotonically, so a larger value never gets a smaller position.
  const float clipped = std::clamp(value, keypoints.front(), keypoints.back());
  // The last keypoint, excluding the final one, that is not above the value: a binary search
  // without branches that depend on the value.
  std::size_t k = 0;
  for (std::size_t n = keypoints.size() - 1; n > 1;) {
    const std::size_t half = n / 2;
    k += keypoints[k + half] <= clipped ? half : 0;
    n -= half;
  }
  const double lo = keypoints[k], hi = keypoints[k + 1];
  const double position = static_cast<double>(k) + (clipped - lo) / std::max(hi - lo, kLeastGap);
  const double last = static_cast<double>(keypoints.size() - 1);
  return static_cast<float>(reversed ? last - position : position);
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
  const std::size_t own = num_own_categories(feature);
  if (std::isnan(cell)) {
    const auto end = feature.categories.begin() + static_cast<std::ptrdiff_t>(own);
    return static_cast<float>(std::find(feature.categories.begin(), end, "") -
                              feature.categories.begin());
  }
  const auto unseen = static_cast<float>(own);
  return cell >= 0 && cell < unseen && cell == std::floor(cell) ? cell : unseen;
}

Dataset encode_features(const Schema& schema, const Table& table, const Rows& rows) {
  Dataset data;
  append_features(schema, ColumnIndex(table), rows, data);
  return data;
}

Dataset read_features(const Schema& schema, const Table& table) {
  const Rows rows = all_rows(table);
  const ColumnIndex columns(table);
  Dataset data{.num_rows = rows.size(), .num_features = schema.features.size()};
  data.cells.resize(data.num_rows * data.num_features);
  for (std::size_t f = 0; f < data.num_features; ++f) {
    encode_feature(schema.features[f], columns, rows, {data, 0, f},
                   [](float value) { return value; });
  }
  return data;
}

std::vector<Dataset> encode_and_free(const Schema& schema, Table table, const RankRows& share,
                                     const std::vector<const Rows*>& lists) {
  // More blocks keep less of the table in memory twice, but copy the remaining columns more often.
  constexpr std::uint64_t kBlocks = 8;
  const RowRange own = share.rows;
  std::vector<Dataset> datasets(lists.size());
  std::vector<RowRange> places;  // of the rows of this rank
  for (std::size_t l = 0; l < lists.size(); ++l) {
    encode_beside(schema.beside, table, *lists[l], datasets[l]);
    places.push_back(places_of(own, *lists[l]));
    datasets[l].cells.reserve(places[l].size() * num_inputs(schema));
  }
  keep_features(schema, table);
  const ColumnIndex columns(table);
  drop_rows(own.begin - share.first, table);
  for (std::uint64_t block = 0, begin = own.begin; block < kBlocks; ++block) {
    const std::uint64_t end = own.begin + own.size() * (block + 1) / kBlocks;
    for (std::size_t l = 0; l < lists.size(); ++l) {
      const RowRange some = places_of({begin, end}, *lists[l]);
      Rows rows;  // as the table now counts them
      rows.reserve(some.size());
      for (std::uint64_t i = some.begin; i < some.end; ++i) rows.push_back((*lists[l])[i] - begin);
      append_features(schema, columns, rows, datasets[l]);
    }
    drop_rows(end - begin, table);
    begin = end;
  }
  for (std::size_t l = 0; l < lists.size(); ++l) {
    datasets[l].num_rows = lists[l]->size();
    datasets[l].is_divided = share.is_divided;
    datasets[l].first = places[l].begin;
  }
  return datasets;
}

}  // namespace espalier
