// SPDX-License-Identifier: Apache-2.0
// Encodes the values of a table as inputs of a model, one per feature:
//
//   number, ordered   the position among the feature's keypoints: k + t for a value that is a
//                     fraction t of the way from keypoint k to k + 1, clipped to [0, K - 1]. A
//                     decreasing feature counts from the other end, so that all monotone inputs
//                     increase. Missing: kMissingPosition if training had missing values, else the
//                     position of `typical`
//   category          the index of the category; unseen: the number of categories
//
// followed by one input per pair of features: its code, see pairs.h
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"
#include "espalier/table.h"
#include "table/rank_rows.h"

namespace espalier {

/// The position of a missing value, for a feature that learns an output for missing values.
inline constexpr float kMissingPosition = -1;

/// The number of categories without the pooled rare ones. It is also the index of an unseen
/// category.
std::size_t num_own_categories(const Feature& feature);

/// The categories of an ordered or categorical feature, which must outlive the object. Equal plain
/// numbers are one category.
class FeatureCategories {
 public:
  explicit FeatureCategories(const Feature& feature);

  /// The index of a category, or nothing if the feature does not have it.
  std::optional<std::size_t> find(std::string_view category) const;

 private:
  std::unordered_map<std::string_view, std::size_t> index_;
};

/// The columns of a table by name. The table must outlive the object.
class ColumnIndex {
 public:
  explicit ColumnIndex(const Table& table);

  /// They throw Error (data) that suggests the nearest column name; the last one also if the column
  /// is categorical. find returns null instead.
  const Column* find(std::string_view name) const;
  const Column& require(const std::string& name) const;
  const Column& require_numbers(const std::string& name) const;

 private:
  const Table& table_;
  std::unordered_map<std::string_view, const Column*> index_;
};

/// All rows of a table.
Rows all_rows(const Table& table);

/// The features of some rows. Throws Error (data) if a column is absent or has another type.
Dataset encode_features(const Schema& schema, const Table& table, const Rows& rows);

/// The features of all rows in the format of the Predictor: numbers, and codes of categories.
/// encode_cell turns them into those of encode_features.
Dataset read_features(const Schema& schema, const Table& table);

/// Encodes features and side columns for several lists of rows, each ascending; features only for
/// the rows of this rank. The memory of the table is freed block by block, so that few rows are in
/// memory twice.
std::vector<Dataset> encode_and_free(const Schema& schema, Table table, const RankRows& share,
                                     const std::vector<const Rows*>& lists);

/// The position of a value (not NaN) among keypoints; counted from the other end if `reversed`.
/// Monotonic in the value to the last bit: increasing, or decreasing if reversed.
float position_among(std::span<const float> keypoints, float value, bool reversed) noexcept;

/// The position of a value among the keypoints of a numeric feature.
float encode_number(const Feature& feature, float value);

/// Encodes one value of a row: a number or an ordered category as its position, a category as its
/// code. NaN is missing; any other code is unseen.
float encode_cell(const Feature& feature, float cell);

/// A column of a ColumnIndex.
const Column& require_column(const Table& table, const std::string& name);
const Column& require_numbers(const Table& table, const std::string& name);

/// Throws Error (data); the message begins with the table and the column.
[[noreturn]] void fail_column(const Table& table, const std::string& column,
                              std::string_view message);

/// The text of a value of any column type; empty for a missing value.
std::string text_at(const Column& column, std::size_t row);

/// The fewest digits that read back to the same number of the column.
std::string number_text(const Column& column, double value);

}  // namespace espalier
